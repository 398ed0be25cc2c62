/// \file
/// Verdicts by content: what was graded once is read again as long as nothing that it depends on has changed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shardlings::grading::verdict {

/// Size and time of change of a file, for files that are too large to be read each time.
std::string file_stamp(const std::string& path);

/// Held by one process at a time; waits until it is free.
class FileLock {
 public:
  /// Throws std::runtime_error if the file cannot be made.
  explicit FileLock(const std::string& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  /// Whether somebody else had it when we came.
  bool waited() const { return waited_; }

 private:
  int file_;
  bool waited_ = false;
};

/// Removes all but the newest `keep` folders in `folder`.
void prune_folders(const std::string& folder, std::size_t keep);

}  // namespace shardlings::grading::verdict
