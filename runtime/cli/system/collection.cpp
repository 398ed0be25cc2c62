#include "cli/system/collection.h"

#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "base/file.h"
#include "base/file_lock.h"
#include "base/machine_fault.h"
#include "cli/error.h"
#include "cli/system/program.h"

namespace shardlings::cli::system {

namespace fs = std::filesystem;

namespace {

constexpr const char* kCache = "SHARDLINGS_COLLECTIONS";

/// Two of a name would be one target of the build.
void check_names(const Project& project) {
  for (const auto& entry : fs::directory_iterator(project.puzzles())) {
    const std::string id = entry.path().filename().string();
    if (!fs::exists(project.root + "/puzzles/" + id)) continue;
    throw UsageError(fmt::format("--collection {}: the repository has a puzzle {}, too. Give yours another name.",
                                 project.collection, id));
  }
}

/// As above, among all collections that the build has: the second one's files would be judged by the first one's
/// grader.
void check_other_collections(const Project& project) {
  std::istringstream list(cmake_cache_value(project.build, kCache));
  for (std::string other; std::getline(list, other, ';');) {
    if (other.empty() || other == project.collection) continue;
    for (const auto& entry : fs::directory_iterator(project.puzzles())) {
      const std::string id = entry.path().filename().string();
      if (!fs::exists(other + "/puzzles/" + id)) continue;
      throw UsageError(fmt::format(
          "--collection {}: the collection {}, which is built here, has a puzzle {}, too. Give yours another "
          "name, or take the other one out of the build: cmake -D{}= {}",
          project.collection, other, id, kCache, shown_path(project.build)));
    }
  }
}

bool is_listed(const std::string& list, const std::string& folder) {
  return (";" + list + ";").find(";" + folder + ";") != std::string::npos;
}

/// Runs a part of the build, its words into the log. Returns whether it succeeded.
bool run_logged(const std::string& log, const std::string& command) {
  return capture({"/bin/sh", "-c", fmt::format("{} >> '{}' 2>&1 < /dev/null", command, log)}).status == 0;
}

void build(const Project& project, const std::function<void(const std::string&)>& say) {
  const std::string log = build_log_of(project);
  const FileLock lock(project.build + "/.collection.lock");
  const std::string list = cmake_cache_value(project.build, kCache);  // another command may have added to it meanwhile
  write_file_atomically(log, "", Outlives::kill);
  if (!is_listed(list, project.collection)) {
    say("adding the collection to the build");
    const std::string lists = list.empty() ? project.collection : list + ";" + project.collection;
    if (!run_logged(log, fmt::format("cmake '-D{}={}' '{}'", kCache, lists, project.build))) {
      throw MachineFault(fmt::format("CMake failed; its words are in {}.", shown_path(log)));
    }
  }
  say("building the collection");
  run_logged(log, fmt::format("cmake --build '{}' --target collections -- -k 0", project.build));
}

}  // namespace

std::string build_log_of(const Project& project) {
  return project.build + (project.collection.empty() ? "/build.log" : "/collection.log");
}

Project with_collection(Project project, const std::string& folder, Prepare prepare,
                        const std::function<void(const std::string&)>& say) {
  refuse_in_handout(project, "--collection");
  const fs::path path = fs::absolute(folder).lexically_normal();
  project.collection = (path.has_filename() ? path : path.parent_path()).string();
  if (project.collection.find_first_of("';\"$\\") != std::string::npos) {
    throw UsageError(fmt::format("--collection {}: quotes, semicolons, $ and backslashes confuse CMake.", folder));
  }
  if (prepare == Prepare::make) fs::create_directories(project.puzzles());
  if (!fs::is_directory(project.puzzles())) {
    throw UsageError(
        fmt::format("--collection {0}: it has no folder puzzles. Begin one with ./shardlings new 50_my_puzzle "
                    "--collection {0}",
                    folder));
  }
  check_names(project);
  check_other_collections(project);
  const bool is_built_here = !cmake_cache_value(project.build, "CMAKE_HOME_DIRECTORY").empty();
  if (prepare == Prepare::build && is_built_here) build(project, say);
  return project;
}

}  // namespace shardlings::cli::system
