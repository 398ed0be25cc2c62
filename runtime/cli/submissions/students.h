/// \file
/// A folder of submissions: whose they are, and of which puzzles. Nothing in it is trusted: links are not followed, and
/// names are made harmless before they are shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.h"
#include "case/manifest.h"

namespace shardlings::cli::submissions {

/// Who has given an entry its name, and so whose numbers are in it.
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

/// Understands what Gradescope (submission_1234), Canvas (doejane_LATE_12_345_puzzle.cpp) and Moodle
/// (Jane Doe_1234_assignsubmission_file_, with or without a file's name) write. Any other folder is named by its
/// student, and any other file by nobody.
EntryName entry_name(std::string_view name, bool is_folder);

struct Handed {
  std::string puzzle;         ///< id
  std::string file;           ///< its path
  std::int64_t modified = 0;  ///< seconds since 1970, as the file system has it
  bool late = false;          ///< the platform says so
};

struct Student {
  std::string id, name;
  std::vector<Handed> files;          ///< by puzzle, then by path; two of one puzzle are both here
  std::vector<std::string> left_out;  ///< "all/ada/notes.cpp names no puzzle that is graded", and the like
  std::string unread;                 ///< why their work could not be read whole; empty: it could
  std::string mixed;                  ///< why it may be the work of two students; empty: it is not
};

struct Submissions {
  std::vector<Student> students;      ///< by id
  std::vector<std::string> left_out;  ///< "all/stray.txt names no student", and the like
};

/// Which of `puzzles` a file is for, by its path below the student's folder: 09.cpp, puzzle09.cpp and
/// 09_data_parallel.cpp anywhere, or puzzle.cpp in a folder that is named so. A puzzle.cpp without such a folder is for
/// the only one of `puzzles`, if there is only one. nullptr: for none of them.
const cases::Manifest* puzzle_of(const std::string& path, const std::vector<cases::Manifest>& puzzles);

/// What one student has handed in, in a folder of which nothing is known but that it is theirs. Archives are opened
/// into `unpacked`.
Student read_student(const std::string& folder, const std::string& unpacked,
                     const std::vector<cases::Manifest>& puzzles);

/// Reads the folder, and whose the submissions are where Gradescope says so (gradescope_names.h). An archive is a
/// student's folder, or lies in one; C++ files in it are put below `unpacked`. Throws UsageError where the folder
/// cannot be read, or holds nobody's work.
Submissions read_submissions(const std::string& folder, const std::string& unpacked,
                             const std::vector<cases::Manifest>& puzzles);

}  // namespace shardlings::cli::submissions
