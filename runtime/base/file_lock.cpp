#include "base/file_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace shardlings {
namespace {

/// Whether the path still names the open file: the one who held its lock may have removed it meanwhile.
bool is_still(const std::string& path, const Descriptor& file) {
  struct stat opened = {}, named = {};
  return fstat(file.get(), &opened) == 0 && stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

}  // namespace

FileLock::FileLock(const std::string& path) {
  do {
    file_.reset(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (file_.get() < 0) {
      const int reason = errno;
      const std::string folder = std::filesystem::path(path).parent_path().string();
      throw std::runtime_error(fmt::format("cannot write into {}: {}", folder, std::strerror(reason)));
    }
    if (flock(file_.get(), LOCK_EX | LOCK_NB) == 0) continue;
    waited_ = true;
    while (flock(file_.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
  } while (!is_still(path, file_));
}

}  // namespace shardlings
