// The contract suite (tests/contract) in processes that mpirun has started: each makes the same runs, whose ranks are
// spread over all of them, and compares what comes of them with threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "cluster/mpi_here.h"
#include "grading/run/mpirun.h"
#include "grading/run/process.h"

namespace shardlings::cluster {
namespace {

namespace run = grading::run;

/// What takes longest are many runs alike.
constexpr const char* kAll = "*/mpi";
constexpr const char* kWithoutMany = "*/mpi-*RandomPrograms*:*RandomServers*:*TwoHundredRuns*:*EveryBox*";

class ContractSuite : public testing::TestWithParam<int> {};

TEST_P(ContractSuite, HoldsOverMpi) {
  if (const std::string missing = mpi_missing(); !missing.empty()) GTEST_SKIP() << missing;
  run::MpiLaunch launch;
  launch.launcher = run::find_launcher(run::examine_machine(SHARDLINGS_PROBE).mpi);
  launch.processes = GetParam();
  launch.program = SHARDLINGS_CONTRACT_TEST;
  launch.arguments = {"--gtest_brief=1", std::string("--gtest_filter=") + (GetParam() == 2 ? kAll : kWithoutMany)};
  run::ProcessOptions options = run::mpirun_process(launch);
  options.limits.wall_seconds = 900;
  const run::ProcessEnd end = run_process(options);
  ASSERT_TRUE(end.started) << end.error;
  EXPECT_TRUE(end.exited && end.status == 0) << end.output;
  EXPECT_THAT(end.output, testing::HasSubstr("PASSED"));
  EXPECT_THAT(end.output, testing::Not(testing::HasSubstr("PASSED  ] 0 tests")));
}

/// Three, in a minute or two; with SHARDLINGS_MPI_CONTRACT=all also two with the many runs, five, and eight.
std::vector<int> numbers_of_processes() {
  const char* wish = std::getenv("SHARDLINGS_MPI_CONTRACT");
  return wish != nullptr && std::string(wish) == "all" ? std::vector<int>{2, 3, 5, 8} : std::vector<int>{3};
}

INSTANTIATE_TEST_SUITE_P(Processes, ContractSuite, testing::ValuesIn(numbers_of_processes()),
                         [](const auto& param) { return "of_" + std::to_string(param.param); });

}  // namespace
}  // namespace shardlings::cluster
