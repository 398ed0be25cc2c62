#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "base/descriptor.h"

namespace shardlings {
namespace {

namespace fs = std::filesystem;

/// Where the process writes what is to become this file.
std::string name_while_written(const std::string& path, pid_t process) {
  return fmt::format("{}.{}.new", path, process);
}

/// The process whose half-written file that is; 0 if it is none of this path.
pid_t writer_of(const std::string& file, const std::string& path) {
  if (!file.starts_with(path + ".")) return 0;
  const pid_t process = std::atoi(file.c_str() + path.size() + 1);
  return process > 0 && file == name_while_written(path, process) ? process : 0;
}

bool write_new_file(const std::string& path, std::string_view content, Outlives outlives) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.get() < 0 || !write_all(file.get(), content)) return false;
  // Without the fsync, a power cut could leave the new name with no content.
  return outlives == Outlives::kill || fsync(file.get()) == 0;
}

std::optional<std::string> read_to_end(int file) {
  std::string content;
  struct stat known {};
  if (fstat(file, &known) == 0) content.reserve(static_cast<std::size_t>(known.st_size) + 1);
  std::array<char, 65536> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init): read() fills it
  for (;;) {
    const ssize_t got = read(file, piece.data(), piece.size());
    if (got == 0) return content;
    if (got < 0 && errno != EINTR) return std::nullopt;
    if (got > 0) content.append(piece.data(), static_cast<std::size_t>(got));
  }
}

/// The descriptor of this process that the path is a name of, such as /dev/stdout; -1 if it is none.
int descriptor_named(const std::string& path) {
  const std::string whole = fs::absolute(path).lexically_normal().string();
  if (whole == "/dev/stdout") return STDOUT_FILENO;
  if (whole == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!whole.starts_with(folder)) continue;
    int number = -1;
    const char* end = whole.data() + whole.size();
    const auto [rest, error] = std::from_chars(whole.data() + folder.size(), end, number);
    if (error == std::errc() && rest == end) return number;
  }
  return -1;
}

/// A terminal, a pipe or a device stands there, as with /dev/null: it is written to, since a file in its place would
/// take it from the whole machine. So is what a descriptor leads to, also where that is a file.
bool takes_bytes(const std::string& path) {
  struct stat about {};
  if (descriptor_named(path) >= 0) return true;
  return stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode);
}

/// Throws the reason, in words.
void write_to_what_is_there(const std::string& path, std::string_view content) {
  struct stat about {};
  if (stat(path.c_str(), &about) == 0 && S_ISBLK(about.st_mode)) throw std::runtime_error("it is a disk");
  // What a descriptor leads to goes on where its last byte was written. Everything else is opened: a pipe from which
  // nobody reads would be waited for without end.
  const int named = descriptor_named(path);
  const Descriptor there(named >= 0 ? fcntl(named, F_DUPFD_CLOEXEC, 0)
                                    : open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (there.get() < 0 && errno == ENXIO) throw std::runtime_error("nobody reads from it");
  if (there.get() >= 0 && named < 0) fcntl(there.get(), F_SETFL, fcntl(there.get(), F_GETFL) & ~O_NONBLOCK);
  if (there.get() < 0 || !write_all(there.get(), content)) throw std::runtime_error(std::strerror(errno));
}

std::string why_not_written(const std::string& path, int reason) {
  const fs::path folder = fs::path(path).parent_path();
  std::error_code ignored;
  const bool is_missing = reason == ENOENT && !folder.empty() && !fs::exists(folder, ignored);
  return is_missing ? fmt::format("there is no folder {}.", folder.string()) : std::strerror(reason);
}

}  // namespace

std::optional<std::string> read_file(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return std::nullopt;
  return read_to_end(file.get());
}

std::string read_whole_file(const std::string& path) {
  errno = 0;
  auto content = read_file(path);
  if (content) return *std::move(content);
  throw std::runtime_error(
      fmt::format("cannot read {}{}{}", path, errno != 0 ? ": " : "", errno != 0 ? std::strerror(errno) : ""));
}

void write_file_atomically(const std::string& path, std::string_view content, Outlives outlives) {
  if (takes_bytes(path)) {
    try {
      return write_to_what_is_there(path, content);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("cannot write {}: {}", path, error.what()));
    }
  }
  const std::string temporary = name_while_written(path, getpid());
  if (!write_new_file(temporary, content, outlives) || rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    unlink(temporary.c_str());
    throw std::runtime_error(fmt::format("cannot write {}: {}", path, why_not_written(path, reason)));
  }
  if (outlives == Outlives::kill) return;
  // The rename itself is safe only once the folder is on disk, too.
  const Descriptor folder(open(fs::path(path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) fsync(folder.get());
}

void remove_leftovers(const std::string& path) {
  const fs::path whole = fs::absolute(path);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(whole.parent_path(), ignored)) {
    const pid_t writer = writer_of(entry.path().filename().string(), whole.filename().string());
    // Signal 0 is none: it only asks whether the process is there.
    const bool is_gone = writer == getpid() || (writer > 0 && kill(writer, 0) != 0 && errno == ESRCH);
    if (is_gone) fs::remove(entry.path(), ignored);
  }
}

}  // namespace shardlings
