/// \file
/// Calls that a broken or hostile client might make: of the table, and changed in some places; or any bytes.
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "api/call.h"

namespace shardlings::detail {

class RandomCalls {
 public:
  explicit RandomCalls(std::uint64_t seed) : random_(seed) {}

  Call next();
  /// What was answered: its tensors, groups and Works appear in later calls.
  void learn(const Reply& reply);
  void learn_model(std::uint32_t id) { models_ = id; }
  /// A text, often one of those before, and sometimes a long one; and what may be the number of one.
  std::string text();
  TextId text_id() { return static_cast<TextId>(one_in(2) ? below(40) : static_cast<int>(bits())); }
  /// Calls that free all that was made so far.
  std::vector<Call> releases();

 private:
  std::uint64_t bits() { return random_(); }
  int below(int n) { return static_cast<int>(bits() % static_cast<std::uint64_t>(n)); }
  bool one_in(int n) { return below(n) == 0; }
  std::int64_t strange_number();
  Ref ref();
  Shape shape();
  void add(Call& call, const Field& field);
  void change(Call& call);

  std::mt19937_64 random_;
  std::deque<Ref> refs_;
  std::vector<Ref> made_;  ///< since the last release, as made_ids_
  std::deque<std::uint64_t> ids_;
  std::vector<std::uint64_t> made_ids_;
  std::uint32_t groups_ = 1;
  std::uint32_t models_ = 0;
  int numbers_ = 0, scalars_ = 0;  ///< of the call under construction
};

}  // namespace shardlings::detail
