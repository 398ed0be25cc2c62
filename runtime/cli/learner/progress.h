/// \file
/// What is remembered about the learner: which puzzles were solved, the last run of each, and the hints given.
///
/// One JSON file, .shardlings/progress.json. It is replaced as a whole, so that a kill at any moment leaves the old or
/// the new one; the one before is kept beside it in case somebody else damages the file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace shardlings::cli::learner {

/// A mistake that the last run was diagnosed with.
struct PastDiagnosis {
  std::string id;
  std::string text;
};

/// How one question was answered.
struct PastPrediction {
  int tries = 0;  ///< answers that were given
  bool right = false;
};

/// Questions that were answered, by id, of so many that were asked.
struct PastAnswers {
  std::map<std::string, PastPrediction> answers{};
  int asked = 0;

  int right() const;
  /// Whether this one was.
  bool was_right(const std::string& id) const;
  /// Notes one more. What was right once stays right.
  void note(const std::string& id, bool is_right);
};

/// The best that runs of one case came to, each number by itself: they need not be of one run.
struct CaseRecord {
  std::int64_t end_ns = 0;      ///< the earliest end, in virtual nanoseconds
  std::int64_t peak_bytes = 0;  ///< the lowest peak of device memory, of the rank that has the highest
  std::int64_t sent_bytes = 0;  ///< the fewest bytes that all ranks together have sent
  std::int64_t idle_ppm = 0;    ///< the smallest bubble, in millionths of the ranks' time
  std::int64_t bound_ns = 0;    ///< of an open case: no run can end before; 0: none is known
  std::string of_case{};        ///< hash of the case's numbers: a case that was changed is another one
  std::string file{};           ///< hash of the file that ended earliest, as run and list have it

  bool operator==(const CaseRecord&) const = default;
};

struct PuzzleProgress {
  std::string solved_hash;  ///< content of the file that passed; empty: never solved
  int points = 0;           ///< the most ever reached
  std::string last_hash;    ///< content of the file at the last run; empty: never run
  bool last_passed = false;
  int last_points = 0;
  std::vector<PastDiagnosis> diagnoses;  ///< of the last run
  std::vector<std::string> hints;        ///< hashes of the hints that were given, in order
  int attempts = 0;                      ///< files that were graded, of which none was that of the run before
  bool solution_shown = false;           ///< by `solution --spoil`, before it was solved
  std::set<std::string> milestones{};    ///< letters of those that have passed
  PastAnswers predicted{};               ///< of `predict`
  PastAnswers answered{};                ///< of `predict --after`
  PastAnswers explained{};               ///< of `explain-back`, about the last run

  /// The earliest end of a run that passed, in virtual nanoseconds: by case, of those that are open, since their check
  /// says how early any run could end (a bound), and not how early this one must.
  std::map<std::string, std::int64_t> records{};

  /// Of every announced case, of runs that passed.
  std::map<std::string, CaseRecord> bests{};

  bool solved() const { return !solved_hash.empty(); }
};

struct Progress {
  std::map<std::string, PuzzleProgress> puzzles;  ///< by id
  std::map<std::string, PastAnswers> quizzes{};   ///< by chapter
  std::string warning;                            ///< what was wrong with the file, for the learner; empty: nothing

  const PuzzleProgress& of(const std::string& id) const;
};

/// Where a learner stands with a puzzle.
enum class Standing {
  untouched,  ///< never run
  started,    ///< run, never passed
  solved,     ///< the file as it is passed
  changed,    ///< passed before; the file was edited since and not run
  broken      ///< passed before; the file as it is fails
};
Standing standing(const PuzzleProgress& progress, const std::string& hash_of_file);
std::string to_text(Standing standing);

/// Reads the file of a state folder. Never throws: a file that is missing is no progress yet, and one that is damaged
/// is replaced by the one before it (Progress::warning says so).
Progress load_progress(const std::string& state_folder);

/// Reads, changes and writes under a lock, so that several commands may run at once. Returns what was written.
/// Throws std::runtime_error where the folder cannot be written.
Progress update_progress(const std::string& state_folder, const std::function<void(Progress&)>& change);

}  // namespace shardlings::cli::learner
