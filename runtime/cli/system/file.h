/// \file
/// Whole files at once, and what they hold as one short word.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardlings::cli::system {

/// The bytes of a file; nothing if it cannot be read.
std::optional<std::string> read_file(const std::string& path);

/// Replaces a file so that at any moment, a kill or a power cut included, the old or the new content is there and
/// never a part. Throws std::runtime_error with the path and the reason.
void write_file_atomically(const std::string& path, std::string_view content);

/// 16 hexadecimal digits that differ where contents differ (FNV-1a; not against attackers).
std::string content_hash(std::string_view content);
/// The same of a file; empty if it cannot be read.
std::string file_hash(const std::string& path);

/// Lines without their ends.
std::vector<std::string> lines_of(std::string_view text);

}  // namespace shardlings::cli::system
