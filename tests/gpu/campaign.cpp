#include "gpu/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/beside.h"
#include "case/manifest.h"
#include "cli/author/variant_file.h"
#include "gpu/alike.h"
#include "grading/build/build_submission.h"
#include "grading/build/toolchain.h"
#include "grading/judge/grader_options.h"
#include "grading/run/process.h"

namespace shardlings::gpu_tests {
namespace {

namespace fs = std::filesystem;
using grading::verdict::Verdict;
using world::Backend;

constexpr const char* kSolution = "solution";
constexpr double kWallSeconds = 900;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Names of what lies in a folder, in order.
std::vector<std::string> entries(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// The puzzle's wrong solutions, by what lies in the folder of solutions.
cli::author::VariantFile variants_of(const std::string& solutions, const std::string& id) {
  const std::string file = solutions + "/" + id + "/mutants.txt";
  cli::author::VariantFile mutants = cli::author::parse_variants(text_of(file), file);
  if (!mutants.problems.empty()) throw std::runtime_error(mutants.problems[0]);
  return mutants;
}

/// What a submission is to be built from.
struct Source {
  std::string id, name, text, harness;
};

/// The solution and all mutants of a puzzle.
void add_sources(std::vector<Source>& sources, const std::string& source_folder, const std::string& id) {
  const std::string solutions = source_folder + "/solutions",
                    harness = source_folder + "/puzzles/" + id + "/harness.cpp";
  const std::string solution = text_of(fs::path(solutions) / id / "solution.cpp");
  sources.push_back({id, kSolution, solution, harness});
  for (const cli::author::Variant& mutant : variants_of(solutions, id).variants) {
    sources.push_back({id, mutant.name, applied(mutant, solution), harness});
  }
}

/// Leaves the program alone in the folder.
void build(const grading::build::Toolchain& toolchain, const Source& source, const fs::path& folder) {
  fs::create_directories(folder);
  const fs::path file = folder / (source.name + ".cpp");
  std::ofstream(file, std::ios::binary) << source.text;
  const auto outcome = build_submission(toolchain, source.id, file.string(), source.harness, folder.string());
  if (!outcome.built) throw std::runtime_error(fmt::format("{} does not build:\n{}", file.string(), outcome.log));
  for (const fs::path& rest : {folder / "puzzle.o", folder / "puzzle.d", file}) fs::remove(rest);
}

/// A folder for one run, which is removed with all that it holds.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "shardlings-gpu-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder can be made: " + name);
    folder_ = name;
  }
  ~Scratch() {
    std::error_code none;
    fs::remove_all(folder_, none);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] std::string file(const char* name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_;
};

/// "case '4 ranks', output: expected …, found …" of the first check that failed.
std::string first_failure(const Verdict& verdict) {
  for (const auto& kase : verdict.cases) {
    for (const auto& check : kase.checks) {
      if (check.passed != false) continue;
      return fmt::format("case '{}', {}: expected {}, found {}", kase.kase.name, check.id, check.expected, check.found);
    }
  }
  return name_of(verdict.status);
}

Verdict only_case(const Verdict& verdict, const std::string& name) {
  Verdict one = verdict;
  std::erase_if(one.cases, [&](const auto& kase) { return kase.kase.name != name; });
  return one;
}

/// All cases at once where all fit, else those that do, one by one.
std::vector<std::string> portions(const Tree& tree, const std::string& id, Backend backend,
                                  const world::Machine& machine) {
  std::vector<std::string> fitting = cases_that_fit(tree, id, backend, machine);
  const auto all = cases::load_manifest(tree.puzzles + "/" + id, tree.clusters).cases.size();
  if (fitting.size() == all) fitting = {""};
  return fitting;
}

void skip(Outcome& outcome, const std::string& why) {
  ++outcome.skipped;
  outcome.skips.push_back(why);
}

std::string no_case_fits(const world::Machine& machine) {
  return fmt::format("every case has more ranks than there are GPUs ({})", machine.gpus.size());
}

}  // namespace

Tree Tree::of_package(const std::string& folder) {
  return {folder + "/graders", folder + "/submissions", folder + "/puzzles", folder + "/solutions",
          folder + "/clusters"};
}

std::size_t build_submissions(const std::string& build_folder, const std::string& source_folder,
                              const std::string& folder, const std::string& library, int jobs) {
  grading::build::Toolchain toolchain = grading::build::load_toolchain(build_folder);
  if (!library.empty()) {
    const std::vector<std::string> first = {"-Wl,--no-as-needed", library, "-Wl,--as-needed"};
    toolchain.link_flags.insert(toolchain.link_flags.begin(), first.begin(), first.end());
  }
  toolchain.link_flags.emplace_back("-Wl,-rpath,$ORIGIN/../../../lib");
  std::vector<Source> sources;
  for (const auto& [id, puzzle] : toolchain.puzzles) add_sources(sources, source_folder, id);
  std::vector<std::string> errors(sources.size());
  side_by_side(sources.size(), jobs, [&](std::size_t i) {
    try {
      build(toolchain, sources[i], fs::path(folder) / sources[i].id / sources[i].name);
    } catch (const std::exception& error) {
      errors[i] = error.what();
    }
  });
  for (const std::string& error : errors) {
    if (!error.empty()) throw std::runtime_error(error);
  }
  return sources.size();
}

std::vector<std::string> puzzles_of(const Tree& tree) {
  return entries(tree.submissions);
}

Verdict graded(const Tree& tree, const std::string& id, const std::string& name, Backend backend,
               const std::string& case_name) {
  const Scratch scratch;
  grading::judge::GraderOptions options;
  options.submission = (fs::path(tree.submissions) / id / name / "submission").string();
  options.manifest = (fs::path(tree.puzzles) / id).string();
  options.clusters = tree.clusters;
  options.verdict = scratch.file("verdict.json");
  options.traces = scratch.file("traces.bin");
  if (!case_name.empty()) options.case_names = {case_name};
  options.backend = backend;
  grading::run::ProcessOptions process;
  process.program = tree.graders + "/grader_" + id;
  process.arguments = to_arguments(options);
  process.environment = grading::run::gpu_environment("/");
  process.limits.wall_seconds = kWallSeconds;
  const grading::run::ProcessEnd end = grading::run::run_process(process);
  if (!fs::exists(options.verdict)) {
    throw std::runtime_error(fmt::format("{} broke: {}{}", process.program, end.error, end.output));
  }
  Verdict verdict = grading::verdict::verdict_from_json(text_of(options.verdict));
  if (fs::exists(options.traces)) read_traces(verdict, options.traces);
  return verdict;
}

std::vector<std::string> cases_that_fit(const Tree& tree, const std::string& id, Backend backend,
                                        const world::Machine& machine) {
  std::vector<std::string> names;
  for (const auto& kase : cases::load_manifest(tree.puzzles + "/" + id, tree.clusters).cases) {
    const bool fits =
        !capabilities_of(backend).gpu_per_rank || static_cast<std::size_t>(kase.ranks) <= machine.gpus.size();
    if (fits) names.push_back(kase.name);
  }
  return names;
}

Outcome try_solution(const Tree& tree, const std::string& id, Backend backend, const world::Machine& machine) {
  Outcome outcome;
  const std::vector<std::string> parts = portions(tree, id, backend, machine);
  if (parts.empty()) skip(outcome, no_case_fits(machine));
  const Verdict reference = graded(tree, id, kSolution, Backend::cpu);
  for (const std::string& part : parts) {
    const Verdict verdict = graded(tree, id, kSolution, backend, part);
    const auto unlike = gpu_tests::differences(part.empty() ? reference : only_case(reference, part), verdict);
    if (!verdict.passed) outcome.failures.push_back(fmt::format("{}: {}", id, first_failure(verdict)));
    for (const std::string& text : unlike) outcome.failures.push_back(fmt::format("{}: {}", id, text));
    if (verdict.passed && unlike.empty()) ++outcome.passed;
  }
  return outcome;
}

std::vector<Mutant> mutants_of(const Tree& tree, const std::string& id) {
  std::vector<Mutant> mutants;
  for (const auto& variant : variants_of(tree.solutions, id).variants) {
    mutants.push_back({variant.name, variant.diagnosis});
  }
  return mutants;
}

Outcome try_mutant(const Tree& tree, const std::string& id, const Mutant& mutant, Backend backend,
                   const world::Machine& machine) {
  Outcome outcome;
  // With some cases left out, a mutant that only those catch would pass.
  if (portions(tree, id, backend, machine) != std::vector<std::string>{""}) {
    skip(outcome, fmt::format("some case has more ranks than there are GPUs ({})", machine.gpus.size()));
    return outcome;
  }
  const Verdict verdict = graded(tree, id, mutant.name, backend);
  const std::string found = verdict.diagnoses.empty() ? "nothing" : verdict.diagnoses[0];
  if (!verdict.passed && found == mutant.diagnosis) {
    ++outcome.passed;
  } else {
    outcome.failures.push_back(fmt::format("{}/{}: {}, diagnosed {}, declared {}", id, mutant.name,
                                           verdict.passed ? "passes" : "fails", found, mutant.diagnosis));
  }
  return outcome;
}

}  // namespace shardlings::gpu_tests
