/// \file
/// The neutral result: what every report and export is made from.
///
/// There are three kinds of outcome. `passed` is true or false where it is the submission's doing. It is null where a
/// check waits for another one that has failed (`blocked_by`), and where the machine or the tool is at fault: then
/// `reason` says why, nobody gets points for it, and nobody loses any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/words.h"
#include "case/case.h"
#include "case/check_spec.h"
#include "grading/verdict/shown.h"
#include "grading/verdict/unit.h"
#include "submission/wire/result.h"

namespace shardlings::grading::verdict {

/// A number that a check has compared with a formula of the case, whether it held or not.
struct Bound {
  /// What is bounded, for reports that draw it: a rank's peak of device memory, or anything else.
  enum class Of : std::uint8_t { other, peak };
  enum class Relation : std::uint8_t { at_most, exactly, at_least };
  Of of = Of::other;
  int rank = -1;     ///< whose peak; -1: everybody's, and `found` is the highest
  std::string what;  ///< "peak memory of rank 2"
  Relation relation = Relation::at_most;
  std::int64_t bound = 0, found = 0;
  Unit unit = Unit::bytes;
  std::string counted;  ///< of a plain count: "calls", …
  std::string formula;  ///< with its numbers; may be empty
  bool held = true;
};

inline constexpr Words<Bound::Of, 2> kBoundWords{{"other", "peak"}};
inline constexpr Words<Bound::Relation, 3> kRelationWords{{"at most", "exactly", "at least"}};
inline const char* name_of(Bound::Relation relation) {
  return kRelationWords.of(relation);
}

/// One check on one case.
struct CheckVerdict {
  std::string id;
  std::string case_name;
  std::optional<bool> passed;
  std::string expected;  ///< with formula and numbers
  std::string found;
  std::vector<std::string> details;
  wire::Place where;
  std::string diagnosis;       ///< id of the known mistake, or empty
  std::string diagnosis_text;  ///< one plain sentence
  std::string blocked_by;      ///< id of the check that failed before, or empty
  /// How far the compared numbers are from the expected ones where they are farthest, in units of the tolerance; 0 if
  /// none were compared. Tells authors how sharply a tolerance parts right from wrong.
  double distance = 0;
  std::vector<Bound> bounds;  ///< in the order of judging, up to the first that does not hold
  std::string reason{};       ///< why it could not be judged, where that is no fault of the submission; or empty
};

struct CaseVerdict {
  cases::Case kase;
  bool secret_seed = false;  ///< it ran with a seed that is told to nobody: kase.seed is 0
  wire::Ending ending = wire::Ending::not_started;
  std::string explanation;  ///< of an ending other than finished
  std::string stdout_text;
  std::vector<ShownByRanks> shown;            ///< by show() in the learner's code
  std::int64_t shows_left_out = 0;            ///< of all ranks: those that came after the first ones
  std::optional<front::FailureKind> failure;  ///< of a run that failed
  std::string reproduce;                      ///< the one command that repeats exactly this case; empty: a secret
  double seconds = 0;
  std::vector<front::Counters> counters;  ///< by rank
  std::vector<front::RankTrace> traces;   ///< by rank; not part of the JSON
  std::vector<CheckVerdict> checks;
};

/// A check over all cases: it holds if it holds on every one.
struct CheckSummary {
  cases::CheckSpec spec;
  std::optional<bool> passed;
  int earned = 0;
  std::string blocked_by;
  std::string reason{};  ///< as a CheckVerdict's, of the first case that has one
};

enum class Status : std::uint8_t {
  graded,
  not_implemented,
  did_not_build,
  no_check_ran,
  not_judged  ///< at least one check could not be judged, by a fault of the machine or of the tool
};
inline constexpr Words<Status, 5> kStatusWords{
    {"graded", "not_implemented", "did_not_build", "no_check_ran", "not_judged"}};
inline const char* name_of(Status status) {
  return kStatusWords.of(status);
}

struct Verdict {
  std::string puzzle;
  Status status = Status::no_check_ran;
  std::string reason;  ///< of a verdict that is not judged: what happened, and what to do
  std::string build_log;
  bool passed = false;             ///< all checks hold, but for those of a bonus
  int points = 0, max_points = 0;  ///< of one that is not judged: 0, and no points; with a bonus, points may be more
  int concealed = 0;               ///< hidden cases that count and are not shown (feedback.h)
  std::vector<CheckSummary> checks;
  std::vector<CaseVerdict> cases;
  std::vector<std::string> diagnoses;  ///< ids, in the order of importance
  std::string version;                 ///< of shardlings
  std::string backend = "cpu";         ///< on which the cases ran
  boundary::Walls walls;               ///< that stood around the learner's code in all cases
  double seconds = 0;
};

std::string to_json(const Verdict& verdict, int indent = 2);
/// Reads what to_json wrote (traces excepted). Throws std::runtime_error.
Verdict verdict_from_json(const std::string& text);

/// The traces of a verdict in one packed file, for reports made by another process; and back.
void write_traces(const Verdict& verdict, const std::string& path);
void read_traces(Verdict& verdict, const std::string& path);

}  // namespace shardlings::grading::verdict
