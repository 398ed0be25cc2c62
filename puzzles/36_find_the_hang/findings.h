// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// What the programs of this puzzle have of it, and what is right to find in their records: harness and grader have it.
#pragma once

#include <array>
#include <cstddef>

// The first two are those of puzzle.cpp.

enum class Cause {
  called_by_some,
  fewer_turns,
  other_order,
  all_send_first,
  groups_crossed,
  message_missing,
  own_size,
  skipped_for_data,
  another_root,
  another_type,
  slow_rank,
};

struct Finding {
  int rank = -1;  ///< shardlings::kNobody, which stands for all of them
  int call = 0;
  Cause cause = Cause::slow_rank;
};

namespace hang {

inline constexpr int kAllAlike = Finding().rank;

inline bool same(const Finding& a, const Finding& b) {
  return a.rank == b.rank && a.call == b.call && a.cause == b.cause;
}

inline const char* name_of(Cause cause) {
  constexpr std::array kNames = {"called_by_some", "fewer_turns",     "other_order", "all_send_first",
                                 "groups_crossed", "message_missing", "own_size",    "skipped_for_data",
                                 "another_root",   "another_type",    "slow_rank"};
  const auto at = static_cast<std::size_t>(cause);
  return at < kNames.size() ? kNames[at] : "no cause";
}

/// Of programs 1 to 8, from the records in README.md. Mutants show that each program hangs so.
inline constexpr std::array<Finding, 8> kFindings = {{{0, 1, Cause::called_by_some},
                                                      {2, 3, Cause::fewer_turns},
                                                      {1, 1, Cause::other_order},
                                                      {kAllAlike, 1, Cause::all_send_first},
                                                      {1, 1, Cause::groups_crossed},
                                                      {0, 3, Cause::message_missing},
                                                      {2, 1, Cause::own_size},
                                                      {1, 5, Cause::skipped_for_data}}};

}  // namespace hang
