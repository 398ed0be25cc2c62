#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "cli/author/verification.h"
#include "cli/folder.h"
#include "grading/verdict/goal.h"
#include "grading/verdict/run_file.h"

namespace shardlings::cli {
namespace {

using cases::Manifest;
using grading::verdict::Status;
using grading::verdict::Verdict;
using namespace std::string_literals;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kStub = "void f() {\n  // >>> your code (about 1 line)\n  not_implemented();\n  // <<<\n}\n";
constexpr const char* kLesson =
    "# 01 A\n\n## What you are given\n## Targets\n## Predict\n## The goal\n![A](goal.svg)\n## What to implement\n"
    "## What is checked\n";
constexpr const char* kAfter =
    "# 01 A: after the pass\n## What it costs\n## Common mistakes\n## In production\n## At scale\n"
    "## Questions and answers\n## Further reading\n";
constexpr const char* kSolution = "void f() {\n  // >>> your code (about 1 line)\n  g();\n  // <<<\n}\n";

/// "mixed" and five more, which are like it.
std::string six_mutants() {
  std::string text;
  for (const char* name : {"mixed", "mixed_2", "mixed_3", "mixed_4", "mixed_5", "mixed_6"}) {
    text += "== "s + name + " -> mixed_up\nCalls h.\n-  g();\n+  h();\n\n";
  }
  return text;
}

/// A verdict on the puzzle's only check.
grading::verdict::Verdict verdict(const cases::Manifest& puzzle, Status status, bool passed,
                                  std::vector<std::string> diagnoses) {
  grading::verdict::Verdict result;
  result.puzzle = puzzle.id;
  result.status = status;
  result.passed = passed;
  result.diagnoses = std::move(diagnoses);
  result.checks.push_back({puzzle.checks[0], std::nullopt, 0, ""});
  if (status == Status::graded) result.checks[0].passed = passed;
  return result;
}

/// The same, with numbers compared on one case.
grading::verdict::Verdict compared(const cases::Manifest& puzzle, bool passed, double distance) {
  grading::verdict::Verdict result =
      verdict(puzzle, Status::graded, passed, passed ? std::vector<std::string>{} : std::vector{"mixed_up"s});
  grading::verdict::CheckVerdict check;
  check.passed = passed;
  check.distance = distance;
  result.cases.emplace_back().kase.name = "small";
  result.cases[0].checks.push_back(check);
  return result;
}

class Verification : public testing::Test {
 protected:
  Verification() {
    folder_.write("puzzles/01_a/puzzle.cpp", kStub);
    folder_.write("puzzles/01_a/README.md", kLesson);
    folder_.write("puzzles/01_a/after.md", kAfter);
    folder_.write("solutions/01_a/solution.cpp", kSolution);
    folder_.write("solutions/01_a/mutants.txt", six_mutants());
    folder_.write("puzzles/01_a/goal.json", goal());
  }

  std::string goal() const {
    return grading::verdict::goal_to_text(grading::verdict::goal_of(verdict(puzzle_, Status::graded, true, {})),
                                          project_.clusters());
  }

  author::PuzzleOutcome verify_with(const std::function<grading::verdict::Verdict(const std::string&)>& of_mutant,
                                    Status solution_status = Status::graded, Status stub = Status::not_implemented,
                                    author::Goals goals = author::Goals::check) {
    const auto grade = [&](const cases::Manifest& puzzle, const std::string& source) {
      if (source.ends_with("solution.cpp"))
        return verdict(puzzle, solution_status, solution_status == Status::graded, {});
      if (source.ends_with("puzzle.cpp")) return verdict(puzzle, stub, false, {});
      return of_mutant(source);
    };
    return author::verify_puzzles(project_, {puzzle_}, {1, goals}, grade, [](int, int, const std::string&) {}).at(0);
  }

