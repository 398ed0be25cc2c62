/// \file
/// How a framework runs the blocks of a model, which the program that it trains does not say. Only simulations have
/// anything but the default.
#pragma once

#include <cstdint>
#include <memory>

#include "base/words.h"

namespace shardlings::model {

/// What the backward of a transformer block computes again in place of finding it kept (Korthikanti et al. 2022):
/// nothing, the whole block, or its inner attention: the scores and what is made of them.
enum class Recompute : std::uint8_t { off, full, selective };
inline constexpr Words<Recompute, 3> kRecomputeWords{{"off", "full", "selective"}};

struct SoftwareStack;

struct Execution {
  Recompute recompute = Recompute::off;
  /// nullptr: the layers of this project, and its own way to deal them to stages. With a stack, stages of a pipeline
  /// have equally many blocks, and embedding and head come on top.
  std::shared_ptr<const SoftwareStack> stack{};

  bool is_plain() const { return recompute == Recompute::off && stack == nullptr; }
};

}  // namespace shardlings::model
