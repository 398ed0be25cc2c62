/// \file
/// Grades a class: every submission in a process of its own, several at once, and keeps each verdict as it comes, so
/// that a grading that was stopped goes on where it was.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "case/manifest.h"
#include "cli/submissions/gradebook.h"
#include "cli/submissions/students.h"
#include "cli/system/project.h"

namespace shardlings::cli::submissions {

struct ClassGrading {
  std::string folder;  ///< of submissions; paths in the gradebook begin below it
  std::string kept;    ///< the folder of verdicts, which is made
  std::vector<cases::Manifest> puzzles;
  std::vector<double> weights;      ///< as Gradebook's
  std::string due_text;             ///< likewise
  std::optional<std::int64_t> due;  ///< seconds since 1970
  std::string secret;               ///< for the seeds of hidden cases; each student has one from it; empty: none
  int at_once = 1;
  int least_tier = 1;  ///< of jails (GradeOptions)
  bool bonus = true;   ///< points of bonus checks count
};

/// What there is to do, what is done, and how much of that was there already.
struct Progress {
  int done = 0, all = 0, kept = 0;
  std::chrono::duration<double> taken{0};
};

/// "graded 12 of 30, 4 of them before; about 2 min left": the pace is that of those that were graded now.
std::string to_text(const Progress& progress);

/// Words that hold for any class: "34 s; 500 students would take 14 min". Empty where nothing was graded now.
std::string pace_of(const Progress& progress, int students);

/// The secret of one student: it says nothing of the course's, nor of another student's.
std::string students_secret(const std::string& secret, const std::string& student);

/// "2026-12-01T18:00:00Z" or "…+01:00" in seconds since 1970; nothing for any other form, and for one without a zone.
std::optional<std::int64_t> time_from(const std::string& text);

/// SHA-256 of a file that is handed in. One that is too large to be judged is not read: its size stands for it. Empty
/// for what is no regular file: what a link leads to is nobody's work.
std::string content_of(const std::string& file);

/// Grades what is not kept yet. `say` is told of each that comes to its end. A verdict that cannot be written to `kept`
/// is not judged, for that reason. Throws std::filesystem::filesystem_error where that folder cannot be made.
Gradebook grade_class(const system::Project& project, const ClassGrading& grading, const Submissions& submissions,
                      const std::function<void(const Progress&)>& say);

}  // namespace shardlings::cli::submissions
