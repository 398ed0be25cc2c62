// From a source file to a verdict, through compiler, submission processes and grader process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "grading/grade.h"
#include "grading/run/submission_folder.h"

namespace shardlings::grading {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const verdict::CheckVerdict& check_of(const verdict::Verdict& verdict, std::size_t kase, std::size_t check) {
  return verdict.cases.at(kase).checks.at(check);
}

TEST(Grade, RightSolutionGetsAllPoints) {
  const verdict::Verdict verdict = grade_puzzle(SubmissionFolder(kRightSum).graded_anew());
  EXPECT_EQ(verdict.status, verdict::Status::graded);
  EXPECT_TRUE(verdict.passed) << to_json(verdict);
  EXPECT_EQ(verdict.points, 100);
  EXPECT_EQ(verdict.max_points, 100);
  ASSERT_EQ(verdict.cases.size(), 2U);
  EXPECT_EQ(verdict.cases[1].traces.size(), 3U);
  EXPECT_EQ(verdict.cases[1].reproduce, "./shardlings run 50 --case '3 ranks, hidden' --seed 7");
}

TEST(Grade, WrongNumbersBlockWhatRestsOnThem) {
  const verdict::Verdict verdict = grade_puzzle(SubmissionFolder(std::string(kRightSum) + kRightSum).graded_anew());
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(verdict.points, 10) << "memory does not rest on the output";
  EXPECT_THAT(verdict.diagnoses, ElementsAre("twice"));
  const verdict::CheckVerdict& output = check_of(verdict, 0, 0);
  EXPECT_EQ(output.passed, false);
  EXPECT_EQ(output.diagnosis_text, "The sum was made twice.");
  EXPECT_THAT(output.details, testing::Contains("every element is 2 times too large"));
  EXPECT_EQ(check_of(verdict, 0, 1).passed, std::nullopt);
  EXPECT_EQ(check_of(verdict, 0, 1).blocked_by, "output");
  EXPECT_EQ(verdict.checks[1].blocked_by, "output");
}

TEST(Grade, CrashInOneCaseLeavesTheOthersGraded) {
  const verdict::Verdict verdict = grade_puzzle(
      SubmissionFolder(std::string("  if (rank.size() == 3 && rank.id() == 2) std::abort();\n") + kRightSum)
          .graded_anew());
  EXPECT_EQ(verdict.status, verdict::Status::graded);
  EXPECT_EQ(verdict.cases[0].ending, wire::Ending::finished);
  EXPECT_EQ(check_of(verdict, 0, 0).passed, true);
  EXPECT_EQ(verdict.cases[1].ending, wire::Ending::crashed);
  const verdict::CheckVerdict& output = check_of(verdict, 1, 0);
  EXPECT_EQ(output.passed, false);
  EXPECT_EQ(output.found, "rank 2 crashed at puzzle.cpp:11 with abort().");
  EXPECT_EQ(output.where.file, "puzzle.cpp");
  EXPECT_EQ(output.where.line, 11) << "the crash's own line, not that of the last call";
  EXPECT_EQ(check_of(verdict, 1, 2).blocked_by, "output") << "nothing can be judged without a result";
  EXPECT_EQ(verdict.points, 0);
}

TEST(Grade, DeadlockTakesTheSentenceOfTheManifest) {
  const verdict::Verdict verdict =
      grade_puzzle(SubmissionFolder("  rank.world().recv(data, (rank.id() + 1) % rank.size());").graded_anew());
  EXPECT_THAT(verdict.diagnoses, ElementsAre("deadlock"));
  EXPECT_EQ(check_of(verdict, 0, 0).diagnosis_text, "Two ranks wait for one another.");
  EXPECT_EQ(check_of(verdict, 0, 0).where.line, kFirstLine);
  EXPECT_EQ(verdict.cases[0].failure, front::FailureKind::deadlock);
}

TEST(Grade, UntouchedStub) {
  const verdict::Verdict verdict = grade_puzzle(SubmissionFolder("  not_implemented();").graded_anew());
  EXPECT_EQ(verdict.status, verdict::Status::not_implemented);
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(verdict.points, 0);
}

TEST(Grade, ExpectationOfGoogleTestFailsItsCheck) {
  const verdict::Verdict verdict =
      grade_puzzle(SubmissionFolder(std::string(kRightSum) + "\n  rank.read(data.part({0, 1}));").graded_anew());
  EXPECT_EQ(verdict.checks[0].passed, true);
  EXPECT_EQ(verdict.checks[2].passed, false);
  EXPECT_THAT(check_of(verdict, 0, 2).found, HasSubstr("a plain expectation of GoogleTest counts, too"));
}

TEST(Grade, CompilerErrorIsNeverAPass) {
  const verdict::Verdict verdict = grade_puzzle(SubmissionFolder("  no_such_thing();").graded_anew());
  EXPECT_EQ(verdict.status, verdict::Status::did_not_build);
  EXPECT_FALSE(verdict.passed);
  EXPECT_EQ(verdict.max_points, 100);
  EXPECT_EQ(verdict.checks[0].passed, false);
  EXPECT_EQ(verdict.checks[1].passed, std::nullopt);
  EXPECT_THAT(verdict.build_log, HasSubstr("puzzle.cpp:11:3: error: "));
}

TEST(Grade, AFunctionWithOtherParametersIsToldFromOneThatIsMissing) {
  const SubmissionFolder folder("");
  const std::string include = "#include <shardlings/puzzle.h>\nusing namespace shardlings;\n";
  folder.write(include + "void another(Rank&, View) {}\n");
  const std::string missing = grade_puzzle(folder.graded_anew()).build_log;
  EXPECT_EQ(missing, "puzzle.cpp must define `void sum_up(Rank& rank, View data)`, with exactly this signature.\n");
  folder.write(include + "void sum_up(Rank&, View, int) {}\n");
  const std::string changed = grade_puzzle(folder.graded_anew()).build_log;
  EXPECT_THAT(changed, testing::StartsWith(missing));
  EXPECT_THAT(changed, HasSubstr("It defines sum_up with other parameters."));
  EXPECT_THAT(changed, HasSubstr("`./shardlings reset 50_sum`"));
}

TEST(Grade, OneCaseWithAnotherSeed) {
  const SubmissionFolder folder(kRightSum);
  GradeOptions options = folder.graded_anew();
  options.case_names = {"2 ranks"};
  options.seed = 99;
  const verdict::Verdict verdict = grade_puzzle(options);
  ASSERT_EQ(verdict.cases.size(), 1U);
  EXPECT_EQ(verdict.cases[0].kase.seed, 99U);
  EXPECT_TRUE(verdict.passed);
  options.case_names = {"2 rank"};
  EXPECT_THAT([&] { grade_puzzle(options); },
              testing::ThrowsMessage<std::runtime_error>("50_sum has no case '2 rank'; did you mean '2 ranks'?"));
}

TEST(Grade, WhatDidNotBuildIsTriedAgain) {
  const SubmissionFolder folder("  no_such_thing();");
  GradeOptions options = folder.graded_anew();
  options.use_cache = true;
  grade_puzzle(options);
  std::vector<Phase> phases;
  options.progress = [&](Phase phase) { phases.push_back(phase); };
  EXPECT_EQ(grade_puzzle(options).status, verdict::Status::did_not_build);
  EXPECT_THAT(phases, ElementsAre(Phase::waiting, Phase::building, Phase::done));
}

TEST(Grade, SameContentIsGradedOnce) {
  const SubmissionFolder folder(std::string(kRightSum) + "  // " + std::to_string(getpid()));
  GradeOptions options = folder.graded_anew();
  options.use_cache = true;
  std::vector<Phase> phases;
  options.progress = [&](Phase phase) { phases.push_back(phase); };
  std::vector<std::pair<int, int>> cases;
  options.cases = [&](int done, int total) { cases.emplace_back(done, total); };
  const verdict::Verdict first = grade_puzzle(options);
  const auto total = static_cast<int>(first.cases.size());
  ASSERT_EQ(cases.size(), first.cases.size());
  for (int i = 0; i < total; ++i) EXPECT_EQ(cases[static_cast<std::size_t>(i)], std::pair(i + 1, total));
  EXPECT_THAT(phases, ElementsAre(Phase::waiting, Phase::building, Phase::running, Phase::done));
  phases.clear();
  const verdict::Verdict second = grade_puzzle(options);
  EXPECT_THAT(phases, ElementsAre(Phase::waiting, Phase::done));
  EXPECT_EQ(to_json(first), to_json(second));
  EXPECT_EQ(second.cases[0].traces.size(), 2U);
}

TEST(Grade, OneOfManyGradesAndTheOthersRead) {
  const SubmissionFolder folder(std::string(kRightSum) + "  // together " + std::to_string(getpid()));
  std::atomic<int> builds = 0, passed = 0;
  {
    std::vector<std::jthread> checks;
    for (int i = 0; i < 3; ++i) {
      checks.emplace_back([&] {
        GradeOptions options = folder.graded_anew();
        options.use_cache = true;
        options.progress = [&](Phase phase) { builds += phase == Phase::building ? 1 : 0; };
        passed += grade_puzzle(options).passed ? 1 : 0;
      });
    }
  }
  EXPECT_EQ(builds, 1);
  EXPECT_EQ(passed, 3);
}

}  // namespace
}  // namespace shardlings::grading
