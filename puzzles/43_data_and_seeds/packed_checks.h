// The checks of packed documents, and how they name what is wrong: for the grader.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "packed.h"

namespace shardlings {

inline std::string name_of(const grading::judge::CheckContext& check, const PackedFound& found) {
  return fmt::format("{} (replica {}, stage {}, part {}) in step {}, from cursor {} on", check.name_of(found.rank),
                     found.place.dp, found.place.pp, found.place.tp, found.number, found.cursor);
}

inline void check_packed_cursor(grading::judge::CheckContext& check, const DataCase& of) {
  const std::vector<PackedFound> all = packed_found(check, of);
  const auto is = [&](const auto& count) { return all_count(of, all, &PackedFound::next, count); };
  for (const PackedFound& found : all) {
    const Count size = found.cursor < 0 ? 0 : right_step(of, found).size();
    if (check.exactly("cursor of " + name_of(check, found), found.next,
                      grading::judge::named("cursor", found.cursor) + grading::judge::named("tokens of the step", size),
                      "tokens")) {
      continue;
    }
    if (std::any_of(all.begin(), all.end(), [](const PackedFound& step) { return step.cursor < 0; })) return;
    if (is([](const auto& step, const auto&, Count own) { return step.cursor + own; })) {
      return check.diagnose("cursor_of_a_replica");
    }
    if (is([](const auto& step, const auto& right, Count) { return step.cursor + right.sequences(); })) {
      return check.diagnose("cursor_counts_sequences");
    }
    if (is([&](const auto& step, const auto& right, Count) { return step.cursor + of.batch * right.s; })) {
      return check.diagnose("past_the_epoch");
    }
    if (is([&](const auto& step, const auto& right, Count) { return (step.cursor + right.size()) % of.tokens(); })) {
      return check.diagnose("epoch_forgotten");
    }
    return;
  }
}

inline void check_packed_tokens(grading::judge::CheckContext& check, const DataCase& of) {
  const std::vector<PackedFound> all = packed_found(check, of);
  for (const PackedFound& found : all) {
    if (found.cursor < 0) return;
    const std::vector<Count> expected = numbers_of(right_tokens(of, found), &PackedToken::token),
                             tokens = numbers_of(found.tokens, &PackedToken::token);
    if (check.exactly("tokens read by " + name_of(check, found), found.count,
                      grading::judge::named("of the replica's sequences", static_cast<Count>(expected.size())),
                      "tokens")) {
      if (tokens == expected) continue;
      check.fail(fmt::format("tokens {} on {}", fmt::join(expected, ", "), name_of(check, found)),
                 fmt::format("tokens {}", fmt::join(tokens, ", ")));
    }
    if (const char* mistake = known_mistake(of, all, grading::formulas::known_packings(), &PackedToken::token)) {
      return check.diagnose(mistake);
    }
    if (reads_what_is_not_there(of, all)) return check.diagnose("numbers_not_there");
    if (packs_differ_in_replica(all)) return check.diagnose("replica_disagrees");
    if (tokens_read_twice(all)) check.diagnose("same_data_twice");
    return;
  }
}

/// One number of each token: what it predicts, or what it sees.
inline bool check_of_tokens(grading::judge::CheckContext& check, const DataCase& of,
                            const std::vector<PackedFound>& all, OfToken which, const char* what) {
  for (const PackedFound& found : all) {
    const std::vector<Count> expected = numbers_of(right_tokens(of, found), which),
                             numbers = numbers_of(found.tokens, which);
    if (numbers == expected) continue;
    check.fail(fmt::format("{} {} on {}", what, fmt::join(expected, ", "), name_of(check, found)),
               fmt::format("{}", fmt::join(numbers, ", ")));
    if (const char* mistake = known_mistake(of, all, grading::formulas::known_targets(), which))
      check.diagnose(mistake);
    return false;
  }
  return true;
}

/// What each token predicts and sees, and what the loss is divided by; where nothing is packed, that there is nothing.
inline void check_documents(grading::judge::CheckContext& check, const DataCase& of) {
  if (!of.is_packed()) {
    check.exactly("packed documents", Count(0), grading::judge::named("documents of the case", Count(0)), "documents");
    return;
  }
  const std::vector<PackedFound> all = packed_found(check, of);
  if (!check_of_tokens(check, of, all, &PackedToken::target, "targets") ||
      !check_of_tokens(check, of, all, &PackedToken::sees, "first positions that are seen:")) {
    return;
  }
  for (const PackedFound& found : all) {
    if (check.exactly("tokens that count, by " + name_of(check, found), found.loss_tokens,
                      grading::judge::named("targets of the step", right_step(of, found).with_target()), "tokens")) {
      continue;
    }
    const auto is = [&](const auto& count) { return all_count(of, all, &PackedFound::loss_tokens, count); };
    if (is([](const auto&, const auto& right, Count) { return right.size(); }))
      return check.diagnose("every_token_counted");
    if (is([](const auto&, const auto& right, Count) { return right.sequences() * right.s; })) {
      check.diagnose("every_token_counted");
    }
    return;
  }
}

}  // namespace shardlings
