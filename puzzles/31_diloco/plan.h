// What a case says of its outer steps: harness and grader have the same plan.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "base/parts.h"
#include "base/random.h"
#include "shardlings/puzzle.h"

namespace shardlings {

/// The worker's gradient is w minus its own target, in numbers that are exact in f32, and not that of a model.
template <class Case>
bool is_quadratic(const Case& kase) {
  return kase.integer("quadratic") != 0;
}

/// What worker k's difference weighs in exact cases: 1, 1, 2, 4, ... times more tokens than an int can count: powers of
/// two, and so is their sum.
inline Count exact_tokens(int worker) {
  constexpr int kLeast = 31, kMost = 62;
  return Count{1} << std::clamp(kLeast + worker - 1, kLeast, kMost);
}

/// For a model of so many layers; tokens_of(worker, micro) are those of a micro-batch, and inner step s, from 1 on, is
/// of micro-batch (s - 1) mod their number. Throws std::runtime_error for numbers that no run has.
template <class Case, class Tokens>
OuterPlan outer_plan_of(const Case& kase, Count layers, Tokens tokens_of) {
  OuterPlan plan;
  plan.steps = kase.steps;
  plan.every = static_cast<int>(kase.integer("every"));
  plan.overlap = static_cast<int>(kase.integer("overlap"));
  plan.mix = static_cast<float>(kase.number("mix"));
  plan.lr = static_cast<float>(kase.number("outer_lr"));
  plan.momentum = static_cast<float>(kase.number("outer_momentum"));
  const int fragments = static_cast<int>(kase.integer("fragments"));
  if (fragments < 1 || fragments > layers || plan.every < fragments || plan.every % fragments != 0) {
    throw std::runtime_error("every is no multiple of fragments, or there are fewer layers than those");
  }
  const int interval = plan.every / fragments;
  if (plan.overlap < 0 || plan.overlap >= interval) {
    throw std::runtime_error("overlap has to be shorter than the time between two rounds, every/fragments");
  }
  for (int p = 0; p < fragments; ++p) plan.fragments.push_back(part_of(layers, fragments, p));
  for (int round = 1; round * interval <= plan.steps; ++round) {
    const int to = round * interval - plan.overlap, from = std::max(0, to - plan.every);
    std::vector<Count> tokens;
    for (int worker = 0; worker < kase.ranks; ++worker) {
      Count of_worker = is_quadratic(kase) ? exact_tokens(worker) : 0;
      for (int step = from; step < to && !is_quadratic(kase); ++step) {
        of_worker += tokens_of(worker, step % kase.micro_batches);
      }
      const bool lost = round == kase.integer("lost_round") && worker == kase.integer("lost_worker");
      tokens.push_back(lost ? 0 : of_worker);
    }
    plan.tokens.push_back(std::move(tokens));
  }
  return plan;
}

/// Which fragment's round that is; the first round is number 0.
inline Range fragment_of(const OuterPlan& plan, int round) {
  return plan.fragments[static_cast<std::size_t>(round) % plan.fragments.size()];
}

/// Weights of an exact case: small whole numbers.
template <class Case>
std::vector<float> exact_weights(const Case& kase, int layer, Count size) {
  constexpr std::uint64_t kStream = 31;
  constexpr std::uint32_t kLargest = 9;
  std::vector<float> weights;
  for (Count i = 0; i < size; ++i) {
    const auto index = (static_cast<std::uint64_t>(layer) << 32U) + static_cast<std::uint64_t>(i);
    weights.push_back(static_cast<float>(below_at(2 * kLargest + 1, kase.seed, index, kStream)) - kLargest);
  }
  return weights;
}

}  // namespace shardlings
