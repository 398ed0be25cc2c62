// The command as a program, in a copy of the repository.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"
#include "cli/learner.h"

namespace shardlings::cli {
namespace {

using namespace std::string_literals;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Command, ShowsANewcomerTheFirstPuzzle) {
  const Learner shardlings;
  const Answer answer = shardlings({});
  EXPECT_EQ(answer.status, 0);
  EXPECT_THAT(answer.out,
              AllOf(HasSubstr("Welcome"), HasSubstr("01 One training step"),
                    HasSubstr("puzzles/01_training_step/puzzle.cpp"), HasSubstr("./shardlings explain 01")));
  EXPECT_EQ(answer.err, "");
}

TEST(Command, AFileThatDoesNotCompileTakesNoHintAway) {
  const Learner shardlings;
  shardlings.blunder(kFirst, "padding_counted");
  ASSERT_EQ(shardlings({"run", "01"}).status, 1);
  shardlings.folder().write(Learner::file_of(kFirst), "int x = ;\n");
  const Answer broken = shardlings({"run", "01"});
  EXPECT_THAT(broken.out, AllOf(HasSubstr("does not compile"), Not(HasSubstr("./shardlings hint"))))
      << "the compiler has said what is wrong";
  EXPECT_EQ(json::parse(shardlings({"list", "--json"}).out)["puzzles"][0]["hints_given"], 0);
  EXPECT_THAT(shardlings({"hint", "01"}).out, AllOf(HasSubstr("Your last graded run:"), HasSubstr("tokens_of_step()")))
      << "the mistake of the run before is still there";
}

TEST(Command, FollowsALearnerFromStubToWrongToRight) {
  const Learner shardlings;
  const Answer stub = shardlings({"run"});
  EXPECT_EQ(stub.status, 1);
  EXPECT_THAT(stub.out, AllOf(HasSubstr("not implemented"), HasSubstr("./shardlings explain 01")));

  shardlings.blunder(kFirst, "padding_counted");
  const Answer wrong = shardlings({"run", "1"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.out, HasSubstr("./shardlings hint 01"));
  const Answer hint = shardlings({"hint"});
  EXPECT_THAT(hint.out, AllOf(HasSubstr("Your last graded run:"), HasSubstr("tokens_of_step()")))
      << "it speaks to the mistake";

  shardlings.solve(kFirst);
  const Answer right = shardlings({"run", "training"});
  EXPECT_EQ(right.status, 0);
  EXPECT_THAT(right.out, AllOf(HasSubstr("is solved: 100 of 100 points"), HasSubstr("./shardlings solution 01"),
                               HasSubstr("Next: 02")));
  EXPECT_THAT(shardlings({}).out, HasSubstr("1 of "));

  shardlings.blunder(kFirst, "never_updated");
  EXPECT_THAT(shardlings({"list"}).out, HasSubstr("solved; edited since"));
  EXPECT_EQ(shardlings({"run", "01"}).status, 1);
  EXPECT_THAT(shardlings({"list"}).out, HasSubstr("solved before; the file fails now"));
  EXPECT_EQ(json::parse(shardlings({"list", "--json"}).out)["next"], "02_gradient_accumulation")
      << "solved stays solved";
}

TEST(Command, WritesATraceOfTheLastRun) {
  const Learner shardlings;
  const Answer early = shardlings({"trace", "01"});
  EXPECT_EQ(early.status, 2);
  EXPECT_THAT(early.err, HasSubstr("./shardlings run 01"));

  shardlings.solve(kFirst);
  ASSERT_EQ(shardlings({"run", "01"}).status, 0);
  const Answer answer = shardlings({"trace", "01"});
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("trace_01_training_step.json"));
  const json file = json::parse(shardlings.folder().read("trace_01_training_step.json"));
  EXPECT_EQ(file["otherData"]["puzzle"], kFirst);
  EXPECT_GT(file["traceEvents"].size(), 20U);

  const Answer printed = shardlings({"trace", "01", "--out", "-", "--case", "perceptron, 4 layers"});
  EXPECT_EQ(json::parse(printed.out)["otherData"]["case"], "perceptron, 4 layers");
  const Answer unknown = shardlings({"trace", "01", "--case", "none"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("perceptron, 4 layers")) << "it says which there are";
  EXPECT_EQ(shardlings({"trace", "01", "--out", "/nowhere/trace.json"}).status, 2);

  shardlings.blunder(kFirst, "never_updated");
  EXPECT_EQ(shardlings({"run", "01"}).status, 1);
  EXPECT_EQ(shardlings({"trace", "01"}).status, 0) << "a run that fails can be looked at, too";
  shardlings.folder().write(Learner::file_of(kFirst), "no C++");
  EXPECT_EQ(shardlings({"run", "01"}).status, 1);
  const Answer nothing = shardlings({"trace", "01"});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.err, HasSubstr("Nothing ran"));
}

TEST(Command, AnswersProgramsInJson) {
  const Learner shardlings;
  const Answer run = shardlings({"run", "01", "--json"});
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(json::parse(run.out)["status"], "not_implemented");
  const json list = json::parse(shardlings({"list", "--json"}).out);
  EXPECT_EQ(list["puzzles"][0]["id"], kFirst);
  EXPECT_EQ(list["puzzles"][0]["standing"], "started");
  const json hint = json::parse(shardlings({"hint", "01", "--json"}).out);
  EXPECT_EQ(hint["level"], "concept");
  EXPECT_EQ(hint["given"], 1);
  const json doctor = json::parse(shardlings({"doctor", "--json"}).out);
  EXPECT_EQ(doctor["findings"][0]["name"], "compiler");
  EXPECT_TRUE(doctor["findings"][0]["found"]);
}

TEST(Command, MapsTheMemoryOfTraining) {
  const Learner shardlings;
  const Answer table = shardlings({"memory", "--table"});
  EXPECT_EQ(table.status, 0);
  // Rajbhandari et al. 2020, table 1, N = 64
  EXPECT_THAT(table.out,
              HasSubstr("    64      31.4    16.6    1.88       536     284      32      4187    2218     250\n"));
  const Answer map = shardlings({"memory", "--model", "gpt2-xl", "--parallel", "dp=8,zero=3"});
  EXPECT_EQ(map.status, 0);
  EXPECT_THAT(map.out, AllOf(HasSubstr("GPT-2, 1.5B: 1.56 G parameters"), HasSubstr("2.34 GB  12 Ψ/8"),
                             HasSubstr("48 blocks x 187 MB")));
  const json numbers = json::parse(shardlings({"memory", "--model", "parameters=7.5e9", "--json"}).out);
  EXPECT_EQ(numbers["total"], 120'000'000'000);
  EXPECT_EQ(numbers["activations_known"], false);
  EXPECT_THAT(shardlings({"memory", "--models"}).out, HasSubstr("mt-nlg-530b"));
}

TEST(Command, RefusesAMapOfMemoryThatItCannotDraw) {
  const Learner shardlings;
  const auto refusal = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "memory");
    const Answer answer = shardlings(arguments);
    EXPECT_EQ(answer.status, 2);
    EXPECT_EQ(answer.out, "");
    return answer.err;
  };
  EXPECT_THAT(refusal({}), HasSubstr("Say which model"));
  EXPECT_THAT(refusal({"--model", "gpt5"}), HasSubstr("There is no model 'gpt5'. There are gpt2"));
  EXPECT_THAT(refusal({"--model", "gpt2", "--parallel", "tp=5"}), HasSubstr("12 heads cannot be divided"));
  EXPECT_THAT(refusal({"--model", "gpt2", "--parallel", "zero=4"}), HasSubstr("a stage from 0 to 3"));
  EXPECT_THAT(refusal({"--model", "gpt2", "--recompute", "some"}), HasSubstr("off, full or selective"));
}

