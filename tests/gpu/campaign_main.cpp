// gpu_campaign build BUILD_FOLDER SOURCE_FOLDER OUT [LIBRARY]     compiles all solutions and mutants
// gpu_campaign run PACKAGE [--backend B] [--only PART]… [--solutions-only] [--jobs N]
//
// `run` prints a line for each puzzle and backend, and one that says it all, which begins with "= ": a script makes its
// table of those. Without --backend: all that the machine has beside the CPU, or the CPU itself where it has none.
// Without --jobs, as many submissions run at a time as there are processors.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <thread>

#include "base/beside.h"
#include "gpu/campaign.h"
#include "grading/run/backend_choice.h"

namespace shardlings::gpu_tests {
namespace {

using world::Backend;
using world::Machine;

int processors() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

struct Wishes {
  std::string package;
  std::vector<Backend> backends;
  std::vector<std::string> only;
  bool mutants = true;
  int jobs = processors();
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
    } else if (arguments[i] == "--jobs" && has_value) {
      wishes.jobs = std::max(1, std::atoi(arguments[++i].c_str()));
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

/// One submission of a puzzle.
struct Attempt {
  std::string id;
  std::function<Outcome()> grade;
};

std::vector<Attempt> solutions(const Tree& tree, const std::string& id, Backend backend, const Machine& machine) {
  return {{id, [=, &tree, &machine] { return try_solution(tree, id, backend, machine); }}};
}

std::vector<Attempt> mutants(const Tree& tree, const std::string& id, Backend backend, const Machine& machine) {
  std::vector<Attempt> attempts;
  for (const Mutant& mutant : mutants_of(tree, id)) {
    attempts.push_back({id, [=, &tree, &machine] { return try_mutant(tree, id, mutant, backend, machine); }});
  }
  return attempts;
}

Outcome outcome_of(const Attempt& attempt) {
  try {
    return attempt.grade();
  } catch (const std::exception& error) {
    Outcome broken;
    broken.failures.emplace_back(error.what());
    return broken;
  }
}

/// Grades all, and prints a line for each puzzle when its last submission is graded. Returns the sum.
Outcome grade(const std::vector<Attempt>& attempts, const std::string& title, int jobs) {
  struct Puzzle {
    Outcome outcome;
    int left = 0;
  };
  Outcome all;
  std::map<std::string, Puzzle> puzzles;
  for (const Attempt& attempt : attempts) ++puzzles[attempt.id].left;
  std::mutex lock;
  side_by_side(attempts.size(), jobs, [&](std::size_t i) {
    const Outcome outcome = outcome_of(attempts[i]);
    const std::lock_guard guard(lock);
    Puzzle& puzzle = puzzles.at(attempts[i].id);
    add(puzzle.outcome, outcome);
    add(all, outcome);
    if (--puzzle.left == 0) print(fmt::format("{}: {}", title, attempts[i].id), puzzle.outcome);
  });
  return all;
}

using Attempts = std::vector<Attempt> (*)(const Tree&, const std::string&, Backend, const Machine&);

bool campaign(const Wishes& wishes, Backend backend, const Machine& machine, const char* what, Attempts attempts_of) {
  const Tree tree = Tree::of_package(wishes.package);
  std::vector<Attempt> attempts;
  for (const std::string& id : puzzles_of(tree)) {
    if (!is_wanted(wishes, id)) continue;
    const std::vector<Attempt> some = attempts_of(tree, id, backend, machine);
    attempts.insert(attempts.end(), some.begin(), some.end());
  }
  const std::string title = fmt::format("{} on {}", what, name_of(backend));
  Outcome all = grade(attempts, title, wishes.jobs);
  if (attempts.empty()) all.failures.emplace_back("there was nothing to try");
  fmt::print("= {}|{}|{}|{}\n", title, all.passed, all.skipped, all.failures.size());
  return all.failures.empty();
}

/// As several_of_one.cpp tells submissions, so that as many ranks fit.
void make_several_of_one(Machine& machine) {
  const char* wanted = std::getenv("SHARDLINGS_TEST_GPUS");
  if (wanted == nullptr || machine.gpus.empty()) return;
  const auto first = machine.gpus[0];
  machine.gpus.assign(static_cast<std::size_t>(std::max(1, std::atoi(wanted))), first);
}

int run(const Wishes& wishes) {
  Machine machine = grading::run::examine_machine(wishes.package + "/bin/shardlings_gpus");
  make_several_of_one(machine);
  std::vector<Backend> backends = wishes.backends;
  if (backends.empty() && !machine.gpus.empty()) backends.push_back(Backend::cuda);
  if (backends.size() == 1 && machine.gpus.size() > 1 && !machine.nccl.empty() && wishes.backends.empty()) {
    backends.push_back(Backend::nccl);
  }
  if (backends.empty()) backends.push_back(Backend::cpu);
  bool good = true;
  for (const Backend backend : backends) {
    if (capabilities_of(backend).needs_gpu && machine.gpus.empty()) throw std::runtime_error(machine.gpu_problem);
    good = campaign(wishes, backend, machine, "solutions", solutions) && good;
    if (wishes.mutants) good = campaign(wishes, backend, machine, "mutants", mutants) && good;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace shardlings::gpu_tests

int main(int argc, char** argv) try {
  using namespace shardlings::gpu_tests;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if ((arguments.size() == 4 || arguments.size() == 5) && arguments[0] == "build") {
    const std::string library = arguments.size() == 5 ? arguments[4] : "";
    fmt::print("{} submissions built\n",
               build_submissions(arguments[1], arguments[2], arguments[3], library, processors()));
    return 0;
  }
  if (!arguments.empty() && arguments[0] == "run") return run(wishes_of({arguments.begin() + 1, arguments.end()}));
  fmt::print(stderr,
             "usage: gpu_campaign build BUILD_FOLDER SOURCE_FOLDER OUT [LIBRARY] | gpu_campaign run PACKAGE …\n");
  return 2;
} catch (const std::exception& error) {
  fmt::print(stderr, "gpu_campaign: {}\n", error.what());
  return 2;
}
