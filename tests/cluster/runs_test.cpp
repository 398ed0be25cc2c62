// Runs over MPI from the command line: how they are started, over two hosts, and what is said where they cannot be.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/error.h"
#include "cli/learner.h"
#include "cluster/mpi_here.h"

namespace shardlings::cluster {
namespace {

using cli::Answer;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr const char* kPuzzle = "09_data_parallel";

class OverMpi : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = mpi_missing(); !missing.empty()) GTEST_SKIP() << missing;
    shardlings_.solve(kPuzzle);
  }
  /// The command, run by another program.
  Answer through(Words command, const Words& arguments) const {
    command.push_back(cli::command_path());
    command.insert(command.end(), arguments.begin(), arguments.end());
    Words environment = shardlings_.environment();
    environment.push_back("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    environment.push_back("HOME=/tmp");
    return cli::answer_of(shardlings_.folder().path(), command, environment);
  }
  /// Of all cases: their counters, in which are bytes, memory and virtual time of each rank.
  static json counters(const std::string& verdict) {
    json all = json::array();
    for (const json& kase : json::parse(verdict)["cases"]) all.push_back(kase["counters"]);
    return all;
  }

  cli::Learner shardlings_;
};

TEST_F(OverMpi, TheCommandStartsTheProcesses) {
  const Answer answer = shardlings_({"run", "09", "--backend", "mpi", "-n", "2", "--json"});
  EXPECT_EQ(answer.status, cli::kPassed) << answer.out << answer.err;
  EXPECT_EQ(json::parse(answer.out)["backend"], "mpi");
}

// Where the same was graded before, its verdict is shown: but not if other processes are asked for.
TEST_F(OverMpi, OtherProcessesMakeAnotherRun) {
  const auto seconds_of = [&](const char* processes) {
    const Answer answer = shardlings_({"run", "09", "--backend", "mpi", "-n", processes, "--json"});
    EXPECT_EQ(answer.status, cli::kPassed) << answer.out << answer.err;
    return json::parse(answer.out)["seconds"].get<double>();
  };
  const double of_two = seconds_of("2");
  EXPECT_EQ(seconds_of("2"), of_two);
  EXPECT_NE(seconds_of("1"), of_two);
}

TEST_F(OverMpi, AFileOfHostsWithTooFewSlotsIsWrongUse) {
  shardlings_.folder().write("hosts", "127.0.0.1 slots=2\n");
  const Answer answer = shardlings_({"run", "09", "--backend", "mpi", "-n", "4", "--hostfile", "hosts"});
  EXPECT_EQ(answer.status, cli::kWrongUse);
  EXPECT_THAT(answer.err, HasSubstr("The hosts have 2 slots, and 4 processes were asked for."));
}

TEST_F(OverMpi, AFileOfOtherHostsIsWrongUse) {
  shardlings_.folder().write("hosts", "192.0.2.1 slots=2\n");
  const Answer answer = shardlings_({"run", "09", "--backend", "mpi", "--hostfile", "hosts"});
  EXPECT_EQ(answer.status, cli::kWrongUse);
  EXPECT_THAT(answer.err, HasSubstr("hosts does not name this host"));
}

TEST_F(OverMpi, ALauncherThatIsMissingIsWrongUse) {
  const Answer answer = shardlings_({"run", "09", "--backend", "mpi"}, {"SHARDLINGS_MPIRUN=/no/such/mpirun"});
  EXPECT_EQ(answer.status, cli::kWrongUse);
  EXPECT_THAT(answer.err, HasSubstr("SHARDLINGS_MPIRUN is /no/such/mpirun"));
}

// Of several copies that mpirun has started, one grades and answers.
TEST_F(OverMpi, UnderMpirunOneCopyDoesTheWork) {
  const grading::run::Machine machine = grading::run::examine_machine(SHARDLINGS_PROBE);
  const grading::run::MpiLauncher launcher = grading::run::find_launcher(machine.mpi);
  Words command = {launcher.program, "-n", "3"};
  if (launcher.kind == grading::run::MpiKind::open_mpi) {
    command.insert(command.end(), {"--oversubscribe", "--allow-run-as-root"});
  }
  const Answer answer = through(command, {"run", "09", "--backend", "auto", "--json"});
  EXPECT_EQ(answer.status, cli::kPassed) << answer.out << answer.err;
  EXPECT_THAT(answer.err, AllOf(HasSubstr("auto chose mpi"), HasSubstr("has started 3 processes")));
  EXPECT_EQ(json::parse(answer.out)["passed"], true) << "one answer, and no more";
}

TEST_F(OverMpi, TwoHostsGiveTheSameCounters) {
  const std::string reference = shardlings_({"run", "09", "--json"}).out;
  const Answer answer = through(
      {SHARDLINGS_SOURCE "/tests/cluster/two_hosts", "/bin/sh", "-c", "exec \"$0\" \"$@\" --hostfile \"$TWO_HOSTS\""},
      {"run", "09", "--backend", "mpi", "-n", "4", "--json"});
  if (answer.status == 77) GTEST_SKIP() << answer.err;
  ASSERT_EQ(answer.status, cli::kPassed) << answer.out << answer.err;
  EXPECT_EQ(counters(answer.out), counters(reference));
}

TEST(WithoutMpi, TheBackendIsWrongUseAndTheDoctorSaysWhatToDo) {
  const cli::Learner shardlings;
  shardlings.solve(kPuzzle);
  const Words none = {"SHARDLINGS_MPI_LIBRARY=/no/such/library"};
  const Answer answer = shardlings({"run", "09", "--backend", "mpi"}, none);
  EXPECT_EQ(answer.status, cli::kWrongUse);
  EXPECT_THAT(answer.err, AllOf(HasSubstr("--backend mpi is not possible here"), HasSubstr("apt-get install")));
  const Answer doctor = shardlings({"doctor", "--json"}, none);
  for (const json& finding : json::parse(doctor.out)["findings"]) {
    EXPECT_NE(finding["name"], "mpirun");
    if (finding["name"] != "MPI") continue;
    EXPECT_EQ(finding["found"], false);
    EXPECT_THAT(finding["fix"].get<std::string>(), HasSubstr("apt-get install"));
  }
}

}  // namespace
}  // namespace shardlings::cluster
