/// \file
/// A folder of submissions: whose they are, and of which puzzles. Nothing in it is trusted: links are not followed, and
/// names are made harmless before they are shown.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "case/manifest.h"
#include "cli/submissions/archive.h"

namespace shardlings::cli::submissions {

struct Handed {
  std::string puzzle;         ///< id
  std::string file;           ///< its path
  std::int64_t modified = 0;  ///< seconds since 1970, as the file system has it
  bool late = false;          ///< the platform says so
};

struct Student {
  std::string id, name;
  std::vector<Handed> files;      ///< by puzzle, then by path; two of one puzzle are both here, if they are not alike
  std::vector<LeftOut> left_out;  ///< C++ files and archives that are not taken
  std::string unread;             ///< why their work could not be read whole; empty: it could
  std::string mixed_up;           ///< why it may be the work of several students; empty: it is one's
  std::string group;              ///< one word for all who have handed this in together; empty: nobody else has
  std::string entry;              ///< what it is called in the folder of submissions; of several the first by name
};

struct Submissions {
  std::vector<Student> students;  ///< by id
  std::vector<LeftOut> left_out;  ///< entries that are nobody's
};

/// What one student has handed in, in a folder of which nothing is known but that it is theirs. Archives are opened
/// into `unpacked`.
///
/// A file is for the puzzle that its path names (naming.h). One that names none is for the puzzle that its first
/// comment names, unless another file is there by that name; and a puzzle.cpp without either for the only one of
/// `puzzles`, if there is only one. Of files that are alike, byte for byte, one is taken.
Student read_student(const std::string& folder, const std::string& unpacked,
                     const std::vector<cases::Manifest>& puzzles);

/// Reads the folder, and whose the submissions are where Gradescope says so (gradescope_names.h), also of a folder that
/// holds nothing but what Gradescope has exported. An archive is a student's folder, or lies in one; C++ files in it
/// are put below `unpacked`. Throws UsageError where the folder cannot be read, or holds nobody's work.
Submissions read_submissions(const std::string& folder, const std::string& unpacked,
                             const std::vector<cases::Manifest>& puzzles);

}  // namespace shardlings::cli::submissions
