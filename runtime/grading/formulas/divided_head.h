/// \file
/// Logits, loss and gradient of a head whose vocabulary is divided over ranks, in double precision and with the
/// mistakes of a rank that forgets the others: for telling from a wrong loss what has gone wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "shardlings/tensor.h"

namespace shardlings::grading::formulas {

/// Where a rank takes its part of the vocabulary to begin: where it does, at the first id of all, or at its rank times
/// its own length, or times that of the shortest part, though parts may differ by one.
enum class TakenBegin : std::uint8_t { right, none, own_length_times_rank, shortest_times_rank };

Count taken_begin(Count vocabulary, int ranks, int rank, TakenBegin begin);

/// Something that is not reduced over the ranks, or not looked up in the right part. The right loss has none of these.
struct HeadMistake {
  const char* diagnosis;
  bool own_top = false;                  ///< each rank subtracts its own largest logit
  bool own_sum = false;                  ///< each rank has the sum of its own exponentials
  bool own_hit = false;                  ///< each rank has the target's logit only if it is its own
  TakenBegin begin = TakenBegin::right;  ///< for the target's column
  bool late_hit = false;                 ///< the target's logit is looked up among the exponentials
  double sum_factor = 1;                 ///< the sum of exponentials is so many times too large
};

/// By what the exponentials of a row are divided in the gradient of the logits.
enum class Denominator : std::uint8_t { nothing, sum, own_sum };

class DividedHead {
 public:
  /// x is (targets.size(), width), weight (vocabulary, width); no target is negative.
  DividedHead(std::vector<double> x, const std::vector<double>& weight, std::vector<std::int32_t> targets, Count width,
              int ranks);

  /// The mean cross entropy over the tokens, as a rank has it.
  double loss(const HeadMistake& mistake, int rank) const;

  /// Gradient of the weight if that of a token's logits is the softmax (or what another denominator makes of the
  /// exponentials of the distance from the largest) minus `one` at the target, divided by the number of tokens.
  std::vector<double> weight_gradient(double one, Denominator denominator) const;

 private:
  double logit(Count token, Count column) const;
  Range part(int rank) const;
  double top(Count token, int rank) const;
  double top(Count token) const;
  double exponentials(Count token, int rank, double shift) const;
  double hit(Count token, int rank, const HeadMistake& mistake) const;

  std::vector<double> x_, logits_;
  std::vector<std::int32_t> targets_;
  Count tokens_, width_, vocabulary_;
  int ranks_;
};

}  // namespace shardlings::grading::formulas
