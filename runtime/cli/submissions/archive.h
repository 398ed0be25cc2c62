/// \file
/// Archives that students hand in. They are strangers' work: what comes out of one are C++ files of a bounded size and
/// number, below one folder, and nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shardlings::cli::submissions {

/// By its name: "work.zip", "work.tar.gz", … Case does not matter.
bool is_archive(const std::string& name);
/// "work" of "work.tar.gz".
std::string without_archive_suffix(const std::string& name);

/// More than that no submission has.
struct ArchiveLimits {
  int entries = 20'000;
  std::int64_t file_bytes = 1 << 20;     ///< of a C++ file: larger ones are left out
  std::int64_t all_bytes = 256LL << 20;  ///< that come out of the decompressor, whatever they are
  std::size_t path_characters = 1'000;
};

/// A file of a student's that is not taken.
struct LeftOut {
  std::string path;
  std::string why;        ///< "it is larger than 1 MiB"
  bool may_count = true;  ///< it may be what a mark is for: without it, somebody would lose points by its name
  std::string puzzle{};   ///< id of the puzzle that its name tells; empty: none
};
inline constexpr const char* kWrongSuffix = "its name does not end in .cpp";

struct Unpacked {
  std::string unread;             ///< why it could not be read whole: "it holds more than 20000 entries"; empty: it was
  std::vector<LeftOut> left_out;  ///< C++ files and archives in it that are not taken, by their paths in it
};

/// Writes the C++ files of an archive (naming.h) below `folder` with the times that the archive gives them. Links, what
/// asks for a password, larger files, archives in it, and paths that lead out of the folder are left out. What came
/// before something that cannot be read is there.
Unpacked unpack(const std::string& archive, const std::string& folder, const ArchiveLimits& limits = {});

/// Makes a zip of all files below a folder, with their rights. Throws UsageError in a command that was built without
/// archives, and std::runtime_error where it cannot be written.
void pack(const std::string& folder, const std::string& zip);

}  // namespace shardlings::cli::submissions
