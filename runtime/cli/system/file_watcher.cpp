#include "cli/system/file_watcher.h"

#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

namespace shardlings::cli::system {

FileWatcher::FileWatcher(std::string path, bool use_inotify) : path_(std::move(path)) {
  folder_ = std::filesystem::path(path_).parent_path().string();
  name_ = std::filesystem::path(path_).filename().string();
  if (use_inotify) inotify_ = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  add_watch();
  seen_ = look();
}

FileWatcher::~FileWatcher() {
  if (inotify_ >= 0) close(inotify_);
}

void FileWatcher::add_watch() {
  if (inotify_ < 0) return;
  constexpr std::uint32_t kSaves = IN_CLOSE_WRITE | IN_MOVED_TO;
  if (inotify_add_watch(inotify_, folder_.c_str(), kSaves) >= 0) return;
  close(inotify_);
  inotify_ = -1;
}

FileWatcher::Signature FileWatcher::look() const {
  struct stat status {};
  if (stat(path_.c_str(), &status) != 0) return {};
  return {status.st_ino, status.st_size, status.st_mtim.tv_sec * std::int64_t{1'000'000'000} + status.st_mtim.tv_nsec};
}

/// Whether one of the events was a save of the file.
bool FileWatcher::take_events() {
  if (inotify_ < 0) return false;
  bool saved = false, lost = false;
  alignas(inotify_event) char buffer[4096];
  for (ssize_t got; (got = read(inotify_, buffer, sizeof buffer)) > 0;) {
    for (const char* at = buffer; at < buffer + got;) {
      inotify_event event;
      std::memcpy(&event, at, sizeof event);
      saved = saved || (event.len > 0 && name_ == at + sizeof event);
      lost = lost || (event.mask & IN_IGNORED) != 0;  // the folder itself was replaced
      at += sizeof event + event.len;
    }
  }
  if (lost) add_watch();
  return saved;
}

bool FileWatcher::changed() {
  const bool saved = take_events();
  const Signature now = look();
  if (now == Signature()) return false;
  const bool different = !(now == seen_);
  seen_ = now;
  return saved || different;
}

}  // namespace shardlings::cli::system
