#include "cli/learner/ladder.h"

#include <algorithm>

#include "base/hash.h"
#include "grading/judge/diagnosis.h"

namespace shardlings::cli::learner {

using cases::Hint;
using cases::Manifest;

namespace {

/// A hint is known by its text: numbers would go wrong when the author adds one.
std::string name_of(const Hint& hint) {
  return content_hash(hint.text);
}

/// The hint on a mistake, if there is one that was not given yet.
const Hint* hint_on(const Manifest& puzzle, const PuzzleProgress& progress, const std::string& id) {
  const Hint* hint = grading::judge::diagnosis_hint(puzzle, id);
  return hint && !was_given(progress, *hint) ? hint : nullptr;
}

}  // namespace

bool was_given(const PuzzleProgress& progress, const Hint& hint) {
  return std::find(progress.hints.begin(), progress.hints.end(), name_of(hint)) != progress.hints.end();
}

void give(PuzzleProgress& progress, const Hint& hint) {
  if (!was_given(progress, hint)) progress.hints.push_back(name_of(hint));
}

Rung next_rung(const Manifest& puzzle, const PuzzleProgress& progress) {
  Rung rung;
  const auto left = [&](const Hint& hint) { return !was_given(progress, hint); };
  const auto& ladder = puzzle.hints;
  rung.total = static_cast<int>(ladder.size());
  rung.given = rung.total - static_cast<int>(std::count_if(ladder.begin(), ladder.end(), left));
  for (const PastDiagnosis& past : progress.diagnoses) {
    rung.hint = hint_on(puzzle, progress, past.id);
    if (!rung.hint) continue;
    rung.diagnosis = past.id;
    rung.diagnosis_text = past.text.empty() ? grading::judge::diagnosis_text(puzzle, past.id) : past.text;
    return rung;
  }
  const auto next = std::find_if(ladder.begin(), ladder.end(), left);
  if (next == ladder.end()) return rung;
  rung.hint = &*next;
  ++rung.given;
  return rung;
}

}  // namespace shardlings::cli::learner
