#include "grading/run/backend_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "grading/run/machine_json.h"
#include "grading/run/process.h"

namespace shardlings::grading::run {
namespace {

/// A driver that wakes up several GPUs takes seconds.
constexpr double kProbeSeconds = 60;

const cases::Case& widest(const std::vector<cases::Case>& cases) {
  return *std::max_element(cases.begin(), cases.end(),
                           [](const cases::Case& a, const cases::Case& b) { return a.ranks < b.ranks; });
}

std::string gpus_text(const Machine& machine) {
  if (machine.gpus.empty()) return "no GPU";
  return machine.gpus.size() == 1 ? "1 GPU (" + machine.gpus[0].name + ")"
                                  : fmt::format("{} GPUs ({})", machine.gpus.size(), machine.gpus[0].name);
}

std::string sentence(std::string text) {
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

bool enough_gpus(const Machine& machine, int ranks) {
  return static_cast<std::size_t>(ranks) <= machine.gpus.size();
}

/// Why nccl cannot run these cases, and what to do; empty if it can.
std::string nccl_problem(const Machine& machine, const std::vector<cases::Case>& cases) {
  const cases::Case& most = widest(cases);
  if (machine.gpus.empty()) return sentence(machine.gpu_problem);
  if (machine.nccl.empty()) return sentence(machine.nccl_problem);
  if (enough_gpus(machine, most.ranks)) return "";
  std::string text = fmt::format(
      "It takes a GPU for each rank: case \"{}\" has {} ranks, and there {} {}.\n"
      "Ranks can share one GPU: --backend cuda.",
      most.name, most.ranks, machine.gpus.size() == 1 ? "is" : "are", gpus_text(machine));
  const auto fits = std::find_if(cases.begin(), cases.end(), [&](const cases::Case& kase) {
    return enough_gpus(machine, kase.ranks) && !kase.hidden;
  });
  if (fits != cases.end()) text += fmt::format(" Or grade one case that fits: --case '{}'.", fits->name);
  return text;
}

BackendChoice refused(Backend wish, const std::string& problem) {
  throw std::runtime_error(
      fmt::format("--backend {} is not possible here. {}\nEverything can be solved on the CPU: "
                  "leave --backend away. ./shardlings doctor shows what is there.",
                  name_of(wish), problem));
}

BackendChoice chosen_automatically(const Machine& machine, const std::vector<cases::Case>& cases,
                                   const world::MpiSurroundings& around) {
  const auto choice = [](Backend backend, const std::string& why) {
    return BackendChoice{backend, fmt::format("auto chose {}: {}", name_of(backend), sentence(why)), ""};
  };
  if (around.is_one_of_many() && !machine.mpi.empty()) {
    return choice(Backend::mpi, fmt::format("{} has started {} processes", around.starter, around.processes));
  }
  if (machine.gpus.empty()) return choice(Backend::cpu, machine.gpu_problem);
  const int ranks = widest(cases).ranks;
  if (!enough_gpus(machine, ranks)) {
    return choice(Backend::cuda, fmt::format("there {} {} for up to {} ranks, which share the first",
                                             machine.gpus.size() == 1 ? "is" : "are", gpus_text(machine), ranks));
  }
  if (ranks == 1) return choice(Backend::cuda, fmt::format("one rank on {}", machine.gpus[0].name));
  if (machine.nccl.empty()) {
    return choice(Backend::cuda, "ranks share one GPU, since NCCL cannot be used: " + machine.nccl_problem);
  }
  return choice(Backend::nccl, fmt::format("{} are enough for up to {} ranks", gpus_text(machine), ranks));
}

}  // namespace

std::optional<Backend> backend_wished(const std::string& word) {
  if (word == "auto") return std::nullopt;
  const std::optional<Backend> backend = world::backend_from(word);
  if (backend && !capabilities_of(*backend).computes) {
    throw std::runtime_error(fmt::format(
        "The backend {} computes nothing, so nothing could be graded: ./shardlings simulate uses it.", word));
  }
  if (backend) return backend;
  throw std::runtime_error(fmt::format("There is no backend \"{}\": it is cpu, cuda, nccl, mpi or auto.", word));
}

BackendChoice choose_backend(std::optional<Backend> wish, const Machine& machine, const std::vector<cases::Case>& cases,
                             const world::MpiSurroundings& around) {
  if (!wish) return chosen_automatically(machine, cases, around);
  if (*wish == Backend::cuda && machine.gpus.empty()) return refused(*wish, sentence(machine.gpu_problem));
  if (*wish == Backend::nccl) {
    const std::string problem = nccl_problem(machine, cases);
    if (!problem.empty()) return refused(*wish, problem);
  }
  if (*wish == Backend::mpi && machine.mpi.empty()) return refused(*wish, sentence(machine.mpi_problem));
  return {*wish, "", ""};
}

BackendChoice choose_backend(const BackendWish& wish, const std::string& probe, const std::vector<cases::Case>& cases) {
  const std::optional<Backend> wished = backend_wished(wish.word);
  BackendChoice choice;
  if (wished != Backend::cpu) {
    const Machine machine = examine_machine(probe);
    choice = choose_backend(wished, machine, cases, wish.around);
    if (choice.backend == Backend::mpi) {
      choice.mpi = to_text(plan_start(machine.mpi, wish.mpi, widest(cases).ranks, wish.around));
    }
  }
  if (choice.backend != Backend::mpi && wish.mpi.any()) {
    throw std::runtime_error(
        fmt::format("-n, --ranks-per-process and --hostfile divide ranks over processes, and the backend is {}: add "
                    "--backend mpi.",
                    name_of(choice.backend)));
  }
  return choice;
}

Machine examine_machine(const std::string& probe) try {
  ProcessOptions options;
  options.program = probe;
  options.environment = gpu_environment("/");
  options.limits.wall_seconds = kProbeSeconds;
  const ProcessEnd end = run_process(options);
  if (!end.started) throw std::runtime_error(end.error);
  if (!end.exited || end.status != 0) throw std::runtime_error("it did not come to its end: " + end.output);
  // A driver may have had something to say before.
  const std::size_t begin = end.output.rfind("\n{");
  return machine_from_json(begin == std::string::npos ? end.output : end.output.substr(begin + 1));
} catch (const std::exception& error) {
  Machine machine;
  machine.gpu_problem = machine.nccl_problem = machine.mpi_problem =
      fmt::format("{} gives no answer: {}", probe, error.what());
  return machine;
}

}  // namespace shardlings::grading::run
