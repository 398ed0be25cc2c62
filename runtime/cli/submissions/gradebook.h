/// \file
/// The marks of a class: a table of students and puzzles, as CSV and as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/words.h"
#include "grading/verdict/verdict.h"

namespace shardlings::cli::submissions {

/// How a student's file for a puzzle fared. Only `not_judged` is no doing of the student's.
enum class Outcome : std::uint8_t { passed, failed, not_implemented, did_not_build, missing, not_judged };
inline constexpr Words<Outcome, 6> kOutcomeWords{
    {"passed", "failed", "not_implemented", "did_not_build", "missing", "not_judged"}};

struct Mark {
  std::string puzzle;
  Outcome outcome = Outcome::missing;
  int points = 0, max_points = 0;      ///< points: 0 where there is no verdict, too; `outcome` tells which
  int bonus = 0;                       ///< of the points: those that max_points does not count
  std::string file;                    ///< below the folder of submissions; empty: missing
  std::string content;                 ///< its SHA-256; empty: missing
  std::int64_t submitted = 0;          ///< seconds since 1970; 0: unknown
  bool late = false;                   ///< after the date that is due, or as the platform says
  std::vector<std::string> failed;     ///< ids of checks that do not hold
  std::vector<std::string> diagnoses;  ///< ids, the most important first
  std::string reason;                  ///< of what was not judged
  std::string picture;                 ///< file with a timeline, below the folder of results; empty: none was drawn
};

struct Row {
  std::string student, name;
  std::vector<Mark> marks;  ///< in the order of Gradebook::puzzles
  std::string group{};      ///< one word for all who have handed in together; empty: nobody else has
};

/// Files of several students that are the same, byte for byte.
struct Alike {
  std::string puzzle;
  std::vector<std::string> students;  ///< ids, in the order of the rows; of a group one
};

/// A mark that is another one than in an earlier grading. In words: "failed, 60 of 100".
struct Change {
  std::string student, puzzle;
  std::string before, now;  ///< empty: it was, or is, not there
  std::string why;
};

struct Gradebook {
  std::vector<std::string> puzzles;  ///< ids
  std::vector<double> weights;       ///< of each of them; empty: points are added up as they are
  std::string due;                   ///< as it was given; empty: none
  std::vector<Row> rows;
  std::optional<std::vector<Change>> changes{};  ///< since an earlier grading, where one was named
};

/// What the verdict says, for its place in the table.
Mark mark_of(const grading::verdict::Verdict& verdict);

/// By puzzle. What nobody has begun is alike everywhere, and left out.
std::vector<Alike> alike_in(const Gradebook& book);

int count_of(const Gradebook& book, Outcome outcome);

/// The sum of a row's points or, with weights, of weight · points / max_points. Nothing where a puzzle was not judged:
/// a sum without it would take points that nobody has refused.
std::optional<double> total_of(const Gradebook& book, const Row& row);
/// The most that total_of() gives without a bonus.
double most_of(const Gradebook& book, const Row& row);

/// UTF-8's byte order mark, without which Excel takes a file for one of another encoding.
inline constexpr const char* kByteOrderMark = "\xEF\xBB\xBF";

/// One line for each student: total, then points, their maximum, and outcome of each puzzle. Points and total of
/// what was not judged are empty. A cell that a spreadsheet would take for a formula has an apostrophe before it.
std::string to_csv(const Gradebook& book);
std::string to_json(const Gradebook& book);

}  // namespace shardlings::cli::submissions
