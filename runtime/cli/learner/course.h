/// \file
/// The puzzles in their order, and how a person names one of them.
#pragma once

#include <string>
#include <vector>

#include "case/manifest.h"
#include "cli/context.h"
#include "cli/learner/progress.h"
#include "cli/system/project.h"

namespace shardlings::cli::learner {

class Course {
 public:
  explicit Course(std::vector<cases::Manifest> puzzles, std::vector<cases::FaultyPuzzle> faulty = {})
      : puzzles_(std::move(puzzles)), faulty_(std::move(faulty)) {}

  const std::vector<cases::Manifest>& puzzles() const { return puzzles_; }
  /// What cannot be used: the course goes on without it.
  const std::vector<cases::FaultyPuzzle>& faulty() const { return faulty_; }
  /// By number ("9", "09", or with the letter of a milestone, "33a"), id, path, or a part of id or title that only one
  /// puzzle has. Throws UsageError with the nearest names, and MachineFault with what is wrong if that puzzle is
  /// faulty.
  const cases::Manifest& find(const std::string& name) const;
  /// The first puzzle that is not solved; nullptr when all are.
  const cases::Manifest* next(const Progress& progress) const;
  /// The same, but beginning after `id`, and starting over at the end.
  const cases::Manifest* next_after(const std::string& id, const Progress& progress) const;

 private:
  std::vector<cases::Manifest> puzzles_;
  std::vector<cases::FaultyPuzzle> faulty_;
};

/// The puzzles that can be read and, as far as the last build says, graded. Throws UsageError if there is none.
Course load_course(const system::Project& project);

/// A line for each puzzle that is faulty, to the errors: for verbs that go on without it.
void tell_of_faulty(const Context& context, const Course& course);

/// Those that `--puzzles 09 --puzzles 01-07` asks for, in the order of the course; all of them where it asks for none.
/// Throws UsageError for a name that no puzzle has.
std::vector<cases::Manifest> puzzles_named(const Course& course, const std::vector<std::string>& asked);

/// The puzzle of that name or, for an empty name, the next one (the last one when all are solved).
const cases::Manifest& named_or_next(const Course& course, const std::string& name, const Progress& progress);

/// The milestone of the puzzle that a name such as "33a" asks for; nullptr for a name without a letter.
const cases::Milestone* milestone_named(const cases::Manifest& puzzle, const std::string& name);

/// "09": how puzzles are named in messages.
std::string short_name(const cases::Manifest& puzzle);

}  // namespace shardlings::cli::learner
