// What a step makes of gradients and residuals, by the rule and by mistakes: for the grader. All arithmetic is f32, in
// the order that the lesson says, so that results can be compared bit for bit.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
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

/// What one rank sends, and what it goes on owing.
struct SentOfRank {
  std::vector<std::size_t> places;
  Numbers values, residual;
};

inline SentOfRank sent_of_rank(const Numbers& grad, const Numbers& residual, Count k, FeedbackMistake mistake) {
  const bool feedback = mistake != FeedbackMistake::no_feedback;
  if (mistake == FeedbackMistake::one_more) ++k;
  if (mistake == FeedbackMistake::one_less) --k;
  Numbers owed = grad;
  const bool added = feedback && mistake != FeedbackMistake::forgotten;
  for (std::size_t i = 0; added && i < owed.size(); ++i) owed[i] = residual[i] + grad[i];
  SentOfRank sent{largest_places(mistake == FeedbackMistake::chosen_by_gradient ? grad : owed, k), {}, owed};
  for (const std::size_t place : sent.places) {
    sent.values.push_back(owed[place]);
    if (mistake != FeedbackMistake::sent_stays && mistake != FeedbackMistake::sum_subtracted) sent.residual[place] = 0;
  }
  if (!feedback) sent.residual = residual;
  return sent;
}

/// One step of all ranks, from their gradients and residuals.
inline StepOfRanks compressed_step(const std::vector<Numbers>& grads, const std::vector<Numbers>& residuals, Count k,
                                   FeedbackMistake mistake) {
  std::vector<SentOfRank> sent;
  for (std::size_t r = 0; r < grads.size(); ++r) sent.push_back(sent_of_rank(grads[r], residuals[r], k, mistake));
  StepOfRanks step;
  for (std::size_t r = 0; r < grads.size(); ++r) {
    Numbers sum(grads[r].size());
    if (mistake == FeedbackMistake::own_counted) sum = grads[r];
    for (std::size_t other = 0; other < sent.size(); ++other) {
      if (mistake == FeedbackMistake::own_only && other != r) continue;
      for (std::size_t j = 0; j < sent[other].places.size(); ++j) {
        float& element = sum[mistake == FeedbackMistake::own_places ? sent[r].places[j] : sent[other].places[j]];
        if (mistake == FeedbackMistake::last_one_wins) element = 0;
        element += sent[other].values[j];
      }
    }
    for (float& element : sum) {
      if (mistake == FeedbackMistake::averaged) element /= static_cast<float>(grads.size());
    }
    Numbers residual = sent[r].residual;
    for (std::size_t i = 0; mistake == FeedbackMistake::sum_subtracted && i < sum.size(); ++i) residual[i] -= sum[i];
    step.sums.push_back(std::move(sum));
    step.residuals.push_back(std::move(residual));
  }
  return step;
}

}  // namespace shardlings
