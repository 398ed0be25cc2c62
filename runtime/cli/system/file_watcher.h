/// \file
/// Notices that a file was saved.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace shardlings::cli::system {

/// Watches one file. The kernel tells about changes of its folder, since editors replace files instead of writing into
/// them; where it cannot (or stays silent, as on some network and Windows folders), looking at the file from time to
/// time notices them, too.
class FileWatcher {
 public:
  explicit FileWatcher(std::string path, bool use_inotify = true);
  ~FileWatcher();
  FileWatcher(const FileWatcher&) = delete;
  FileWatcher& operator=(const FileWatcher&) = delete;

  /// Becomes readable when something happened in the folder; -1 without inotify.
  int descriptor() const { return inotify_; }
  /// After so many milliseconds changed() should be asked even if nothing became readable.
  int interval_ms() const { return inotify_ >= 0 ? 500 : 50; }
  /// Was the file saved since the last call? Takes what the descriptor has to say. False while there is no such file.
  bool changed();

 private:
  /// What differs after a save.
  struct Signature {
    ino_t inode = 0;
    off_t size = -1;
    std::int64_t time_ns = 0;
    bool operator==(const Signature&) const = default;
  };
  Signature look() const;
  void add_watch();
  bool take_events();

  std::string path_, folder_, name_;
  int inotify_ = -1;
  Signature seen_;
};

}  // namespace shardlings::cli::system
