#include "base/kept_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/descriptor.h"

namespace shardlings {
namespace {

namespace fs = std::filesystem;

/// Removes the folder with the file that locks it, unless somebody works in there.
void remove_unlocked(const fs::path& folder) {
  const std::string path = folder.string() + kLockSuffix;
  const Descriptor lock(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (lock.get() >= 0 && flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return;
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (lock.get() >= 0) fs::remove(path, ignored);
}

}  // namespace

std::string file_stamp(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return path + ": none";
  return fmt::format("{}: {} {}.{}", path, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

void prune_folders(const std::string& folder, std::size_t keep) {
  std::error_code ignored;
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.is_directory(ignored)) found.emplace_back(entry.last_write_time(ignored), entry.path());
  }
  if (found.size() <= keep) return;
  std::sort(found.begin(), found.end());
  for (std::size_t i = 0; i + keep < found.size(); ++i) remove_unlocked(found[i].second);
}

}  // namespace shardlings
