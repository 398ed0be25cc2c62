// What a case says of its run: harness and grader have the same.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

#include "base/random.h"
#include "shardlings/tensor.h"

namespace shardlings {

/// A micro-batch's gradient is a row of small whole numbers, and not that of a model: sums of them are exact in any
/// order, so whoever adds them up gets the same bits.
template <class Case>
bool is_exact(const Case& kase) {
  return kase.integer("exact") != 0;
}

/// The gradient of micro-batch `number` in an exact case; with the number behind the last one: the first weights.
template <class Case>
std::vector<float> exact_row(const Case& kase, Count number, Count size) {
  constexpr std::uint64_t kStream = 350;
  constexpr std::uint32_t kLargest = 9;
  std::vector<float> row;
  for (Count i = 0; i < size; ++i) {
    const auto index = (static_cast<std::uint64_t>(number) << 32U) + static_cast<std::uint64_t>(i);
    row.push_back(static_cast<float>(below_at(2 * kLargest + 1, kase.seed, index, kStream)) - kLargest);
  }
  return row;
}

/// Which micro-batch of the data that is; a run begins again at the first one behind the last.
template <class Case>
Count data_of(const Case& kase, Count step, Count i) {
  return (step * kase.integer("step_batch") + i) % kase.micro_batches;
}

/// How many ranks load the newest checkpoint after the run, one group after another: of so many that live.
inline std::set<int> loading_ranks(int live) {
  return {1, (live + 1) / 2, live};
}

/// What is asked of steps_between_saves, in seconds.
struct IntervalQuestion {
  double save = 0;
  double step = 0;
  double mean = 0;  ///< between two deaths
};

/// Some with short steps, and one whose step is longer than any good interval. Drawn from the case's seed.
template <class Case>
std::vector<IntervalQuestion> interval_questions(const Case& kase) {
  constexpr std::uint64_t kStream = 35, kQuestions = 5, kEach = 3;
  constexpr std::uint32_t kSpread = 1000;
  const auto between = [&](std::uint64_t index, double least, double most) {
    const double at = static_cast<double>(below_at(kSpread, kase.seed, index, kStream)) / kSpread;
    return least * std::pow(most / least, at);
  };
  std::vector<IntervalQuestion> questions;
  for (std::uint64_t i = 0; i < kQuestions; ++i) {
    const double mean = between(kEach * i, 3'600, 200'000);
    const double save = mean * between(kEach * i + 1, 1e-4, 2e-3);
    questions.push_back({save, between(kEach * i + 2, 0.2, 5), mean});
  }
  questions.back().step = 4 * std::sqrt(2 * questions.back().save * questions.back().mean);
  return questions;
}

/// Throws std::runtime_error for numbers that no run has.
template <class Case>
void check_plan(const Case& kase) {
  const Count replicas = kase.integer("replicas");
  if (replicas < 1 || replicas > kase.ranks) throw std::runtime_error("replicas: at least 1, and no more than ranks");
  if (kase.integer("step_batch") < 1) throw std::runtime_error("step_batch: at least 1");
  if (kase.integer("every") < 1) throw std::runtime_error("every: at least 1");
}

}  // namespace shardlings
