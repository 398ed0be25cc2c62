#include <chrono>
#include <ctime>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/author/stub.h"
#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/system/program.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

namespace fs = std::filesystem;

namespace {

struct ResetOptions {
  std::string puzzle;
};

/// The stub: a handout has it as a file; else from the solution's text or, where that is gone, as git has it.
std::string stub_of(const system::Project& project, const std::string& id) {
  if (const auto stub = read_file(project.stub_file(id))) return *stub;
  if (const auto solution = read_file(project.solution_file(id))) {
    if (const auto stub = author::stub_of_solution(*solution)) return *stub;
  }
  const auto committed =
      system::capture({"git", "-C", project.root, "show", fmt::format("HEAD:puzzles/{}/puzzle.cpp", id)});
  if (committed.status == 0 && committed.output.find("not_implemented();") != std::string::npos) {
    return committed.output;
  }
  throw UsageError("The stub of " + id + " is nowhere to be found: neither below solutions/ nor in git's HEAD.");
}

/// A name below .shardlings/kept that is still free: the same second may see two resets.
std::string free_name(const std::string& folder, const std::string& id) {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  localtime_r(&now, &parts);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y-%m-%d_%H%M%S", &parts);
  std::string path = fmt::format("{}/{}_{}.cpp", folder, id, stamp);
  for (int i = 2; fs::exists(path); ++i) path = fmt::format("{}/{}_{}_{}.cpp", folder, id, stamp, i);
  return path;
}

}  // namespace

/// `reset`: back to the stub; the learner's file is kept beside the progress.
static int reset(const Context& context, const ResetOptions& options) {
  const learner::Course course = learner::load_course(context.project);
  const auto& puzzle = course.find(options.puzzle);
  const std::string stub = stub_of(context.project, puzzle.id);
  const std::string path = context.project.puzzle_file(puzzle.id);
  const auto mine = read_file(path);
  if (mine == stub) {
    context.out << system::shown_path(path) << " is the stub already.\n";
    return kPassed;
  }
  if (mine) {
    const std::string folder = context.project.state() + "/kept";
    fs::create_directories(folder);
    const std::string copy = free_name(folder, puzzle.id);
    write_file_atomically(copy, *mine);
    context.out << "Your file is kept as " << context.paint(report::Role::place, system::shown_path(copy)) << '\n';
  }
  write_file_atomically(path, stub);
  context.out << system::shown_path(path) << " is the stub again.\n";
  return kPassed;
}

void add_reset(CommandLine& line) {
  auto [options, verb] = line.verb<ResetOptions>("reset", "back to the stub; your file is kept", reset);
  verb.required("PUZZLE", options.puzzle, kNamedPuzzleMeaning);
}

}  // namespace shardlings::cli::verbs