  TemporaryFolder folder_;
  system::Project project_{folder_.path(), folder_ / "build"};
  cases::Manifest puzzle_ = small_puzzle(1, "a", "A");
};

TEST_F(Verification, AcceptsAGoodPuzzle) {
  const auto outcome =
      verify_with([&](const std::string&) { return verdict(puzzle_, Status::graded, false, {"mixed_up"}); });
  EXPECT_THAT(outcome.problems, IsEmpty());
  EXPECT_TRUE(outcome.good());
  EXPECT_EQ(outcome.caught(), 6);
  ASSERT_EQ(outcome.checks.size(), 1U);
  EXPECT_EQ(outcome.checks[0].failed_by, 6);
}

TEST_F(Verification, SaysHowSharplyTheToleranceParts) {
  const auto with = [&](double solution, double mutant) {
    const auto grade = [&](const cases::Manifest& puzzle, const std::string& source) {
      if (source.ends_with("solution.cpp")) return compared(puzzle, true, solution);
      if (source.ends_with("puzzle.cpp")) return verdict(puzzle, Status::not_implemented, false, {});
      return compared(puzzle, false, mutant);
    };
    return author::verify_puzzles(project_, {puzzle_}, {1, author::Goals::write}, grade,
                                  [](int, int, const std::string&) {})
        .at(0);
  };
  const auto sound = with(0.2, 30);
  EXPECT_THAT(sound.problems, IsEmpty());
  EXPECT_EQ(sound.margins.solution, 0.2);
  EXPECT_EQ(sound.margins.mutants, 30);
  EXPECT_EQ(sound.margins.nearest, "mixed, case small");
  EXPECT_THAT(with(0.3, 30).problems, Contains(HasSubstr("off by 0.3 of the tolerance")));
  EXPECT_THAT(with(0.2, 9).problems, Contains(HasSubstr("off by only 9 times the tolerance")));
  EXPECT_FALSE(with(0.2, 0.5).margins.mutants) << "replicas that differ, all of them close";
}

TEST_F(Verification, AMutantMustGetItsDiagnosisFirst) {
  const auto outcome = verify_with([&](const std::string&) {
    return verdict(puzzle_, Status::graded, false, {"other", "mixed_up"});
  });
  EXPECT_EQ(outcome.caught(), 0);
  EXPECT_THAT(outcome.problems, Contains("solutions/01_a/mutants.txt:1: mixed: declared mixed_up, diagnosed other"));
}

TEST_F(Verification, AMutantThatPassesIsAProblem) {
  const auto outcome = verify_with([&](const std::string&) { return verdict(puzzle_, Status::graded, true, {}); });
  EXPECT_THAT(outcome.problems, Contains(HasSubstr("it passes")));
  EXPECT_THAT(outcome.problems, Contains(HasSubstr("no mutant fails the check output")));
}

TEST_F(Verification, ABlockedCheckIsNotAFailedOne) {
  const auto outcome = verify_with([&](const std::string&) {
    grading::verdict::Verdict result = verdict(puzzle_, Status::graded, false, {"mixed_up"});
    result.checks[0].passed = std::nullopt;
    return result;
  });
  EXPECT_THAT(outcome.problems, Contains(HasSubstr("no mutant fails the check output")));
}

TEST_F(Verification, ThreeMutantsMustFailEachCheck) {
  const auto with = [&](int failing) {
    int graded = 0;
    return verify_with([&, failing](const std::string&) {
      Verdict result = verdict(puzzle_, Status::graded, false, {"mixed_up"});
      if (graded++ >= failing) result.checks[0].passed = std::nullopt;  // blocked
      return result;
    });
  };
  EXPECT_THAT(with(1).problems, testing::ElementsAre("only 1 mutant fails the check output; 3 must"));
  EXPECT_THAT(with(2).problems, testing::ElementsAre("only 2 mutants fail the check output; 3 must"));
  EXPECT_THAT(with(3).problems, IsEmpty());
}

TEST_F(Verification, TheStubMustNotPassACheck) {
  const auto grade = [&](const cases::Manifest& puzzle, const std::string& source) {
    Verdict result = verdict(puzzle, Status::graded, source.ends_with("solution.cpp"), {"mixed_up"});
    if (!source.ends_with("puzzle.cpp")) return result;
    result.status = Status::not_implemented;
    result.checks[0].passed = true;
    return result;
  };
  const auto outcome = author::verify_puzzles(project_, {puzzle_}, {1, author::Goals::check}, grade,
                                              [](int, int, const std::string&) {});
  EXPECT_THAT(outcome[0].problems, Contains("the stub passes the check output"));
}

TEST_F(Verification, AMutantThatDoesNotBuildIsNotCaught) {
  const auto outcome =
      verify_with([&](const std::string&) { return verdict(puzzle_, Status::did_not_build, false, {"mixed_up"}); });
  EXPECT_EQ(outcome.caught(), 0);
}

TEST_F(Verification, AVariantThatIsRightMustPassWithAllPoints) {
  folder_.write("solutions/01_a/right.txt", "== other\nCalls both.\n   g();\n+  gg();\n");
  const auto with = [&](const Verdict& of_right) {
    return verify_with([&](const std::string& source) {
      return source.ends_with("right/other.cpp") ? of_right : verdict(puzzle_, Status::graded, false, {"mixed_up"});
    });
  };
  const auto sound = with(verdict(puzzle_, Status::graded, true, {}));
  EXPECT_THAT(sound.problems, IsEmpty());
  EXPECT_EQ(sound.right_passed(), 1);

  Verdict failed = compared(puzzle_, false, 30);
  failed.cases[0].checks[0].id = "output";
  failed.cases[0].checks[0].expected = "1";
  failed.cases[0].checks[0].found = "2";
  const auto unfair = with(failed);
  EXPECT_EQ(unfair.right_passed(), 0);
  EXPECT_EQ(unfair.right.size(), 1U);
  EXPECT_THAT(unfair.problems,
              testing::ElementsAre("solutions/01_a/right.txt:1: other: does not pass: case small, check output: "
                                   "expected 1, found 2"));

  Verdict poor = verdict(puzzle_, Status::graded, true, {});
  poor.max_points = 10;
  EXPECT_FALSE(with(poor).good());
}

TEST_F(Verification, GradesTheSolutionWithTheEdits) {
  std::string graded;
  verify_with([&](const std::string& source) {
    graded = read_file(source).value_or("");
    return verdict(puzzle_, Status::graded, false, {"mixed_up"});
  });
  EXPECT_EQ(graded, "void f() {\n  // >>> your code (about 1 line)\n  h();\n  // <<<\n}\n");
}

TEST_F(Verification, AMutantThatDoesNotFitIsNamedAndNotGraded) {
  folder_.write("solutions/01_a/mutants.txt", "== old -> mixed_up\nOf an old solution.\n-  gg();\n\n" + six_mutants());
  int graded = 0;
  const auto outcome = verify_with([&](const std::string&) {
    ++graded;
    return verdict(puzzle_, Status::graded, false, {"mixed_up"});
  });
  EXPECT_EQ(graded, 6);
  EXPECT_EQ(outcome.mutants.size(), 7U);
  EXPECT_EQ(outcome.caught(), 6);
  EXPECT_THAT(outcome.problems,
              testing::ElementsAre("solutions/01_a/mutants.txt:3: old: the solution has no line \"gg();\"; "
                                   "line 3 is \"g();\""));
}

TEST_F(Verification, AMutantMustDeclareAKnownDiagnosis) {
  folder_.write("solutions/01_a/mutants.txt",
                "== silent\nSays nothing.\n-  g();\n\n== mixed -> mixed_upp\nCalls h.\n-  g();\n");
  const auto outcome =
      verify_with([&](const std::string&) { return verdict(puzzle_, Status::graded, false, {"mixed_up"}); });
  EXPECT_THAT(outcome.mutants, IsEmpty());
  EXPECT_THAT(outcome.problems,
              Contains("solutions/01_a/mutants.txt:1: silent: the heading names no diagnosis: == name -> diagnosis"));
  EXPECT_THAT(outcome.problems, Contains("solutions/01_a/mutants.txt:5: mixed: puzzle.toml has no diagnosis mixed_upp. "
                                         "Did you mean mixed_up?"));
}

TEST_F(Verification, TheSolutionMustPassAndTheStubMustBeRefused) {
  const auto caught = [&](const std::string&) { return verdict(puzzle_, Status::graded, false, {"mixed_up"}); };
  EXPECT_FALSE(verify_with(caught, Status::did_not_build).solution_passed);
  EXPECT_FALSE(verify_with(caught, Status::graded, Status::did_not_build).stub_refused);
}

TEST_F(Verification, PredictionsAreComparedWithTheRunOfTheSolution) {
  const auto grade = [&](const cases::Manifest& puzzle, const std::string& source) {
    if (source.ends_with("solution.cpp")) return verdict(puzzle, Status::graded, true, {});
    if (source.ends_with("puzzle.cpp")) return verdict(puzzle, Status::not_implemented, false, {});
    return verdict(puzzle, Status::graded, false, {"mixed_up"});
  };
  const auto asking = [&](const author::Asker& ask) {
    const auto ignore = [](int, int, const std::string&) {};
    return author::verify_puzzles(project_, {puzzle_}, {1, author::Goals::check, ask}, grade, ignore).at(0).problems;
  };
  using grading::verdict::Predictions;
  using grading::verdict::When;
  const std::vector<std::string> found = asking([](const Manifest& puzzle, When when) {
    Predictions asked{puzzle.id, "small", {}};
    if (when == When::after) asked.questions.emplace_back().id = "later";
    return asked;
  });
  EXPECT_THAT(found, Contains(HasSubstr("0 numbers are asked for by predict")));
  EXPECT_THAT(found, Contains(HasSubstr("later is answered by question 0"))) << "the lesson has no such answer";
  EXPECT_THAT(asking([](const Manifest&, When) -> Predictions { throw std::runtime_error("mute"); }),
              testing::ElementsAre("mute"));
}

TEST_F(Verification, AGoalMustBeTheRunOfTheSolution) {
  const auto caught = [&](const std::string&) { return verdict(puzzle_, Status::graded, false, {"mixed_up"}); };
  folder_.write("puzzles/01_a/goal.json", goal() + " ");
  EXPECT_THAT(verify_with(caught).problems, Contains(HasSubstr("not the run of the solution any more")));
  std::filesystem::remove(folder_ / "puzzles/01_a/goal.json");
  EXPECT_THAT(verify_with(caught).problems,
              Contains(HasSubstr("goal.json is missing: ./shardlings verify --goals 01_a")));
  EXPECT_THAT(verify_with(caught, Status::graded, Status::not_implemented, author::Goals::write).problems, IsEmpty());
  EXPECT_EQ(folder_.read("puzzles/01_a/goal.json"), goal());
}

TEST_F(Verification, TheLessonShowsThePictureOfTheGoal) {
  grading::verdict::Verdict ran = verdict(puzzle_, Status::graded, true, {});
  ran.cases.emplace_back().kase.name = "small";
  ran.cases[0].counters.resize(1);
  const auto verify_run = [&](author::Goals goals) {
    const auto grade = [&](const cases::Manifest& puzzle, const std::string& source) {
      if (source.ends_with("solution.cpp")) return ran;
      if (source.ends_with("puzzle.cpp")) return verdict(puzzle, Status::not_implemented, false, {});
      return verdict(puzzle_, Status::graded, false, {"mixed_up"});
    };
    return author::verify_puzzles(project_, {puzzle_}, {1, goals}, grade, [](int, int, const std::string&) {}).at(0);
  };
  EXPECT_THAT(verify_run(author::Goals::check).problems, Contains(HasSubstr("goal.svg is missing")));
  EXPECT_THAT(verify_run(author::Goals::write).problems, IsEmpty());
  EXPECT_THAT(folder_.read("puzzles/01_a/goal.svg"), HasSubstr("<svg"));
  EXPECT_THAT(verify_run(author::Goals::check).problems, IsEmpty());
  folder_.write("puzzles/01_a/goal.svg", folder_.read("puzzles/01_a/goal.svg") + " ");
  EXPECT_THAT(verify_run(author::Goals::check).problems, Contains(HasSubstr("goal.svg is not the run")));
  folder_.write("puzzles/01_a/README.md", "# A\n");
  EXPECT_THAT(verify_run(author::Goals::write).problems, Contains(HasSubstr("the lesson shows no goal")));
}

TEST_F(Verification, NoGoalIsMadeFromASolutionThatFails) {
  const auto caught = [&](const std::string&) { return verdict(puzzle_, Status::graded, false, {"mixed_up"}); };
  folder_.write("puzzles/01_a/goal.json", "as it was");
  EXPECT_FALSE(
      verify_with(caught, Status::did_not_build, Status::not_implemented, author::Goals::write).solution_passed);
  EXPECT_EQ(folder_.read("puzzles/01_a/goal.json"), "as it was");
}

TEST_F(Verification, AGraderThatThrowsIsAProblem) {
  const auto outcome =
      verify_with([](const std::string&) -> grading::verdict::Verdict { throw std::runtime_error("grader broken"); });
  EXPECT_THAT(outcome.problems, Contains(HasSubstr("grader broken")));
}

TEST_F(Verification, LooksAtWhatNeedsNoGrading) {
  EXPECT_THAT(author::static_problems(project_, puzzle_), IsEmpty());
  puzzle_.hints.pop_back();
  puzzle_.diagnoses[0].hint->text = "\n";
  puzzle_.diagnoses.push_back({"silent", "Nothing is said."});
  puzzle_.hints.push_back({cases::HintLevel::where, " "});
  puzzle_.answer_lines = 3;
  folder_.write("puzzles/01_a/README.md", "");
  folder_.write("solutions/01_a/solution.cpp", "int a;\n" + std::string(kSolution) + "// FILL\n");
  const auto problems = author::static_problems(project_, puzzle_);
  EXPECT_THAT(problems, Contains(HasSubstr("no hint of level near-code")));
  EXPECT_THAT(problems, Contains(HasSubstr("a hint (where) is empty")));
  EXPECT_THAT(problems, Contains(HasSubstr("the hint on mixed_up is empty")));
  EXPECT_THAT(problems, Contains("there is no hint on silent"));
  EXPECT_THAT(problems, Contains(HasSubstr("answer_lines = 3")));
  EXPECT_THAT(problems, Contains(HasSubstr("no lesson")));
  EXPECT_THAT(problems, Contains(HasSubstr("above the hole differs")));
  EXPECT_THAT(problems, Contains(HasSubstr("solutions/01_a/solution.cpp:7")));
}

TEST_F(Verification, TheAnswerIsAsLongAsPromised) {
  const auto answer = [&](int lines) {
    std::string hole;
    for (int i = 0; i < lines; ++i) hole += "  g();\n  // why\n\n";
    const std::string marks = "void f() {\n  // >>> your code (about 12 lines)\n";
    folder_.write("puzzles/01_a/puzzle.cpp", marks + "  not_implemented();\n  // <<<\n}\n");
    folder_.write("solutions/01_a/solution.cpp", marks + hole + "  // <<<\n}\n");
    puzzle_.answer_lines = 12;
    return author::static_problems(project_, puzzle_);
  };
  EXPECT_THAT(answer(9), IsEmpty());
  EXPECT_THAT(answer(15), IsEmpty());
  EXPECT_THAT(answer(8), testing::ElementsAre(HasSubstr("answer_lines = 12, and the solution writes 8 lines")));
  EXPECT_THAT(answer(16), testing::ElementsAre(HasSubstr("the solution writes 16 lines")));
}

TEST_F(Verification, HeadsOfFunctionsInTheStubAreNotTheAnswer) {
  const std::string marks = "// >>> your code (about 1 line)\n", end = "// <<<\n";
  const std::string heads = "void f(\n    int a) {\n  BODY\n}\n\nvoid g() {\n  BODY\n}\n";
  const auto with = [&](const std::string& body) {
    std::string text = heads;
    for (auto at = text.find("BODY"); at != std::string::npos; at = text.find("BODY")) text.replace(at, 4, body);
    return marks + text + end;
  };
  folder_.write("puzzles/01_a/puzzle.cpp", with("not_implemented();"));
  folder_.write("solutions/01_a/solution.cpp", with("h();"));
  folder_.write("solutions/01_a/mutants.txt", "");
  EXPECT_THAT(author::static_problems(project_, puzzle_),
              testing::ElementsAre("there are 0 mutants; at least 6 must be caught"))
      << "2 lines, not 7";
}

TEST_F(Verification, LinesOfCodeInAHintNeedAFence) {
  const std::string problem = "the lines of the near-code hint are not between ``` marks";
  puzzle_.hints.push_back({cases::HintLevel::near_code, "one line of code"});
  puzzle_.hints.push_back({cases::HintLevel::near_code, "```\nforward\nbackward\n```"});
  EXPECT_THAT(author::static_problems(project_, puzzle_), IsEmpty());
  puzzle_.hints.push_back({cases::HintLevel::near_code, "forward\nbackward\n"});
  EXPECT_THAT(author::static_problems(project_, puzzle_), Contains(problem));
}

TEST_F(Verification, ADiagnosisThatNobodyDescribesIsAProblem) {
  folder_.write("puzzles/01_a/grader.cpp", "check.diagnose(\"mixed_up\"); check.diagnose(\"not_finite\");\n");
  EXPECT_THAT(author::static_problems(project_, puzzle_), IsEmpty());
  folder_.write("puzzles/01_a/grader.cpp", "check.diagnose(\"mixed_pu\");\n");
  EXPECT_THAT(author::static_problems(project_, puzzle_), Contains(HasSubstr("can name the diagnosis mixed_pu")));
}

TEST_F(Verification, ALongStubIsAProblem) {
  std::string comment;
  for (int i = 0; i < 80; ++i) comment += "// line\n";
  folder_.write("puzzles/01_a/puzzle.cpp", comment + kStub);
  folder_.write("solutions/01_a/solution.cpp", comment + kSolution);
  EXPECT_THAT(author::static_problems(project_, puzzle_), Contains(HasSubstr("the stub has 85 lines")));
}

}  // namespace
}  // namespace shardlings::cli
