/// \file
/// How long a step takes whose optimizer works on the host: gradients, updates and weights pass through the lanes as
/// through a pipeline, while backward computes.
#pragma once

#include <array>
#include <cstdint>

#include "case/case.h"
#include "grading/judge/formula.h"

namespace shardlings::grading::formulas {

/// What the time of such a step is made of.
enum class OffloadStage : std::uint8_t { forward, backward, reduce, to_host, adam, to_device, gather };
inline constexpr int kOffloadStages = 7;

/// A way through a step: how long it stays with each stage, in nanoseconds.
struct OffloadPath {
  std::array<std::int64_t, kOffloadStages> spent{};

  std::int64_t ns() const;
  OffloadPath then(OffloadStage stage, std::int64_t duration) const;
  /// All that is not nothing: "forward + backward + … = 4 ms + 2 ms + …".
  judge::Formula<Nanos> formula() const;
};

/// The longest way through a step that starts everything as soon as it can, with two gradients of layers on the device
/// at most: after backward of a layer, the gradient of the layer above has to have left. Each layer is
/// reduce-scattered, and each rank brings its part to the host, updates it there, and brings the weights back; layers
/// are gathered as they arrive, the last one first. On a cluster with a table of calls (reference/clock.md has the
/// rules of the lanes).
///
/// For L equal layers on one rank, whose backward, copy to the host, Adam and copy back take B, D, A, U:
/// L F + B + D + A + U + (L - 1) max(B, D, A, U).
OffloadPath longest_offload_path(const cases::Case& kase);

}  // namespace shardlings::grading::formulas
