#include "cli/kit/autograder.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/author/stub.h"
#include "cli/kit/parts.h"
#include "cli/kit/platform.h"
#include "cli/kit/tree.h"
#include "cli/submissions/archive.h"

namespace shardlings::cli::kit {

namespace fs = std::filesystem;

namespace {

/// What the grading side reads of the repository beside puzzles and parts.
constexpr const char* kFolders[] = {"runtime/include/shardlings", "runtime/front/clock/clusters"};

/// A folder that is gone at the end.
class Scratch {
 public:
  explicit Scratch(std::string path) : path_(std::move(path)) { fs::remove_all(path_); }
  ~Scratch() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// What run_autograder gives to the command.
std::string arguments_of(const Autograder& autograder) {
  std::string arguments;
  if (!autograder.secret.empty()) arguments += " --seed-file \"$base/source/secret\"";
  for (const std::string& level : autograder.feedback) arguments += " --feedback " + quoted_for_shell(level);
  if (autograder.trust) arguments += " --trust";
  return arguments;
}

std::string with_arguments(std::string text, const std::string& arguments) {
  const std::string mark = " @ARGUMENTS@";
  if (const auto at = text.find(mark); at != std::string::npos) text.replace(at, mark.size(), arguments);
  return text;
}

}  // namespace

void write_autograder(const system::Project& project, const Autograder& autograder, const std::string& zip) {
  const Scratch scratch(zip + ".folder");
  Tree tree(scratch.path(), ".written");
  const std::string from = project.kit_template() + "/gradescope/";
  tree.write_program("setup.sh", read_whole_file(from + "setup.sh"));
  tree.write_program("run_autograder",
                     with_arguments(read_whole_file(from + "run_autograder"), arguments_of(autograder)));
  if (!autograder.secret.empty()) tree.write("secret", autograder.secret);
  for (const char* folder : kFolders) tree.copy(project.root + "/" + folder, std::string("shardlings/") + folder);
  std::vector<std::string> ids;
  for (const cases::Manifest& puzzle : autograder.puzzles) {
    ids.push_back(puzzle.id);
    const std::string to = "shardlings/puzzles/" + puzzle.id + "/";
    for (const char* name : {"puzzle.toml", "harness.cpp"}) tree.copy(puzzle.folder + "/" + name, to + name);
    // Its place tells that the grader is a program here (cases::load_puzzles).
    const auto solution = read_file(project.solution_file(puzzle.id));
    const auto stub = solution ? author::stub_of_solution(*solution) : std::nullopt;
    tree.write(to + "stub.cpp", stub.value_or(""));
  }
  write_parts(project, ids, fmt::format("{}/shardlings/prebuilt/{}", scratch.path(), platform()));
  submissions::pack(scratch.path(), zip);
}

}  // namespace shardlings::cli::kit
