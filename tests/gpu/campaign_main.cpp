// gpu_campaign build BUILD_FOLDER SOURCE_FOLDER OUT     compiles all solutions and mutants
// gpu_campaign run PACKAGE [--backend B] [--only PART]… [--solutions-only]
//
// `run` prints a line for each puzzle and backend, and one that says it all, which begins with "= ": a script makes its
// table of those. Without --backend: all that the machine has beside the CPU, or the CPU itself where it has none.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <set>
#include <string_view>

#include "gpu/campaign.h"
#include "grading/run/backend_choice.h"

namespace shardlings::gpu_tests {
namespace {

using world::Backend;
using world::Machine;

struct Wishes {
  std::string package;
  std::vector<Backend> backends;
  std::vector<std::string> only;
  bool mutants = true;
};

Wishes wishes_of(const std::vector<std::string>& arguments) {
  Wishes wishes;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool has_value = i + 1 < arguments.size();
    if (arguments[i] == "--solutions-only") {
      wishes.mutants = false;
    } else if (arguments[i] == "--backend" && has_value) {
      const auto backend = grading::run::backend_wished(arguments[++i]);
      if (backend) wishes.backends.push_back(*backend);
    } else if (arguments[i] == "--only" && has_value) {
      wishes.only.push_back(arguments[++i]);
    } else if (wishes.package.empty() && !arguments[i].starts_with("-")) {
      wishes.package = arguments[i];
    } else {
      throw std::runtime_error("unknown argument " + arguments[i]);
    }
  }
  if (wishes.package.empty()) throw std::runtime_error("usage: gpu_campaign run PACKAGE [--backend B] [--only PART]");
  return wishes;
}

bool is_wanted(const Wishes& wishes, const std::string& id) {
  return wishes.only.empty() || std::any_of(wishes.only.begin(), wishes.only.end(), [&](const std::string& part) {
           return id.find(part) != std::string::npos;
         });
}

void add(Outcome& sum, const Outcome& part) {
  sum.passed += part.passed;
  sum.skipped += part.skipped;
  sum.failures.insert(sum.failures.end(), part.failures.begin(), part.failures.end());
  sum.skips.insert(sum.skips.end(), part.skips.begin(), part.skips.end());
}

void print(const std::string& name, const Outcome& outcome) {
  fmt::print("{:<44} {:>4} passed {:>4} skipped {:>4} failed\n", name, outcome.passed, outcome.skipped,
             outcome.failures.size());
  for (const std::string& text : outcome.failures) fmt::print("    {}\n", text);
  for (const std::string& text : std::set<std::string>(outcome.skips.begin(), outcome.skips.end())) {
    fmt::print("    skipped: {}\n", text);
  }
  std::fflush(stdout);
}

using Try = Outcome (*)(const Tree&, const std::string&, Backend, const Machine&);

bool campaign(const Wishes& wishes, Backend backend, const Machine& machine, const char* what, Try attempt) {
  const Tree tree = Tree::of_package(wishes.package);
  Outcome all;
  for (const std::string& id : puzzles_of(tree)) {
    if (!is_wanted(wishes, id)) continue;
    Outcome outcome;
    try {
      outcome = attempt(tree, id, backend, machine);
    } catch (const std::exception& error) {
      outcome.failures.push_back(error.what());
    }
    print(fmt::format("{} on {}: {}", what, name_of(backend), id), outcome);
    add(all, outcome);
  }
  if (all.passed + all.skipped == 0 && all.failures.empty()) all.failures.push_back("there was nothing to try");
  fmt::print("= {} on {}|{}|{}|{}\n", what, name_of(backend), all.passed, all.skipped, all.failures.size());
  return all.failures.empty();
}

int run(const Wishes& wishes) {
  const Machine machine = grading::run::examine_machine(wishes.package + "/bin/shardlings_gpus");
  std::vector<Backend> backends = wishes.backends;
  if (backends.empty() && !machine.gpus.empty()) backends.push_back(Backend::cuda);
  if (backends.size() == 1 && machine.gpus.size() > 1 && !machine.nccl.empty() && wishes.backends.empty()) {
    backends.push_back(Backend::nccl);
  }
  if (backends.empty()) backends.push_back(Backend::cpu);
  bool good = true;
  for (const Backend backend : backends) {
    if (capabilities_of(backend).needs_gpu && machine.gpus.empty()) throw std::runtime_error(machine.gpu_problem);
    good = campaign(wishes, backend, machine, "solutions", try_solution) && good;
    if (wishes.mutants) good = campaign(wishes, backend, machine, "mutants", try_mutants) && good;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace shardlings::gpu_tests

int main(int argc, char** argv) try {
  using namespace shardlings::gpu_tests;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 4 && arguments[0] == "build") {
    fmt::print("{} submissions built\n", build_submissions(arguments[1], arguments[2], arguments[3]));
    return 0;
  }
  if (!arguments.empty() && arguments[0] == "run") return run(wishes_of({arguments.begin() + 1, arguments.end()}));
  fmt::print(stderr, "usage: gpu_campaign build BUILD_FOLDER SOURCE_FOLDER OUT | gpu_campaign run PACKAGE …\n");
  return 2;
} catch (const std::exception& error) {
  fmt::print(stderr, "gpu_campaign: {}\n", error.what());
  return 2;
}
