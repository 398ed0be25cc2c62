// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// What ranks have packed in each step, against what one device would: for the grader.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cursor_log.h"
#include "grading/formulas/data_packing.h"
#include "grading/formulas/training.h"

namespace shardlings {

using grading::formulas::DataCase;
using grading::formulas::GridPlace;
using grading::formulas::KnownPacking;
using grading::formulas::PackedStep;
using grading::formulas::PackedToken;

/// What a rank did in a step.
struct PackedFound {
  Count number = 0;
  Count cursor = 0;       ///< as the rank had it
  Count next = 0;         ///< what it became
  Count count = 0;        ///< of tokens; of more than a batch has, the others are not known
  Count loss_tokens = 0;  ///< what it divides the loss by
  std::vector<PackedToken> tokens;
  int rank = 0;
  GridPlace place;
};

/// All of them, rank by rank.
inline std::vector<PackedFound> packed_found(const grading::judge::CheckContext& check, const DataCase& of) {
  const auto* output = check.output("steps");
  std::vector<PackedFound> all;
  const Count most = of.batch * std::max(of.s, of.kase.integer("sequence_later")),
              columns = kCursorParts + 2 + 3 * most;
  const auto row_size = static_cast<std::size_t>(of.steps * columns + kCursorParts);
  if (output == nullptr || output->values.size() != row_size * static_cast<std::size_t>(check.ranks())) return all;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const float* row = output->values.data() + row_size * static_cast<std::size_t>(rank);
    for (Count number = 0; number < of.steps; ++number, row += columns) {
      PackedFound step{number,
                       logged_cursor(row),
                       logged_cursor(row + columns),
                       static_cast<Count>(row[kCursorParts]),
                       static_cast<Count>(row[kCursorParts + 1]),
                       {},
                       rank,
                       {}};
      step.place = place_in_grid(of, rank, number);
      for (Count i = 0; i < std::min(step.count, most); ++i) {
        const float* token = row + kCursorParts + 2 + 3 * i;
        step.tokens.push_back(
            {static_cast<Count>(token[0]), static_cast<Count>(token[1]), static_cast<Count>(token[2])});
      }
      all.push_back(std::move(step));
    }
  }
  return all;
}

/// The step that one device would make at the cursor of a rank, and the rank's part of it.
inline PackedStep right_step(const DataCase& of, const PackedFound& found) {
  return packed_step_from(of, found.number, found.cursor);
}
inline std::vector<PackedToken> right_tokens(const DataCase& of, const PackedFound& found) {
  const PackedStep step = right_step(of, found);
  const Range mine = step.part(found.place.d, found.place.dp);
  return {step.tokens.begin() + mine.begin, step.tokens.begin() + mine.end};
}

/// One number of each token.
using OfToken = Count PackedToken::*;
inline std::vector<Count> numbers_of(const std::vector<PackedToken>& tokens, OfToken which) {
  std::vector<Count> numbers;
  for (const PackedToken& token : tokens) numbers.push_back(token.*which);
  return numbers;
}

/// Which tokens have no target: the last ones of documents, whatever numbers they have.
inline std::vector<Count> ends_of(const std::vector<PackedToken>& tokens) {
  std::vector<Count> ends;
  for (const PackedToken& token : tokens) ends.push_back(token.target < 0 ? 1 : 0);
  return ends;
}

/// The first known mistake by which every rank has these numbers in every step; nullptr if there is none.
inline const char* known_mistake(const DataCase& of, const std::vector<PackedFound>& all,
                                 const std::vector<KnownPacking>& known, OfToken which) {
  for (const KnownPacking& mistake : known) {
    const bool is_it = std::all_of(all.begin(), all.end(), [&](const PackedFound& found) {
      const auto tokens = mistake.tokens(of, found.number, found.cursor, found.place.d, found.place.dp);
      return numbers_of(found.tokens, which) == numbers_of(tokens, which) &&
             (!mistake.told_by_ends || ends_of(found.tokens) == ends_of(tokens));
    });
    if (is_it) return mistake.diagnosis;
  }
  return nullptr;
}

/// Whether all ranks count so in every step: `count` is told the step of one device, and the tokens of the rank's part.
inline bool all_count(const DataCase& of, const std::vector<PackedFound>& all, Count PackedFound::*which,
                      const std::function<Count(const PackedFound&, const PackedStep&, Count own)>& count) {
  return std::all_of(all.begin(), all.end(), [&](const PackedFound& found) {
    const auto own = static_cast<Count>(right_tokens(of, found).size());
    return found.*which == count(found, right_step(of, found), own);
  });
}

/// Some two ranks of one replica have packed differently in a step.
inline bool packs_differ_in_replica(const std::vector<PackedFound>& all) {
  return std::any_of(all.begin(), all.end(), [&](const PackedFound& a) {
    return std::any_of(all.begin(), all.end(), [&](const PackedFound& b) {
      return a.number == b.number && a.place.dp == b.place.dp && a.tokens != b.tokens;
    });
  });
}

/// Some token has a number that the data set does not have.
inline bool reads_what_is_not_there(const DataCase& of, const std::vector<PackedFound>& all) {
  return std::any_of(all.begin(), all.end(), [&](const PackedFound& found) {
    return std::any_of(found.tokens.begin(), found.tokens.end(),
                       [&](const PackedToken& own) { return own.token < 0 || own.token >= of.tokens(); });
  });
}

/// Two replicas have a token in common in some step.
inline bool tokens_read_twice(const std::vector<PackedFound>& all) {
  return std::any_of(all.begin(), all.end(), [&](const PackedFound& a) {
    const std::vector<Count> numbers = numbers_of(a.tokens, &PackedToken::token);
    return std::any_of(all.begin(), all.end(), [&](const PackedFound& b) {
      return a.number == b.number && a.place.dp < b.place.dp &&
             std::any_of(b.tokens.begin(), b.tokens.end(), [&](const PackedToken& token) {
               return std::find(numbers.begin(), numbers.end(), token.token) != numbers.end();
             });
    });
  });
}

}  // namespace shardlings
