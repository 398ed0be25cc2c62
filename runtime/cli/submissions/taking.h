/// \file
/// Takes what one student has handed in, file by file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/submissions/students.h"

namespace shardlings::cli::submissions {

/// What platforms and systems leave beside submissions.
bool is_nobodys(const std::string& name);

/// Opens archives into a folder beside the submissions, each into one of its own.
class Archives {
 public:
  Archives(std::string submissions, std::string unpacked)
      : submissions_(std::move(submissions)), unpacked_(std::move(unpacked)) {}

  /// Where what comes out of an archive lies; there is nothing yet.
  std::filesystem::path folder_for(const std::filesystem::path& archive) const;

 private:
  std::string submissions_, unpacked_;
};

/// One student's files.
class Taking {
 public:
  Taking(const std::vector<cases::Manifest>& puzzles, const Archives& archives)
      : puzzles_(puzzles), archives_(archives) {}

  Student student;

  /// `inside`: the path that names its puzzle, as the student has called it.
  void take_file(const std::filesystem::path& path, const std::string& inside, bool late);
  void take_folder(const std::filesystem::path& folder, bool late);
  void take_archive(const std::filesystem::path& archive, bool late);
  /// All is taken: decides for whom files are that no name has told, and puts everything in order.
  void finish();

 private:
  /// The folder with what came out. What did not, the student's entry says.
  std::filesystem::path open(const std::filesystem::path& archive);
  void leave_out(const std::filesystem::path& path, const std::string& inside, const std::string& why);
  void take_below(const std::filesystem::path& folder, bool late, bool opens_archives);
  void take_source(const std::filesystem::path& path, const std::string& inside, bool late);
  void leave_out_link(const std::filesystem::path& path, const std::string& inside);
  void take_as_said();
  void drop_copies();

  const std::vector<cases::Manifest>& puzzles_;
  const Archives& archives_;
  std::vector<Handed> said_;  ///< of which no name, but the first comment tells the puzzle
};

}  // namespace shardlings::cli::submissions
