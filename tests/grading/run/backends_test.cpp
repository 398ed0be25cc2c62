// Which backend a run gets, and what is said where it cannot be had. Machines are made up here: no GPU is needed.
#include "grading/run/backend_choice.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "grading/run/machine_json.h"
#include "support/scripts.h"

namespace shardlings::grading::run {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

Machine machine_with(int gpus, bool nccl) {
  Machine machine;
  for (int i = 0; i < gpus; ++i) machine.gpus.push_back({"Model T", 16LL << 30, 80});
  machine.cuda = "13.0";
  machine.mpi_problem = "this build has no MPI: install one";
  if (gpus == 0) machine.gpu_problem = "there is no driver: install it";
  if (nccl) machine.nccl = "2.28.9";
  if (!nccl) machine.nccl_problem = "libnccl.so.2 is missing";
  return machine;
}

std::vector<cases::Case> cases_of(const std::vector<int>& ranks) {
  std::vector<cases::Case> cases;
  for (const int n : ranks) {
    cases::Case kase;
    kase.name = std::to_string(n) + " ranks";
    kase.ranks = n;
    cases.push_back(kase);
  }
  return cases;
}

std::string refusal(Backend wish, const Machine& machine, const std::vector<int>& ranks) {
  try {
    run::choose_backend(wish, machine, cases_of(ranks));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(Backends, AreNamed) {
  EXPECT_EQ(run::backend_wished("cpu"), Backend::cpu);
  EXPECT_EQ(run::backend_wished("cuda"), Backend::cuda);
  EXPECT_EQ(run::backend_wished("nccl"), Backend::nccl);
  EXPECT_EQ(run::backend_wished("auto"), std::nullopt);
  for (const char* wrong : {"", "tpu", "CUDA", "cuda "}) {
    EXPECT_THROW(run::backend_wished(wrong), std::runtime_error) << wrong;
  }
  for (int i = 0; i < world::kBackends; ++i) {
    const auto backend = static_cast<Backend>(i);
    EXPECT_EQ(world::capabilities_of(backend).backend, backend);
    EXPECT_EQ(world::backend_from(name_of(backend)), backend);
  }
}

// What a reader is told is what the code says.
TEST(Backends, PromiseWhatTheirPageSays) {
  std::ifstream page(SHARDLINGS_GPU_PAGE);
  std::stringstream text;
  text << page.rdbuf();
  const auto answer = [](bool holds) { return holds ? "yes" : "no"; };
  for (int i = 0; i < world::kBackends; ++i) {
    const world::Capabilities& c = world::capabilities_of(static_cast<Backend>(i));
    const std::string row = fmt::format("| `{}` | {} | {} | {} | {} |", c.name, c.ranks, answer(c.sums_in_rank_order),
                                        answer(c.equal_every_run), answer(c.measures_time));
    EXPECT_THAT(text.str(), HasSubstr(row));
  }
}

TEST(Backends, AutoTakesTheBestThatFitsAllCases) {
  const auto chosen = [](const Machine& machine, const std::vector<int>& ranks) {
    const run::BackendChoice choice = run::choose_backend(std::nullopt, machine, cases_of(ranks));
    EXPECT_THAT(choice.why, HasSubstr("auto chose " + std::string(name_of(choice.backend)) + ": "));
    return choice.backend;
  };
  EXPECT_EQ(chosen(machine_with(0, false), {1, 4}), Backend::cpu);
  EXPECT_EQ(chosen(machine_with(1, true), {1, 4}), Backend::cuda);
  EXPECT_EQ(chosen(machine_with(2, true), {2, 4}), Backend::cuda) << "one case has more ranks than there are GPUs";
  EXPECT_EQ(chosen(machine_with(4, true), {2, 4}), Backend::nccl);
  EXPECT_EQ(chosen(machine_with(4, false), {2, 4}), Backend::cuda) << "no NCCL";
  EXPECT_EQ(chosen(machine_with(4, true), {1}), Backend::cuda) << "nobody to talk to";
}

TEST(Backends, AutoSaysWhy) {
  const auto why = [](const Machine& machine) {
    return run::choose_backend(std::nullopt, machine, cases_of({1, 4})).why;
  };
  EXPECT_EQ(why(machine_with(0, false)), "auto chose cpu: there is no driver: install it.");
  EXPECT_EQ(why(machine_with(1, true)),
            "auto chose cuda: there is 1 GPU (Model T) for up to 4 ranks, which share the first.");
  EXPECT_EQ(why(machine_with(8, true)), "auto chose nccl: 8 GPUs (Model T) are enough for up to 4 ranks.");
  EXPECT_THAT(why(machine_with(8, false)), HasSubstr("libnccl.so.2 is missing"));
}

TEST(Backends, GetsWhatWasAskedFor) {
  EXPECT_EQ(run::choose_backend(Backend::cuda, machine_with(1, false), cases_of({9})).backend, Backend::cuda);
  EXPECT_EQ(run::choose_backend(Backend::nccl, machine_with(2, true), cases_of({1, 2})).backend, Backend::nccl);
  EXPECT_EQ(run::choose_backend(Backend::cuda, machine_with(1, false), cases_of({9})).why, "") << "nothing was chosen";
}

TEST(Backends, SaysWhatIsMissing) {
  const std::string no_gpu = refusal(Backend::cuda, machine_with(0, true), {2});
  EXPECT_THAT(no_gpu, AllOf(HasSubstr("--backend cuda"), HasSubstr("there is no driver: install it."),
                            HasSubstr("leave --backend away"), HasSubstr("doctor")));
  EXPECT_THAT(refusal(Backend::nccl, machine_with(0, true), {2}), HasSubstr("there is no driver: install it."));
  EXPECT_THAT(refusal(Backend::nccl, machine_with(4, false), {2}), HasSubstr("libnccl.so.2 is missing."));
  const std::string too_few = refusal(Backend::nccl, machine_with(2, true), {1, 2, 8});
  EXPECT_THAT(too_few, AllOf(HasSubstr("case \"8 ranks\" has 8 ranks, and there are 2 GPUs (Model T)"),
                             HasSubstr("--backend cuda"), HasSubstr("--case '1 ranks'")));
  EXPECT_THAT(refusal(Backend::nccl, machine_with(1, true), {2, 8}), Not(HasSubstr("--case")));
}

TEST(Backends, MpiIsChosenByAutoOnlyWhereALauncherHasStartedUs) {
  Machine machine = machine_with(4, true);
  const world::MpiSurroundings of_four{.starter = "mpirun (Open MPI)", .processes = 4};
  const auto chosen = [&](const world::MpiSurroundings& around) {
    return run::choose_backend(std::nullopt, machine, cases_of({2, 4}), around);
  };
  EXPECT_EQ(chosen(of_four).backend, Backend::nccl) << "no MPI";
  machine.mpi = "Open MPI 4.1.4";
  EXPECT_EQ(chosen({}).backend, Backend::nccl);
  EXPECT_EQ(chosen(of_four).backend, Backend::mpi);
  EXPECT_EQ(chosen(of_four).why, "auto chose mpi: mpirun (Open MPI) has started 4 processes.");
}

TEST(Backends, MpiThatIsMissingIsTold) {
  EXPECT_THAT(refusal(Backend::mpi, machine_with(1, true), {2}),
              AllOf(HasSubstr("--backend mpi is not possible here. this build has no MPI: install one."),
                    HasSubstr("leave --backend away")));
}

TEST(Backends, HiddenCasesAreNotProposed) {
  std::vector<cases::Case> cases = cases_of({2, 8});
  cases[0].hidden = true;
  try {
    run::choose_backend(Backend::nccl, machine_with(2, true), cases);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), Not(HasSubstr("--case")));
  }
}

TEST(Machine, SurvivesItsJson) {
  const Machine machine = machine_with(2, true);
  const Machine again = run::machine_from_json(to_json(machine));
  ASSERT_EQ(again.gpus.size(), 2U);
  EXPECT_EQ(again.gpus[1].name, "Model T");
  EXPECT_EQ(again.gpus[1].memory, 16LL << 30);
  EXPECT_EQ(again.gpus[1].capability, 80);
  EXPECT_EQ(again.nccl, "2.28.9");
  EXPECT_EQ(to_json(again), to_json(machine));
  for (const char* damaged : {"", "{}", "[]", "{\"gpus\": 3}"}) {
    EXPECT_THROW(run::machine_from_json(damaged), std::runtime_error) << damaged;
  }
}

/// A program that answers as the probe does, or otherwise.
class Probe {
 public:
  explicit Probe(const std::string& script) : path_(scripts_.add("probe", script)) {}
  const std::string& path() const { return path_; }

