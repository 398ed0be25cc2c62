#include "cli/system/unfinished_build.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

namespace shardlings::cli::system {

namespace {

/// Written by CMake when all is there that a run of it needs (Puzzles.cmake).
bool is_built(const Project& project, const std::string& id) {
  return std::filesystem::exists(project.build + "/puzzles/" + id + ".built");
}

}  // namespace

bool is_being_built(const std::string& build) {
  const int lock = open((build + "/.lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (lock < 0) return false;
  const bool is_held = flock(lock, LOCK_SH | LOCK_NB) != 0;
  close(lock);
  return is_held;
}

bool is_first_built(const std::string& build) {
  return is_being_built(build) && !std::filesystem::exists(build + "/.built");  // the start script's stamp
}

void wait_until_built(const Project& project, const std::string& id,
                      const std::function<void(const std::string&)>& say) {
  while (!is_built(project, id) && is_being_built(project.build)) {
    say("this puzzle is still being built, which happens only once");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace shardlings::cli::system
