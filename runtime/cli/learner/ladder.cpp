#include "cli/learner/ladder.h"

#include <algorithm>

#include "base/hash.h"

namespace shardlings::cli::learner {

using cases::Hint;
using cases::Manifest;

namespace {

/// A hint is known by its text: numbers would go wrong when the author adds one.
std::string name_of(const cases::Hint& hint) {
  return content_hash(hint.text);
}

const cases::Hint* first_left(const cases::Manifest& puzzle, const PuzzleProgress& progress,
                              const std::string& diagnosis) {
  for (const cases::Hint& hint : puzzle.hints) {
    if (hint.diagnosis == diagnosis && !was_given(progress, hint)) return &hint;
  }
  return nullptr;
}

}  // namespace

bool was_given(const PuzzleProgress& progress, const cases::Hint& hint) {
  return std::find(progress.hints.begin(), progress.hints.end(), name_of(hint)) != progress.hints.end();
}

void give(PuzzleProgress& progress, const cases::Hint& hint) {
  if (!was_given(progress, hint)) progress.hints.push_back(name_of(hint));
}

Rung next_rung(const cases::Manifest& puzzle, const PuzzleProgress& progress) {
  Rung rung;
  for (const cases::Hint& hint : puzzle.hints) {
    if (!hint.diagnosis.empty()) continue;
    ++rung.total;
    if (was_given(progress, hint)) ++rung.given;
  }
  for (const PastDiagnosis& diagnosis : progress.diagnoses) {
    if (diagnosis.id.empty()) continue;
    rung.hint = first_left(puzzle, progress, diagnosis.id);
    if (!rung.hint) continue;
    rung.diagnosis_text = diagnosis.text;
    return rung;
  }
  rung.hint = first_left(puzzle, progress, "");
  if (rung.hint) ++rung.given;
  return rung;
}

}  // namespace shardlings::cli::learner
