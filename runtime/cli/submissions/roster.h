/// \file
/// Who is in a class: the list that a course has of its students.
#pragma once

#include <string>
#include <vector>

#include "cli/submissions/students.h"

namespace shardlings::cli::submissions {

struct Enrolled {
  std::string id, name;  ///< name: empty where the list has none
};

/// Reads a table as spreadsheets and platforms write it: a line for each student, the id in the first column and a name
/// in the second one, between commas, semicolons or tabs. A first line of headings ("id", "student", "sid", "email", …)
/// is none. Throws UsageError with the line where there is no id, or one that was there already.
std::vector<Enrolled> roster_from(const std::string& text, const std::string& file);

/// Adds those who have handed in nothing, and names those whose name no platform has told. Returns the ids of students
/// who are not in the roster.
std::vector<std::string> enrol(Submissions& submissions, const std::vector<Enrolled>& roster);

}  // namespace shardlings::cli::submissions