TEST(Command, RunsOneCaseOrAnotherFile) {
  const Learner shardlings;
  shardlings.solve(kFirst);
  const std::string name = "perceptron, 4 layers";
  const Answer one = shardlings({"run", "01", "--case", name, "--seed", "77", "--json"});
  EXPECT_EQ(one.status, 0) << one.out << one.err;
  const json verdict = json::parse(one.out);
  ASSERT_EQ(verdict["cases"].size(), 1u);
  EXPECT_THAT(one.out, HasSubstr("77"));
  EXPECT_EQ(verdict["passed"], false) << "of a whole puzzle";
  EXPECT_EQ(verdict["points"], 0);
  EXPECT_EQ(verdict["checks"][0]["passed"], true);
  const Answer exported = shardlings({"run", "01", "--case", name, "--export", "gradescope"});
  EXPECT_EQ(exported.status, 2);
  EXPECT_THAT(exported.err, HasSubstr("--export is the result of a whole puzzle"));
  EXPECT_EQ(json::parse(shardlings({"list", "--json"}).out)["puzzles"][0]["solved"], false)
      << "one case solves nothing";

  const Answer unknown = shardlings({"run", "01", "--case", "nope"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("no case \"nope\""), HasSubstr(name)));

  const std::string other = "puzzles/02_gradient_accumulation/puzzle.cpp";
  const Answer stub = shardlings({"run", "01", "--file", other, "--json"});
  EXPECT_EQ(stub.status, 1);
  EXPECT_THAT(stub.out, HasSubstr("--seed 1 --file '" + other + "'")) << "repeats the same file";
  EXPECT_EQ(shardlings({"run", "01", "--file", "nowhere.cpp"}).status, 2);
  EXPECT_THAT(shardlings({"run", "01", "--file", "solutions/01_training_step/solution.cpp"}).out,
              HasSubstr("This does not count as progress: it was solutions/01_training_step/solution.cpp."));
  EXPECT_THAT(shardlings({"run", "--file", other}).out,
              HasSubstr("It was graded as 01, the next puzzle; for another one: ./shardlings run NUMBER --file"));
  EXPECT_THAT(shardlings({}).out, HasSubstr("0 of "));
}

