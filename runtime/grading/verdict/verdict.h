/// \file
/// The neutral result: what every report and export is made from. `passed` is null where nothing could be judged.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/words.h"
#include "case/case.h"
#include "case/check_spec.h"
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
};

struct CaseVerdict {
  cases::Case kase;
  wire::Ending ending = wire::Ending::not_started;
  std::string explanation;  ///< of an ending other than finished
  std::string stdout_text;
  std::optional<front::FailureKind> failure;  ///< of a run that failed
  std::string reproduce;                      ///< the one command that repeats exactly this case
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
};

enum class Status : std::uint8_t { graded, not_implemented, did_not_build, no_check_ran };
inline constexpr Words<Status, 4> kStatusWords{{"graded", "not_implemented", "did_not_build", "no_check_ran"}};
inline const char* name_of(Status status) {
  return kStatusWords.of(status);
}

struct Verdict {
  std::string puzzle;
  Status status = Status::no_check_ran;
  std::string build_log;
  bool passed = false;
  int points = 0, max_points = 0;
  std::vector<CheckSummary> checks;
  std::vector<CaseVerdict> cases;
  std::vector<std::string> diagnoses;  ///< ids, in the order of importance
  std::string version;                 ///< of shardlings
  std::string backend = "cpu";         ///< on which the cases ran
  double seconds = 0;
};

std::string to_json(const Verdict& verdict, int indent = 2);
/// Reads what to_json wrote (traces excepted). Throws std::runtime_error.
Verdict verdict_from_json(const std::string& text);

/// The traces of a verdict in one packed file, for reports made by another process; and back.
void write_traces(const Verdict& verdict, const std::string& path);
void read_traces(Verdict& verdict, const std::string& path);

}  // namespace shardlings::grading::verdict
