// What a case says of its outer steps: harness and grader have the same plan.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "base/parts.h"
#include "case/data.h"
#include "shardlings/puzzle.h"

namespace shardlings {

/// The worker's gradient is w minus its own target, in numbers that are exact in f32, and not that of a model.
inline bool is_quadratic(const cases::Case& kase) {
  return kase.integer("quadratic") != 0;
}

/// From which data inner step `step`, from 1 on, of every worker is.
inline int micro_of_step(const cases::Case& kase, int step) {
  return (step - 1) % kase.micro_batches;
}

/// What a worker's difference weighs: the tokens of its inner steps after `from`, up to `to`. Of exact cases powers of
/// two whose sum is one: 1, 1, 2, 4, ...
inline Count tokens_between(const cases::Case& kase, int worker, int from, int to) {
  if (is_quadratic(kase)) return Count{1} << std::max(0, worker - 1);
  Count tokens = 0;
  for (int step = from + 1; step <= to; ++step) {
    tokens += cases::tokens_of_micro(kase, worker, micro_of_step(kase, step));
  }
  return tokens;
}

/// For a model of so many layers. Throws std::runtime_error for numbers that no run has.
inline OuterPlan outer_plan_of(const cases::Case& kase, Count layers) {
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
      const bool lost = round == kase.integer("lost_round") && worker == kase.integer("lost_worker");
      tokens.push_back(lost ? 0 : tokens_between(kase, worker, from, to));
    }
    plan.tokens.push_back(std::move(tokens));
  }
  return plan;
}

/// Which fragment's round that is; the first round is number 0.
inline Range fragment_of(const OuterPlan& plan, int round) {
  return plan.fragments[static_cast<std::size_t>(round) % plan.fragments.size()];
}

/// Weights and targets of an exact case: whole numbers.
inline std::vector<float> exact_weights(const cases::Case& kase, int layer, Count size) {
  return cases::integers_of(kase, kase.ranks + layer, size);
}

}  // namespace shardlings
