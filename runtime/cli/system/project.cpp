#include "cli/system/project.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "cli/error.h"

namespace shardlings::cli::system {

namespace fs = std::filesystem;

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::string cmake_cache_value(const std::string& build, const std::string& name) {
  std::ifstream cache(build + "/CMakeCache.txt");
  for (std::string line; std::getline(cache, line);) {
    if (!line.starts_with(name + ":")) continue;
    const auto equals = line.find('=');
    if (equals != std::string::npos) return line.substr(equals + 1);
  }
  return {};
}

Project find_project(const std::string& program) {
  Project project;
  project.build = environment("SHARDLINGS_BUILD");
  if (project.build.empty()) project.build = fs::path(program).parent_path().parent_path().string();
  project.root = environment("SHARDLINGS_ROOT");
  if (project.root.empty()) project.root = cmake_cache_value(project.build, "CMAKE_HOME_DIRECTORY");
  if (project.root.empty() || !fs::is_directory(project.puzzles())) {
    throw UsageError("I cannot find the puzzles: " + project.build +
                     " was not configured for a folder that has them.\nStart the command as ./shardlings in the "
                     "repository; it sets the build folder up.");
  }
  project.is_handout = fs::exists(project.root + kHandoutFile);
  std::error_code error;
  const std::string here = fs::canonical(project.root, error).string();
  project.is_courses_own = project.is_handout && !error && read_file(project.root + kWrittenHere) == here;
  return project;
}

void refuse_in_handout(const Project& project, const std::string& verb) {
  if (!project.is_handout) return;
  throw UsageError(verb +
                   " is for those who make puzzles and courses. This is a course's repository for its students: "
                   "it has no solutions and no graders' sources.");
}

std::string shown_path(const std::string& path) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (error) return path;
  const std::string relative = fs::path(path).lexically_relative(here).string();
  return relative.empty() || relative.size() >= path.size() ? path : relative;
}

}  // namespace shardlings::cli::system
