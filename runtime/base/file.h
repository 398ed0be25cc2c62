/// \file
/// Whole files at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shardlings {

/// The bytes of a regular file; nothing if it cannot be read.
std::optional<std::string> read_file(const std::string& path);

/// The same, where there has to be such a file. Throws std::runtime_error: "cannot read PATH: why".
std::string read_whole_file(const std::string& path);

/// What an atomic write outlives. A power cut costs tens of milliseconds of waiting for the disk: that is for what a
/// learner would miss, not for what can be made anew.
enum class Outlives : std::uint8_t { kill, power_cut };

/// Replaces a file so that at any moment the old or the new content is there and never a part. What is no file, such as
/// a pipe or /dev/null, is written to and stays; so is what a descriptor of this process leads to (/dev/stdout,
/// /dev/fd/3). Throws std::runtime_error with the path and the reason; the old content is there then, and nothing half
/// written beside it.
void write_file_atomically(const std::string& path, std::string_view content, Outlives outlives = Outlives::power_cut);

/// Removes what writers of this file that were killed have left half written beside it.
void remove_leftovers(const std::string& path);

}  // namespace shardlings