TEST(Command, RunsAMutantByName) {
  const Learner shardlings;
  const Answer mutant = shardlings({"run", "01", "--mutant", "never_updated", "--json"});
  EXPECT_EQ(mutant.status, 1);
  const json verdict = json::parse(mutant.out);
  EXPECT_EQ(verdict["diagnoses"][0], "never_updated");
  EXPECT_THAT(verdict["cases"][0]["reproduce"], HasSubstr("--mutant never_updated"));
  EXPECT_THAT(shardlings.folder().read("build/verify/01_training_step/mutants/never_updated.cpp"),
              Not(HasSubstr("model.update(")));
  EXPECT_THAT(shardlings({}).out, HasSubstr("Welcome")) << "nothing is remembered: it is not the learner's file";
}

TEST(Command, NamesTheMutantsWhereOneIsUnknown) {
  const Learner shardlings;
  const Answer unknown = shardlings({"run", "01", "--mutant", "never_update"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_EQ(unknown.out, "");
  EXPECT_THAT(unknown.err,
              AllOf(HasSubstr("Puzzle 01_training_step has no mutant \"never_update\". Did you mean never_updated"),
                    HasSubstr("It has:\n  "), HasSubstr("\n  wrong_input\n")));
  EXPECT_EQ(shardlings({"run", "01", "--mutant", "never_updated", "--file", "x.cpp"}).status, 2) << "which of them?";

  shardlings.folder().write("solutions/01_training_step/mutants.txt", "== gone -> never_updated\nOld.\n-  gone();\n");
  const Answer misfit = shardlings({"run", "01", "--mutant", "gone"});
  EXPECT_EQ(misfit.status, 2);
  EXPECT_EQ(misfit.err, "solutions/01_training_step/mutants.txt:3: gone: the solution has no line \"gone();\"\n");
}

TEST(Command, RunsAVariantThatIsRightByName) {
  const Learner shardlings;
  shardlings.folder().write("solutions/01_training_step/right.txt",
                            "== remarked\nSays something.\n+  // more\n   // <<<\n");
  const Answer right = shardlings({"run", "01", "--right", "remarked", "--json"});
  EXPECT_EQ(right.status, 0) << right.out << right.err;
  EXPECT_THAT(json::parse(right.out)["cases"][0]["reproduce"], HasSubstr("--right remarked"));
  EXPECT_THAT(shardlings.folder().read("build/verify/01_training_step/right/remarked.cpp"), HasSubstr("// more"));
  EXPECT_THAT(shardlings({"run", "01", "--right", "none"}).err,
              HasSubstr("Puzzle 01_training_step has no right variant \"none\". It has:\n  remarked"));
  EXPECT_EQ(shardlings({"run", "01", "--right", "remarked", "--mutant", "never_updated"}).status, 2) << "which?";
}

TEST(Command, JudgesOneCheck) {
  const Learner shardlings;
  EXPECT_EQ(shardlings({"check", kFirst, "output"}).status, 1);
  shardlings.solve(kFirst);
  const Answer passed = shardlings({"check", kFirst, "output"});
  EXPECT_EQ(passed.status, 0);
  EXPECT_THAT(passed.out, HasSubstr("passed"));
  shardlings.blunder(kFirst, "never_updated");
  EXPECT_THAT(shardlings({"check", kFirst, "output"}).out, AllOf(HasSubstr("expected:"), HasSubstr("found:")));
  EXPECT_EQ(shardlings({"check", kFirst, "memory"}).status, 1) << "blocked is not passed";
  shardlings.folder().write(Learner::file_of(kFirst), "this is no C++\n");
  EXPECT_EQ(shardlings({"check", kFirst, "time"}).status, 1) << "what does not build fails";
  EXPECT_EQ(shardlings({"check", kFirst, "nope"}).status, 2);
  std::filesystem::remove_all(shardlings.folder() / "build/graded");
  shardlings.folder().write("build/graded", "a file where a folder should be");
  EXPECT_EQ(shardlings({"check", kFirst, "output"}).status, 3) << "the machine's fault";
}

TEST(Command, ResetKeepsACopy) {
  const Learner shardlings;
  const std::string stub = shardlings.folder().read(Learner::file_of(kFirst));
  shardlings.folder().write(Learner::file_of(kFirst), "// mine\n");
  const Answer answer = shardlings({"reset", "01"});
  EXPECT_EQ(answer.status, 0);
  EXPECT_EQ(shardlings.folder().read(Learner::file_of(kFirst)), stub);
  std::vector<std::string> kept;
  for (const auto& entry : std::filesystem::directory_iterator(shardlings.folder() / ".shardlings/kept")) {
    kept.push_back(read_file(entry.path().string()).value_or(""));
  }
  EXPECT_THAT(kept, testing::ElementsAre("// mine\n"));
  EXPECT_THAT(shardlings({"reset", "01"}).out, HasSubstr("is the stub already"));
}

TEST(Command, ShowsTheSolutionOnlyOnceSolved) {
  const Learner shardlings;
  const Answer refused = shardlings({"solution", "01"});
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("--spoil"));
  EXPECT_EQ(refused.out, "");
  EXPECT_THAT(shardlings({"solution", "01", "--spoil"}).out, HasSubstr("model.forward"));
}

class WrongUse : public testing::TestWithParam<std::pair<std::vector<std::string>, const char*>> {};

TEST_P(WrongUse, IsRefusedWithAnAnswer) {
  const Learner shardlings;
  const Answer answer = shardlings(GetParam().first);
  EXPECT_EQ(answer.status, 2);
  EXPECT_EQ(answer.out, "");
  EXPECT_THAT(answer.err, HasSubstr(GetParam().second));
}

INSTANTIATE_TEST_SUITE_P(
    Command, WrongUse,
    testing::Values(std::pair{std::vector<std::string>{"lst"}, "There is no command \"lst\". Did you mean list?"},
                    std::pair{std::vector<std::string>{"run", "--fast"},
                              "run has no option --fast. See ./shardlings run --help."},
                    std::pair{std::vector<std::string>{"--fast"}, "./shardlings has no option --fast"},
                    std::pair{std::vector<std::string>{"run", "1", "2"}, "run has no argument 2"},
                    std::pair{std::vector<std::string>{"run", "trainin_step"}, "Did you mean training_step"},
                    std::pair{std::vector<std::string>{"reset"}, "PUZZLE is required"},
                    std::pair{std::vector<std::string>{"run", "1", "--seed", "x"}, "--seed"},
                    std::pair{std::vector<std::string>{"run", "1", "--file", "none.cpp"}, "There is no file none.cpp."},
                    std::pair{std::vector<std::string>{"run", "1", "--file", "/dev/zero"}, "is a device, not a file"},
                    std::pair{std::vector<std::string>{"--colour", "red", "list"}, "auto, always or never, not red"},
                    std::pair{std::vector<std::string>{"new", "my puzzle"}, "two digits"}));

TEST(Command, KnowsItsVersion) {
  const Learner shardlings;
  EXPECT_THAT(shardlings({"--version"}).out, testing::MatchesRegex("shardlings [0-9]+\\.[0-9]+\\.[0-9]+\n"));
  EXPECT_EQ(shardlings({"--help"}).status, 0);
}

TEST(Command, HasNoColoursInAPipeUnlessAskedFor) {
  const Learner shardlings;
  EXPECT_THAT(shardlings({"list"}).out, Not(HasSubstr("\x1b")));
  EXPECT_THAT(shardlings({"list", "--color=always"}).out, HasSubstr("\x1b["));
  EXPECT_THAT(shardlings({"list"}, {"CLICOLOR_FORCE=1"}).out, HasSubstr("\x1b["));
  EXPECT_THAT(shardlings({"list"}, {"CLICOLOR_FORCE=1", "NO_COLOR=1"}).out, Not(HasSubstr("\x1b")));
}

TEST(Command, GoesOnWithADamagedProgressFile) {
  const Learner shardlings;
  shardlings.folder().write(".shardlings/progress.json", "{\"puzz");
  const Answer answer = shardlings({"list"});
  EXPECT_EQ(answer.status, 0);
  EXPECT_THAT(answer.err, HasSubstr("damaged"));
  EXPECT_THAT(answer.out, HasSubstr("01 One training step"));
}

TEST(Command, VerifiesAPuzzle) {
  const Learner shardlings;
  const std::string mutants = "solutions/01_training_step/mutants.txt";
  const Answer good = shardlings({"verify", "01", "--json"});
  EXPECT_EQ(good.status, 0) << good.out << good.err;
  const json puzzle = json::parse(good.out)["puzzles"][0];
  EXPECT_EQ(puzzle["id"], kFirst);
  EXPECT_EQ(puzzle["solution"], "passed");
  EXPECT_EQ(puzzle["stub"], "refused");
  EXPECT_GE(puzzle["mutants"]["caught"], 6);
  EXPECT_EQ(puzzle["mutants"]["caught"], puzzle["mutants"]["total"]);
  EXPECT_EQ(puzzle["right"]["passed"], puzzle["right"]["total"]);
  EXPECT_GT(puzzle["right"]["total"], 0);
  EXPECT_EQ(puzzle["checks"][0]["id"], "output");
  for (const json& check : puzzle["checks"]) EXPECT_GE(check["failed_by"], 3);

  const std::string three = "== no_puzzle -> never_updated\nNo C++.\n+no_type x;\n   // <<<\n" +
                            "\n== gone -> never_updated\nOf an old solution.\n-  gone();\n"s +
                            "\n== remarked -> never_updated\nRight.\n+  // more\n   // <<<\n";
  shardlings.folder().write(mutants, three);
  const Answer bad = shardlings({"verify", "01"});
  EXPECT_EQ(bad.status, 1);
  EXPECT_THAT(bad.out, AllOf(HasSubstr("0 of 3 mutants caught"), HasSubstr("no mutant fails the check memory; 3 must"),
                             HasSubstr(mutants + ":1: no_puzzle: it does not build:\n"), HasSubstr("no_puzzle.cpp:"),
                             HasSubstr(mutants + ":8: gone: the solution has no line \"gone();\"\n"),
                             HasSubstr(mutants + ":10: remarked: it passes")));
}

}  // namespace
}  // namespace shardlings::cli
