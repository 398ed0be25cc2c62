/// \file
/// What is kept on disk until something that it depends on changes, or newer ones take its place.
#pragma once

#include <cstddef>
#include <string>

namespace shardlings {

/// Size and time of change of a file, for files that are too large to be read each time.
std::string file_stamp(const std::string& path);

/// A folder may be locked by a file beside it, with this after its name.
inline constexpr const char* kLockSuffix = ".lock";
/// Removes all but the newest `keep` folders in `folder`, and the files that lock them. What is locked stays.
void prune_folders(const std::string& folder, std::size_t keep);

}  // namespace shardlings
