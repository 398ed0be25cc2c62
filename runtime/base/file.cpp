#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace shardlings {
namespace {

namespace fs = std::filesystem;

/// A descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(fd, content.data(), content.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

bool write_new_file(const std::string& path, std::string_view content, Outlives outlives) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.get() < 0 || !write_all(file.get(), content)) return false;
  // Without the fsync, a power cut could leave the new name with no content.
  return outlives == Outlives::kill || fsync(file.get()) == 0;
}

}  // namespace

std::optional<std::string> read_file(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string read_whole_file(const std::string& path) {
  errno = 0;
  auto content = read_file(path);
  if (content) return *std::move(content);
  throw std::runtime_error(
      fmt::format("cannot read {}{}{}", path, errno != 0 ? ": " : "", errno != 0 ? std::strerror(errno) : ""));
}

void write_file_atomically(const std::string& path, std::string_view content, Outlives outlives) {
  const std::string temporary = fmt::format("{}.{}.new", path, getpid());
  if (!write_new_file(temporary, content, outlives) || rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    unlink(temporary.c_str());
    throw std::runtime_error(fmt::format("cannot write {}: {}", path, std::strerror(reason)));
  }
  if (outlives == Outlives::kill) return;
  // The rename itself is safe only once the folder is on disk, too.
  const Descriptor folder(open(fs::path(path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) fsync(folder.get());
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace shardlings
