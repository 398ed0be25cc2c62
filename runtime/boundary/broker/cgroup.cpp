#include "boundary/broker/cgroup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/descriptor.h"

namespace shardlings::boundary {
namespace {

constexpr std::string_view kPrefix = "shardlings.";  // then the process that made it

bool put(const std::string& file, std::string_view text) {
  const Descriptor descriptor(open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return descriptor.get() >= 0 &&
         write(descriptor.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

/// Of the file systems of type cgroup2; empty if there is none.
std::string where_mounted() {
  std::ifstream mounts("/proc/self/mounts");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string device, folder, type;
    words >> device >> folder >> type;
    if (type == "cgroup2") return folder;
  }
  return "";
}

/// Groups of runs that were killed. Only empty ones can be removed.
void remove_left_behind(const std::string& root) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(root, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    const pid_t owner = std::atoi(name.c_str() + kPrefix.size());
    if (owner > 0 && kill(owner, 0) != 0 && errno == ESRCH) rmdir(entry.path().c_str());
  }
}

}  // namespace

// Below the first group of all, which alone may have both processes and groups with limits.
Cgroup::Cgroup(const CgroupLimits& limits, const std::string& mount) {
  const std::string root = mount.empty() ? where_mounted() : mount;
  if (root.empty() || geteuid() != 0) return;
  remove_left_behind(root);
  const std::string folder = fmt::format("{}/{}{}", root, kPrefix, getpid());
  if (mkdir(folder.c_str(), S_IRWXU) != 0) return;
  const std::string memory = limits.memory_bytes > 0 ? std::to_string(limits.memory_bytes) : "max";
  const bool limited =
      put(folder + "/memory.max", memory) && put(folder + "/pids.max", std::to_string(limits.processes));
  if (!limited) {
    rmdir(folder.c_str());
    return;
  }
  put(folder + "/memory.swap.max", "0");  // where there is swap
  folder_ = folder;
  processes_ = folder + "/cgroup.procs";
}

Cgroup::~Cgroup() {
  if (!valid()) return;
  put(folder_ + "/cgroup.kill", "1");
  // It can be removed once the last of them is gone, which takes the system a moment.
  constexpr int kAttempts = 200;
  for (int i = 0; i < kAttempts && rmdir(folder_.c_str()) != 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool Cgroup::enter() const {
  const int file = open(processes_.c_str(), O_WRONLY | O_CLOEXEC);
  const bool entered = file >= 0 && write(file, "0", 1) == 1;
  if (file >= 0) close(file);
  return entered;
}

}  // namespace shardlings::boundary
