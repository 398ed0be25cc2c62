// Which cases are run, and which no more: those that would take as long as two before them.
#include "grading/run/case_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "grading/run/case_of_sum.h"
#include "grading/run/submission_folder.h"

namespace shardlings::grading {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using wire::Ending;

/// A case for each of these counts, which tell the submission what to do.
std::vector<cases::Case> cases_with(const std::vector<int>& counts) {
  std::vector<cases::Case> all;
  for (const int count : counts) {
    all.push_back(case_of_sum("case " + std::to_string(all.size() + 1), count));
  }
  return all;
}

std::vector<Ending> endings_of(const run::CaseRuns& runs) {
  std::vector<Ending> endings;
  for (std::size_t i = 0; i < runs.size(); ++i) endings.push_back(runs.result(i).ending);
  return endings;
}

constexpr const char* kLoopsForFour =
    "  while (data.size() == 4 && rank.id() == 1) fill(data, 1.F);\n"
    "  rank.world().barrier();";

TEST(CaseRuns, StopAfterTwoThatLoopForEver) {
  run::CaseRuns runs(cases_with({4, 6, 4, 6, 4}));
  int ended = 0;
  runs.run(SubmissionFolder(kLoopsForFour).build(), [&](std::size_t, int so_far) { ended = so_far; });
  EXPECT_EQ(ended, 5);
  EXPECT_THAT(endings_of(runs),
              ElementsAre(Ending::failed, Ending::finished, Ending::failed, Ending::not_run, Ending::not_run));
  EXPECT_EQ(runs.result(2).report.failure->kind, front::FailureKind::endless_loop);
  EXPECT_THAT(runs.result(2).explanation, StartsWith("endless loop: rank 1 repeats puzzle.cpp:11 for ever.\n"));
  EXPECT_THAT(runs.result(3).explanation, HasSubstr("two cases before it did not come to an end"));
}

TEST(CaseRuns, GoOnAfterOneThatLoopsForEver) {
  run::CaseRuns runs(cases_with({4, 6, 6}));
  runs.run(SubmissionFolder(kLoopsForFour).build());
  EXPECT_THAT(endings_of(runs), ElementsAre(Ending::failed, Ending::finished, Ending::finished));
}

// Other failures take no time.
TEST(CaseRuns, GoOnAfterOtherFailures) {
  run::CaseRuns runs(cases_with({4, 4, 4, 6}));
  runs.run(SubmissionFolder("  if (data.size() == 4) throw 1;").build());
  EXPECT_THAT(endings_of(runs), ElementsAre(Ending::failed, Ending::failed, Ending::failed, Ending::finished));
}

}  // namespace
}  // namespace shardlings::grading