 private:
  support::Scripts scripts_;
  std::string path_;
};

TEST(Machine, IsExaminedByAnotherProgram) {
  const Probe probe("echo a driver says something first\ncat <<'JSON'\n" + to_json(machine_with(3, true)) + "\nJSON\n");
  EXPECT_EQ(run::examine_machine(probe.path()).gpus.size(), 3U);
  EXPECT_EQ(run::choose_backend(run::BackendWish{"auto"}, probe.path(), cases_of({3})).backend, Backend::nccl);
}

TEST(Machine, HasNoGpusWhereTheProbeGivesNoAnswer) {
  const Probe crash("kill -SEGV $$\n");
  const Probe failing("echo no; exit 3\n");
  for (const std::string& path : {crash.path(), failing.path(), std::string("/does/not/exist")}) {
    const Machine machine = run::examine_machine(path);
    EXPECT_TRUE(machine.gpus.empty());
    EXPECT_THAT(machine.gpu_problem, HasSubstr(path + " gives no answer"));
  }
}

/// A machine with Open MPI, and nothing that starts it.
class MachineWithMpi : public testing::Test {
 protected:
  MachineWithMpi() {
    Machine machine = machine_with(0, false);
    machine.mpi = "Open MPI 4.1.4";
    probe_.emplace("cat <<'JSON'\n" + to_json(machine) + "\nJSON\n");
    launcher_.emplace("echo 'mpirun (Open MPI) 4.1.4'\n");
    setenv("SHARDLINGS_MPIRUN", launcher_->path().c_str(), 1);
  }
  ~MachineWithMpi() override { unsetenv("SHARDLINGS_MPIRUN"); }
  run::BackendChoice choose(const run::BackendWish& wish) const {
    return run::choose_backend(wish, probe_->path(), cases_of({1, 4}));
  }
  std::string refusal(const run::BackendWish& wish) const {
    try {
      choose(wish);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }
  const std::string& launcher() const { return launcher_->path(); }

 private:
  std::optional<Probe> probe_, launcher_;
};

TEST_F(MachineWithMpi, StartsAsManyProcessesAsTheWidestCaseHasRanks) {
  const run::BackendChoice choice = choose({"mpi"});
  EXPECT_EQ(choice.backend, Backend::mpi);
  EXPECT_EQ(choice.mpi, "open_mpi 4 4 - " + launcher());
  EXPECT_EQ(choose({"mpi", {.ranks_per_process = 2}}).mpi, "open_mpi 4 2 - " + launcher());
}

TEST_F(MachineWithMpi, ItsOptionsAreForItAlone) {
  EXPECT_THAT(refusal({"cpu", {.processes = 2}}), HasSubstr("add --backend mpi"));
  EXPECT_THAT(refusal({"auto", {.processes = 2}}), HasSubstr("the backend is cpu"));
}

TEST_F(MachineWithMpi, ALauncherThatIsMissingIsTold) {
  setenv("SHARDLINGS_MPIRUN", "/no/such/mpirun", 1);
  EXPECT_THAT(refusal({"mpi"}),
              HasSubstr("SHARDLINGS_MPIRUN is /no/such/mpirun, which is no launcher of Open MPI 4.1.4"));
}

TEST_F(MachineWithMpi, AFileOfHostsThatIsMissingIsTold) {
  EXPECT_EQ(refusal({"mpi", {.hostfile = "/no/such/hosts"}}), "There is no file of hosts /no/such/hosts.");
}

TEST(Machine, IsNotExaminedForTheCpu) {
  EXPECT_EQ(run::choose_backend(run::BackendWish{"cpu"}, "/does/not/exist", cases_of({2})).backend, Backend::cpu);
  EXPECT_THROW(run::choose_backend(run::BackendWish{"tpu"}, "/does/not/exist", cases_of({2})), std::runtime_error);
}

}  // namespace
}  // namespace shardlings::grading::run
