/// \file
/// Whether a puzzle is a good one: the solution and other right ones pass, the stub is refused, every
/// wrong solution is caught by name.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "case/manifest.h"
#include "cli/system/project.h"
#include "grading/verdict/prediction.h"
#include "grading/verdict/verdict.h"

namespace shardlings::cli::author {

/// A wrong solution and what became of it.
struct MutantOutcome {
  std::string name;      ///< "gradients_kept"
  std::string declared;  ///< the diagnosis that it must get
  std::string found;     ///< the first diagnosis that it got; empty: none
  bool caught = false;   ///< it failed, with the declared diagnosis first
};

/// Another right solution and whether it passed.
struct RightOutcome {
  std::string name;
  bool passed = false;  ///< with all points
};

/// How sharply a puzzle's tolerances part right numbers from wrong ones, in units of the tolerance.
struct Margins {
  static constexpr double kRight = 0.25;  ///< the solution may come so near to being wrong
  static constexpr double kWrong = 10;    ///< and a wrong output must be so far from being right
  double solution = 0;                    ///< the farthest number of the solution
  std::optional<double> mutants;          ///< the nearest wrong output of a mutant; none failed by its numbers
  std::string nearest;                    ///< that mutant and its case
};

/// So many mutants must fail each check, and so many a puzzle must have: fewer prove little.
inline constexpr int kMutantsPerCheck = 3;
inline constexpr std::size_t kMutantsPerPuzzle = 6;

/// A check and how many mutants fail it in some case.
struct CheckOutcome {
  std::string id;
  int failed_by = 0;
};

struct PuzzleOutcome {
  std::string id;
  bool solution_passed = false;
  bool stub_refused = false;
  std::vector<MutantOutcome> mutants;
  std::vector<RightOutcome> right;
  std::vector<CheckOutcome> checks;
  int promises = 0;  ///< sentences of the stub's contract that have a proof (author/contract.h)
  Margins margins;
  std::vector<std::string> problems;  ///< everything that is wrong, ready to print
  bool judged = true;                 ///< false: the machine let not every file be judged

  int caught() const;
  int right_passed() const;
  bool good() const { return problems.empty() && solution_passed && stub_refused; }
};

/// Grades one file as that puzzle, the solution with its traces. May be called by several threads at once.
using Grader = std::function<grading::verdict::Verdict(const cases::Manifest& puzzle, const std::string& source)>;

/// What becomes of goal.json, the solution's run as data (grading/verdict/run_file.h): one that is missing or says
/// something else is a problem, or is written anew.
enum class Goals { check, write };

/// Told after each graded file: how many of how many are done, and which it was.
using Progressed = std::function<void(int done, int total, const std::string& what)>;

/// What a puzzle asks to be predicted, before or after the pass. May throw.
using Asker = std::function<grading::verdict::Predictions(const cases::Manifest& puzzle, grading::verdict::When when)>;

struct VerificationOptions {
  int jobs = 2;  ///< files graded at once
  Goals goals = Goals::check;
  Asker ask = {};  ///< if there is one, predictions are compared with the solution's run, and with the lesson
};

/// Verifies puzzles.
std::vector<PuzzleOutcome> verify_puzzles(const system::Project& project, const std::vector<cases::Manifest>& puzzles,
                                          const VerificationOptions& options, const Grader& grade,
                                          const Progressed& progressed);

/// What can be said without grading: hole, length of the stub and of the answer, hints, sections of the lesson,
/// declared diagnoses, number of mutants, blanks. The contract is apart (author/contract.h).
std::vector<std::string> static_problems(const system::Project& project, const cases::Manifest& puzzle);

/// The file that stands for the stub: puzzle.cpp or, where a learner has changed that one, what the solution leaves of
/// itself without its hole, written below the build folder.
std::string stub_to_verify(const system::Project& project, const std::string& id);

}  // namespace shardlings::cli::author
