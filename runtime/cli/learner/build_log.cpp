#include "cli/learner/build_log.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <istream>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "cli/system/collection.h"
#include "grading/build/toolchain.h"

namespace shardlings::cli::learner {

namespace fs = std::filesystem;

namespace {

/// "../puzzles/09_data_parallel/grader.cpp", as seen from the build folder, as a person in the repository names it.
std::string named_from_root(const std::string& file, const system::Project& project) {
  const fs::path absolute = (fs::path(project.build) / file).lexically_normal();
  const fs::path relative = absolute.lexically_relative(project.root);
  return relative.empty() || *relative.begin() == ".." ? absolute.string() : relative.string();
}

/// "grader.cpp:12:3: error: …" with the file's name from the repository; empty if the line is no such one.
std::string error_in(const std::string& line, const system::Project& project) {
  const std::size_t place = length_of_place(line);
  if (place == 0) return "";
  const std::string_view words = std::string_view(line).substr(place);
  if (!words.starts_with("error: ") && !words.starts_with("fatal error: ")) return "";
  const std::size_t name = line.find(':');
  return named_from_root(line.substr(0, name), project) + line.substr(name);
}

/// The part of a puzzle that "FAILED: CMakeFiles/grader_09_data_parallel.dir/…" names, or the program itself,
/// "FAILED: graders/grader_09_data_parallel".
std::optional<BuildFailure> part_in(const std::string& line) {
  for (const std::string part : {"harness", "grader"}) {
    for (const char before : {'/', ' '}) {
      const std::string words = before + part + '_';
      const std::size_t at = line.find(words);
      if (at == std::string::npos) continue;
      const std::string id = line.substr(at + words.size());
      return BuildFailure{id.substr(0, id.find_first_of("./ ")), part, ""};
    }
  }
  return std::nullopt;
}

/// Reads the words of the build about one failure: between "FAILED: …" and the next step.
class Reader {
 public:
  explicit Reader(const system::Project& project) : project_(project) {}

  void read(const std::string& line) {
    if (line.starts_with("FAILED:")) {
      const std::optional<BuildFailure> failure = part_in(line);
      inside_ = failure.has_value();
      if (inside_) failures_.push_back(*failure);
      lines_ = 0;
    } else if (line.starts_with("[") || line.starts_with("ninja: ")) {
      inside_ = false;
    } else if (inside_) {
      word(line);
    }
  }

  std::vector<BuildFailure> failures() && { return std::move(failures_); }

 private:
  /// The command is the first line; what follows is what it said.
  void word(const std::string& line) {
    std::string& reason = failures_.back().reason;
    if (++lines_ == 1 || explained_by_compiler()) return;
    if (const std::string error = error_in(line, project_); !error.empty()) {
      reason = error;
    } else if (reason.empty() && !line.ends_with(':') && !line.ends_with(',')) {  // not "in function …:"
      reason = line;
    }
  }
  bool explained_by_compiler() const { return failures_.back().reason.find(" error: ") != std::string::npos; }

  const system::Project& project_;
  std::vector<BuildFailure> failures_;
  bool inside_ = false;
  int lines_ = 0;
};

/// It is there and younger than the log.
bool was_built_since(const std::string& part, fs::file_time_type log) {
  std::error_code error;
  const auto time = fs::last_write_time(part, error);
  return !error && time > log;
}

}  // namespace

std::vector<BuildFailure> failures_in(std::istream& log, const system::Project& project) {
  Reader reader(project);
  for (std::string line; std::getline(log, line);) reader.read(line);
  return std::move(reader).failures();
}

std::vector<BuildFailure> build_failures(const system::Project& project) {
  const std::string path = system::build_log_of(project);
  std::ifstream log(path, std::ios::binary);
  if (!log) return {};
  std::vector<BuildFailure> failures = failures_in(log, project);
  if (failures.empty()) return {};
  const grading::build::Toolchain toolchain = grading::build::load_toolchain(project.build);
  const auto time = fs::last_write_time(path);
  std::erase_if(failures, [&](const BuildFailure& failure) {
    const auto puzzle = toolchain.puzzles.find(failure.id);
    if (puzzle == toolchain.puzzles.end()) return true;  // gone since
    return was_built_since(failure.part == "grader" ? puzzle->second.grader : puzzle->second.harness, time);
  });
  return failures;
}

}  // namespace shardlings::cli::learner
