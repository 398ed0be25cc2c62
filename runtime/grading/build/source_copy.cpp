#include "grading/build/source_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string_view>

#include "base/descriptor.h"

namespace shardlings::grading::build {
namespace {

[[noreturn]] void refuse_link(const std::string& path) {
  std::error_code unreadable;
  const std::filesystem::path target = std::filesystem::read_symlink(path, unreadable);
  throw std::runtime_error(
      fmt::format("{} is a symbolic link{}. A link may lead to another file from one moment to the next: give the file "
                  "itself, with --file.",
                  path, unreadable ? "" : fmt::format(" to {}", target.string())));
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

std::string plain_name(const std::string& path) {
  constexpr std::size_t kLongest = 100;
  const std::string name = std::filesystem::path(path).filename().string();
  const bool plain = !name.empty() && name.size() <= kLongest && name[0] != '-' && name[0] != '@' && name[0] != '.' &&
                     name.ends_with(".cpp") && std::all_of(name.begin(), name.end(), [](char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                              std::string_view("._-+ ").find(c) != std::string_view::npos;
                     });
  return plain ? name : "puzzle.cpp";
}

SourceCopy copy_source(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (file.get() < 0) {
    if (errno == ENOENT) throw std::runtime_error(fmt::format("there is no file {}", path));
    if (errno == ELOOP) refuse_link(path);
    if (errno == ENXIO) throw std::runtime_error(fmt::format("{} is a socket or a device, not a file", path));
    throw std::runtime_error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  struct stat facts = {};
  if (fstat(file.get(), &facts) != 0) {
    throw std::runtime_error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  }
  if (!S_ISREG(facts.st_mode)) {
    throw std::runtime_error(
        fmt::format("{} is {}, not a file: give the file with your program", path, kind_of(facts.st_mode)));
  }
  SourceCopy copy{path, plain_name(path), {}};
  char buffer[64 * 1024];
  while (true) {
    const ssize_t n = read(file.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw std::runtime_error(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    if (n == 0) return copy;
    copy.text.append(buffer, static_cast<std::size_t>(n));
    if (static_cast<std::int64_t>(copy.text.size()) > kMostSourceBytes) {
      throw std::runtime_error(
          fmt::format("{} has more than {} KiB, and a puzzle's file needs a few: is it the right one?", path,
                      kMostSourceBytes / 1024));
    }
  }
}

}  // namespace shardlings::grading::build
