/// \file
/// Archives that students hand in. They are strangers' work: what comes out of one are C++ files of a bounded size and
/// number, below one folder, and nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shardlings::cli::submissions {

/// By its name, in whatever case: "09.cpp", "09.CPP".
bool is_cpp_file(const std::string& name);
/// By its name: "work.zip", "work.tar.gz", … Case does not matter.
bool is_archive(const std::string& name);
/// "work" of "work.tar.gz".
std::string without_archive_suffix(const std::string& name);

/// More than that no submission has.
struct ArchiveLimits {
  int entries = 20'000;
  std::int64_t file_bytes = 1 << 20;     ///< of a C++ file
  std::int64_t all_bytes = 256LL << 20;  ///< that come out of the decompressor, whatever they are
  std::size_t path_characters = 1'000;
};

struct Unpacked {
  /// Why it could not be read whole, for example "it holds more than 20000 entries"; what came before that is there.
  /// Empty: it could.
  std::string fault;
  std::vector<std::string> left_out;  ///< "way/09.cpp is a link", of C++ files and of archives in it
};

/// Writes the C++ files of an archive below `folder` with the times that the archive gives them. Links, devices, and
/// paths that lead out of the folder are left out. A file that is too large or cannot be read, and one that is there
/// twice, is a fault: it might be the one that counts.
Unpacked unpack(const std::string& archive, const std::string& folder, const ArchiveLimits& limits = {});

/// Makes a zip of all files below a folder, with their rights. Throws UsageError in a command that was built without
/// archives, and std::runtime_error where it cannot be written.
void pack(const std::string& folder, const std::string& zip);

}  // namespace shardlings::cli::submissions
