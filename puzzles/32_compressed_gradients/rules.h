// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// What a step makes of gradients and residuals, by the rule and by mistakes: for the grader. All arithmetic is f32, in
// the order that the lesson says, so that results can be compared bit for bit.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "shardlings/tensor.h"

namespace shardlings {

enum class FeedbackMistake : std::uint8_t {
  none,
  no_feedback,         ///< the residual is neither read nor written
  forgotten,           ///< what was owed before is lost: the residual is of this step alone
  sent_stays,          ///< what was sent stays in the residual
  sum_subtracted,      ///< the sum of all ranks is taken from the residual
  chosen_by_gradient,  ///< places are those of the largest elements of the gradient
  one_more,            ///< k + 1 elements
  one_less,            ///< k - 1
  own_only,            ///< the sum has this rank's elements alone
  averaged,            ///< over the ranks
  own_counted,         ///< the rank's own gradient is in the sum, too
  own_places,          ///< the others' values are put where this rank's belong
  last_one_wins,       ///< of an element that several ranks send the last one's value is taken
  first_one_wins,      ///< the first one's value
  by_value,            ///< places are those of the largest values: negative elements come last
  first_places,        ///< places are 0 to k - 1
  chosen_by_old,       ///< places are those of the largest elements of what was owed before the gradient came
  step_late,           ///< what was owed before is sent, and the gradient is owed from then on
  gradient_lost,       ///< the gradient is cleared before it is owed
  gradient_sent,       ///< the elements of the gradient are sent at the right places, and not what is owed there
  kth_of_ranks,        ///< k/N elements, one at least
  in_blocks,           ///< the largest element of each of k blocks
  rounded_lost,        ///< values are sent in bf16, and what rounding takes is lost
  rounded_owed,        ///< values are sent in bf16, and what rounding takes is owed
  residuals_averaged,  ///< the residual is the mean of all ranks'
  mean_subtracted,     ///< the mean of all ranks is taken from the residual
  own_twice,           ///< the rank's own values are in the sum twice
  own_missing,         ///< the rank's own values are not in the sum
  last_missing,        ///< the last rank's values are not in the sum
  next_places,         ///< values of a rank are put where those of the next one belong
  largest_of_sum,      ///< the sum keeps its k largest elements
};

using Numbers = std::vector<float>;

/// What all ranks have, one behind the other.
struct StepOfRanks {
  std::vector<Numbers> sums, residuals;
};

/// The places of the k elements of the largest absolute value, of equal ones the first, ascending.
inline std::vector<std::size_t> largest_places(const Numbers& x, Count k) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return std::abs(x[a]) > std::abs(x[b]); });
  order.resize(static_cast<std::size_t>(std::clamp<Count>(k, 0, static_cast<Count>(x.size()))));
  std::sort(order.begin(), order.end());
  return order;
}

/// Of one rank.
struct OwedOfRank {
  const Numbers& grad;
  const Numbers& residual;  ///< before the gradient came
  Numbers owed;
};

/// To the nearest number of bf16, of two equally near ones the even one. For finite numbers.
inline float rounded_to_bf16(float x) {
  constexpr std::uint32_t kLow = 16, kHalf = 0x7FFF;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return std::bit_cast<float>((bits + kHalf + ((bits >> kLow) & 1U)) >> kLow << kLow);
}

/// Where the largest elements of k equal blocks are, if there are such.
inline std::vector<std::size_t> largest_of_blocks(const Numbers& x, Count k) {
  if (k < 1 || static_cast<Count>(x.size()) % k != 0) return largest_places(x, k);
  const auto length = static_cast<std::ptrdiff_t>(x.size()) / k;
  std::vector<std::size_t> places;
  for (std::ptrdiff_t first = 0; first < static_cast<std::ptrdiff_t>(x.size()); first += length) {
    const Numbers block(x.begin() + first, x.begin() + first + length);
    places.push_back(static_cast<std::size_t>(first) + largest_places(block, 1).front());
  }
  return places;
}

/// What is sent of a rank's elements, by the rule or by a mistake.
inline std::vector<std::size_t> places_of(const OwedOfRank& rank, Count k, std::size_t ranks, FeedbackMistake mistake) {
  switch (mistake) {
    case FeedbackMistake::one_more: return largest_places(rank.owed, k + 1);
    case FeedbackMistake::one_less: return largest_places(rank.owed, k - 1);
    case FeedbackMistake::kth_of_ranks:
      return largest_places(rank.owed, std::max<Count>(1, k / static_cast<Count>(ranks)));
    case FeedbackMistake::chosen_by_gradient: return largest_places(rank.grad, k);
    case FeedbackMistake::chosen_by_old: return largest_places(rank.residual, k);
    case FeedbackMistake::in_blocks: return largest_of_blocks(rank.owed, k);
    case FeedbackMistake::first_places: return largest_places(Numbers(rank.owed.size()), k);
    case FeedbackMistake::by_value: {
      Numbers positive = rank.owed;
      for (float& element : positive) element = std::max(element, 0.0F);
      return largest_places(positive, k);
    }
    default: return largest_places(rank.owed, k);
  }
}

/// What a rank owes, or takes for that, when it chooses.
inline Numbers owed_of(const Numbers& grad, const Numbers& residual, FeedbackMistake mistake) {
  if (mistake == FeedbackMistake::no_feedback || mistake == FeedbackMistake::forgotten) return grad;
  if (mistake == FeedbackMistake::step_late || mistake == FeedbackMistake::gradient_lost) return residual;
  Numbers owed = residual;
  for (std::size_t i = 0; i < owed.size(); ++i) owed[i] += grad[i];
  return owed;
}

