#include "grading/verdict/grade_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

namespace shardlings::grading::verdict {

std::string file_stamp(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return path + ": none";
  return fmt::format("{}: {} {}.{}", path, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

FileLock::FileLock(const std::string& path) : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
  if (file_ < 0) throw std::runtime_error(fmt::format("cannot make {}: {}", path, std::strerror(errno)));
  if (flock(file_, LOCK_EX | LOCK_NB) == 0) return;
  waited_ = true;
  while (flock(file_, LOCK_EX) != 0 && errno == EINTR) {
  }
}

FileLock::~FileLock() {
  ::close(file_);
}

void prune_folders(const std::string& folder, std::size_t keep) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.is_directory(ignored)) found.emplace_back(entry.last_write_time(ignored), entry.path());
  }
  if (found.size() <= keep) return;
  std::sort(found.begin(), found.end());
  for (std::size_t i = 0; i + keep < found.size(); ++i) fs::remove_all(found[i].second, ignored);
}

}  // namespace shardlings::grading::verdict
