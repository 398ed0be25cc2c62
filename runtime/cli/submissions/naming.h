/// \file
/// What names say of a submission: of which student it is, and of which puzzle.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.h"
#include "case/manifest.h"

namespace shardlings::cli::submissions {

/// Who has given an entry of the folder its name, and with it the student's id.
enum class Platform : std::uint8_t { none, gradescope, moodle, canvas };
inline constexpr Words<Platform, 4> kPlatformWords{{"none", "Gradescope", "Moodle", "Canvas"}};

/// What the name of an entry of the folder says.
struct EntryName {
  std::string student;  ///< the id that the platform gives, or the folder's name; empty: the name says no student
  std::string name;     ///< of the student; empty where the platform writes none
  std::string file;     ///< what the student called the file; empty for a folder
  bool late = false;    ///< the platform says so
  Platform platform = Platform::none;
};

/// Understands what Gradescope (submission_1234), Canvas (doejane_LATE_12_345_puzzle.cpp, or anon_x4Fq1_345_puzzle.cpp)
/// and Moodle (Jane Doe_1234_assignsubmission_file_, with or without a file's name) write. Any other folder is named by
/// its student, and any other file by nobody.
EntryName entry_name(std::string_view name, bool is_folder);

/// By its suffix: .cpp, and .cc, .cxx, .c++ and .C, which are taken for it. Case does not matter.
bool is_source(const std::string& name);

/// Whether it seems to be one under another name: 09.cpp.txt, puzzle.cpp~.
bool is_nearly_source(const std::string& name);

/// Whether it is called puzzle.cpp, or as a platform numbers files of one name: puzzle-1.cpp, puzzle (2).cpp.
bool is_plain_puzzle(const std::string& path);

/// Which of `puzzles` a file's path below the student's folder names: 09.cpp, puzzle09.cpp and 09_data_parallel.cpp
/// anywhere, or puzzle.cpp in a folder that is named so. nullptr: none of them.
const cases::Manifest* puzzle_of(const std::string& path, const std::vector<cases::Manifest>& puzzles);

/// The number in the first comment of a puzzle's file: 9 of "// Puzzle 09: data parallel training."; 0 where there is
/// none, or where there are several.
int number_said_in(const std::string& text);

}  // namespace shardlings::cli::submissions