/// What one rank sends, and what it goes on owing.
struct SentOfRank {
  std::vector<std::size_t> places;
  Numbers values, residual;
};

inline SentOfRank sent_of_rank(const Numbers& grad, const Numbers& residual, Count k, std::size_t ranks,
                               FeedbackMistake mistake) {
  const OwedOfRank rank{grad, residual, owed_of(grad, residual, mistake)};
  SentOfRank sent{places_of(rank, k, ranks, mistake), {}, rank.owed};
  const bool rounded = mistake == FeedbackMistake::rounded_lost || mistake == FeedbackMistake::rounded_owed;
  const bool stays = mistake == FeedbackMistake::sent_stays || mistake == FeedbackMistake::sum_subtracted ||
                     mistake == FeedbackMistake::mean_subtracted;
  for (const std::size_t place : sent.places) {
    const float element = mistake == FeedbackMistake::gradient_sent ? grad[place] : rank.owed[place];
    const float value = rounded ? rounded_to_bf16(element) : element;
    sent.values.push_back(value);
    if (!stays) sent.residual[place] -= mistake == FeedbackMistake::rounded_lost ? element : value;
  }
  if (mistake == FeedbackMistake::no_feedback) sent.residual = residual;
  if (mistake == FeedbackMistake::step_late) {
    for (std::size_t i = 0; i < grad.size(); ++i) sent.residual[i] += grad[i];
  }
  return sent;
}

/// Whether a rank's values are in another one's sum.
inline bool is_added(std::size_t of, std::size_t at, std::size_t ranks, FeedbackMistake mistake) {
  if (mistake == FeedbackMistake::own_only) return of == at;
  if (mistake == FeedbackMistake::own_missing) return of != at;
  return mistake != FeedbackMistake::last_missing || of + 1 < ranks;
}

/// Where a rank's values are put in another one's sum.
inline const std::vector<std::size_t>& put_at(const std::vector<SentOfRank>& sent, std::size_t of, std::size_t at,
                                              FeedbackMistake mistake) {
  if (mistake == FeedbackMistake::own_places) return sent[at].places;
  return sent[mistake == FeedbackMistake::next_places ? (of + 1) % sent.size() : of].places;
}

/// What rank `at` has made of what all have sent.
inline Numbers sum_at(const std::vector<SentOfRank>& sent, std::size_t at, const Numbers& grad, Count k,
                      FeedbackMistake mistake) {
  Numbers sum(grad.size());
  std::vector<bool> written(grad.size());
  if (mistake == FeedbackMistake::own_counted) sum = grad;
  for (std::size_t of = 0; of < sent.size(); ++of) {
    if (!is_added(of, at, sent.size(), mistake)) continue;
    const std::vector<std::size_t>& places = put_at(sent, of, at, mistake);
    const float times = mistake == FeedbackMistake::own_twice && of == at ? 2.0F : 1.0F;
    for (std::size_t j = 0; j < places.size(); ++j) {
      if (mistake == FeedbackMistake::first_one_wins && written[places[j]]) continue;
      float& element = sum[places[j]];
      if (mistake == FeedbackMistake::last_one_wins) element = 0;
      element += times * sent[of].values[j];
      written[places[j]] = true;
    }
  }
  for (float& element : sum) {
    if (mistake == FeedbackMistake::averaged) element /= static_cast<float>(sent.size());
  }
  if (mistake != FeedbackMistake::largest_of_sum) return sum;
  Numbers kept(sum.size());
  for (const std::size_t place : largest_places(sum, k)) kept[place] = sum[place];
  return kept;
}

inline void average(std::vector<Numbers>& of_ranks) {
  for (std::size_t i = 0; i < of_ranks.front().size(); ++i) {
    float sum = 0;
    for (const Numbers& each : of_ranks) sum += each[i];
    for (Numbers& each : of_ranks) each[i] = sum / static_cast<float>(of_ranks.size());
  }
}

/// One step of all ranks, from their gradients and residuals.
inline StepOfRanks compressed_step(const std::vector<Numbers>& grads, const std::vector<Numbers>& residuals, Count k,
                                   FeedbackMistake mistake) {
  const std::size_t ranks = grads.size();
  std::vector<SentOfRank> sent;
  for (std::size_t r = 0; r < ranks; ++r) sent.push_back(sent_of_rank(grads[r], residuals[r], k, ranks, mistake));
  const bool subtracted = mistake == FeedbackMistake::sum_subtracted || mistake == FeedbackMistake::mean_subtracted;
  const float share = mistake == FeedbackMistake::mean_subtracted ? 1.0F / static_cast<float>(ranks) : 1.0F;
  StepOfRanks step;
  for (std::size_t r = 0; r < ranks; ++r) {
    Numbers sum = sum_at(sent, r, grads[r], k, mistake), residual = sent[r].residual;
    for (std::size_t i = 0; subtracted && i < sum.size(); ++i) residual[i] -= share * sum[i];
    step.sums.push_back(std::move(sum));
    step.residuals.push_back(std::move(residual));
  }
  if (mistake == FeedbackMistake::residuals_averaged) average(step.residuals);
  return step;
}

}  // namespace shardlings
