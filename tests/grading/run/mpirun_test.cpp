// What the launchers of both MPIs are told. The launchers here are shell scripts: no MPI is needed.
#include "grading/run/mpirun.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include "support/scripts.h"

namespace shardlings::grading::run {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A variable of the environment, as long as this lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// A folder of programs that print their version.
class Programs : public support::Scripts {
 public:
  std::string add(const std::string& name, const std::string& says) const {
    return Scripts::add(name, fmt::format("printf '%s\\n' '{}'\n", says));
  }
};

constexpr const char* kOpenMpi = "mpirun (Open MPI) 4.1.4";
constexpr const char* kHydra = "HYDRA build details:\n    Version: 4.0.2";

std::string refusal(const std::string& mpi) {
  try {
    find_launcher(mpi);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

MpiLaunch launch_of(MpiKind kind, int version, const std::string& hosts) {
  MpiLaunch launch;
  launch.launcher = {kind, version, "/usr/bin/launcher"};
  launch.program = "/puzzle";
  launch.arguments = {"crew", "mpi"};
  launch.processes = 4;
  if (!hosts.empty()) launch.hosts = hosts_from(hosts, "hosts");
  return launch;
}

std::string words_of(const MpiLaunch& launch, bool as_root = false) {
  return fmt::format("{}", fmt::join(launcher_arguments(launch, as_root), " "));
}

TEST(Mpirun, TheLauncherIsThatOfTheMpiThatWasLinked) {
  const Programs programs;
  const std::string hydra = programs.add("mpirun", kHydra);
  const std::string open_mpi = programs.add("mpiexec", kOpenMpi);
  const Variable path("PATH", programs.folder());
  const Variable none("SHARDLINGS_MPIRUN", "");
  EXPECT_EQ(find_launcher("Open MPI 4.1.4").program, open_mpi);
  EXPECT_EQ(find_launcher("MPICH 4.0.2").program, hydra);
}

TEST(Mpirun, FullNamesComeFirst) {
  const Programs programs;
  programs.add("mpirun", kOpenMpi);
  const std::string full = programs.add("mpirun.openmpi", "mpirun.openmpi (OpenRTE) 5.0.1");
  const Variable path("PATH", programs.folder());
  const Variable none("SHARDLINGS_MPIRUN", "");
  const MpiLauncher found = find_launcher("Open MPI 5.0.1");
  EXPECT_EQ(found.program, full);
  EXPECT_EQ(found.kind, MpiKind::open_mpi);
  EXPECT_EQ(found.version, 5);
}

TEST(Mpirun, AVariableNamesIt) {
  const Programs programs;
  const std::string own = programs.add("my_mpirun", kOpenMpi);
  const Variable named("SHARDLINGS_MPIRUN", own);
  EXPECT_EQ(find_launcher("Open MPI 4.1.4").program, own);
  EXPECT_THAT(refusal("MPICH 4.0.2"), HasSubstr("which is no launcher of MPICH 4.0.2"));
}

TEST(Mpirun, WhatIsMissingIsToldWithWhatToDo) {
  const Programs programs;
  const Variable path("PATH", programs.folder());
  const Variable none("SHARDLINGS_MPIRUN", "");
  EXPECT_THAT(refusal("Open MPI 4.1.4"), HasSubstr("apt-get install openmpi-bin"));
  EXPECT_THAT(refusal("MPICH 4.0.2"), HasSubstr("apt-get install mpich"));
  EXPECT_THAT(refusal("LAM 7"), HasSubstr("only Open MPI and MPICH"));
}

TEST(Mpirun, OpenMpiOnThisHost) {
  const std::string words = words_of(launch_of(MpiKind::open_mpi, 4, ""));
  EXPECT_THAT(words, HasSubstr("-n 4 --bind-to none --oversubscribe "));
  EXPECT_THAT(words, Not(HasSubstr("root")));
  EXPECT_TRUE(words.ends_with(" /puzzle crew mpi")) << words;
}

TEST(Mpirun, OpenMpi5CallsItOtherwise) {
  const std::string words = words_of(launch_of(MpiKind::open_mpi, 5, ""));
  EXPECT_THAT(words, HasSubstr("--map-by :OVERSUBSCRIBE "));
  EXPECT_THAT(words, Not(HasSubstr("oob_tcp")));
}

TEST(Mpirun, RootIsAllowedOnlyWhereTheUserIsRoot) {
  EXPECT_THAT(words_of(launch_of(MpiKind::open_mpi, 4, ""), true), HasSubstr("--allow-run-as-root"));
  EXPECT_THAT(words_of(launch_of(MpiKind::mpich, 4, ""), true), Not(HasSubstr("root")));
}

TEST(Mpirun, HostsKeepTheirSlots) {
  const std::string open_mpi = words_of(launch_of(MpiKind::open_mpi, 4, "ada slots=2\ngrace:2\n"));
  EXPECT_THAT(open_mpi, HasSubstr("--host ada:2,grace:2"));
  EXPECT_THAT(open_mpi, Not(HasSubstr("oversubscribe")));
  EXPECT_THAT(words_of(launch_of(MpiKind::mpich, 4, "ada slots=2\ngrace:2\n")), HasSubstr("-hosts ada:2,grace:2"));
}

TEST(Mpirun, VariablesReachOtherHosts) {
  MpiLaunch launch = launch_of(MpiKind::open_mpi, 4, "ada slots=4");
  launch.variables = {"SHARDLINGS_PULSE=secret 1 2"};
  EXPECT_THAT(words_of(launch), AllOf(HasSubstr("-x SHARDLINGS_PULSE "), Not(HasSubstr("secret"))));
  EXPECT_THAT(mpirun_process(launch).environment, Contains("SHARDLINGS_PULSE=secret 1 2"));
}

TEST(Mpirun, MpichLeavesTheOthersAlive) {
  EXPECT_THAT(words_of(launch_of(MpiKind::mpich, 4, "")), HasSubstr("-n 4 -disable-auto-cleanup"));
}

TEST(Mpirun, TheEnvironmentIsThatOfTheUserWithoutAnOuterJob) {
  const char* const callers[] = {"PATH=/a",
                                 "HOME=/home/ada",
                                 "SLURM_JOB_ID=7",
                                 "OMPI_MCA_btl=tcp,self",
                                 "OMPI_MCA_orte_default_hostfile=/etc/mpi/hostfile",
                                 "OMPI_COMM_WORLD_RANK=0",
                                 "OMPI_MCA_ess_base_jobid=1",
                                 "OMPI_MCA_orte_hnp_uri=x",
                                 "PMIX_RANK=0",
                                 "PMI_FD=5",
                                 "EDITOR=vi",
                                 nullptr};
  EXPECT_THAT(launcher_environment(callers),
              ElementsAre("LC_ALL=C.UTF-8", "OPENBLAS_NUM_THREADS=1", "PATH=/a", "HOME=/home/ada", "SLURM_JOB_ID=7",
                          "OMPI_MCA_btl=tcp,self", "OMPI_MCA_orte_default_hostfile=/etc/mpi/hostfile"));
}

TEST(Mpirun, AStartGoesThroughText) {
  MpiStart start;
  start.launcher = {MpiKind::mpich, 4, "/opt/my mpi/bin/mpiexec"};
  start.processes = 6;
  start.hosts = hosts_from("ada:2\ngrace:4\n", "hosts");
  const MpiStart again = start_from(to_text(start));
  EXPECT_EQ(again.launcher.kind, MpiKind::mpich);
  EXPECT_EQ(again.launcher.program, "/opt/my mpi/bin/mpiexec");
  EXPECT_EQ(again.processes, 6);
  EXPECT_EQ(to_text(again.hosts), "ada:2,grace:4");
  start.hosts.clear();
  EXPECT_TRUE(start_from(to_text(start)).hosts.empty());
  for (const char* wrong : {"", "lam 7 4 - /bin/mpirun", "mpich 4 0 - /bin/mpirun", "mpich 4 2 -"}) {
    EXPECT_THROW(start_from(wrong), std::runtime_error) << wrong;
  }
}

}  // namespace
}  // namespace shardlings::grading::run
