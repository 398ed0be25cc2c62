// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// Bytes, memory and times of a step that gathers its weights in 8 bits: for the grader. Of n elements a code takes n
// bytes, a gradient 2 n, a master weight 4 n; 32 elements have a scale of a byte.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/parts.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/training.h"
#include "shardlings/ops.h"

namespace shardlings::low_precision {

using namespace grading::formulas;
using grading::judge::Formula;
using grading::judge::named;

constexpr std::int64_t kBytesOfBf16 = 2;
constexpr std::int64_t kBytesOfLoss = 4;

/// Elements of each layer.
inline std::vector<Count> sizes(const cases::Case& kase) {
  std::vector<Count> all;
  for (const LayerBytes& layer : layer_bytes(kase, DType::bf16)) all.push_back(layer.weights / kBytesOfBf16);
  return all;
}
inline Count size_at(const std::vector<Count>& all, std::size_t l) {
  return l < all.size() ? all[l] : 0;
}
inline Count blocks(const cases::Case& kase) {
  Count all = 0;
  for (const Count n : sizes(kase)) all += scaling_blocks(n);
  return all;
}

/// \name On the wire
/// A ring over all ranks, of n elements of `size` bytes: everything but one part goes on (front/group/ring_traffic.h).
/// @{
inline std::int64_t scattered(const cases::Case& kase, int rank, Count n, std::int64_t size) {
  return kase.ranks == 1 ? 0 : size * (n - part_of(n, kase.ranks, rank).size());
}
inline std::int64_t gathered(const cases::Case& kase, int rank, Count n, std::int64_t size) {
  return scattered(kase, (rank + 1) % kase.ranks, n, size);
}
inline std::int64_t agreed_bytes(const cases::Case& kase, int rank) {
  return scattered(kase, rank, blocks(kase), 1) + gathered(kase, rank, blocks(kase), 1);
}
/// Codes of all layers for forward, and of all but the last one for backward.
inline std::int64_t gathered_bytes(const cases::Case& kase, int rank) {
  std::int64_t bytes = 0;
  const std::vector<Count> all = sizes(kase);
  for (std::size_t l = 0; l < all.size(); ++l) bytes += (l + 1 < all.size() ? 2 : 1) * gathered(kase, rank, all[l], 1);
  return bytes;
}
inline std::int64_t scattered_bytes(const cases::Case& kase, int rank) {
  std::int64_t bytes = 0;
  for (const Count n : sizes(kase)) bytes += scattered(kase, rank, n, kBytesOfBf16);
  return bytes;
}
/// In a step.
inline Formula<Bytes> wire_bytes(const cases::Case& kase, int rank) {
  const std::vector<Count> all = sizes(kase);
  Count n = 0;
  for (const Count layer : all) n += layer;
  const Formula<Bytes> codes = named("codes", Bytes(n)), last = named("those of layer L-1", Bytes(all.back()));
  const Formula<Bytes> gradients = named("gradients", Bytes(kBytesOfBf16 * n)),
                       scales = named("scales", Bytes(blocks(kase)));
  return simplest(share_of_others(named("N", kase.ranks)) * (2 * scales + 2 * codes - last + gradients),
                  named("all-reduce of the scales", Bytes(agreed_bytes(kase, rank))) +
                      named("all-gathers", Bytes(gathered_bytes(kase, rank))) +
                      named("reduce-scatters", Bytes(scattered_bytes(kase, rank))));
}
/// @}

/// \name Memory
/// @{
/// What is there all the time: master weights, gradients and codes of this rank's parts, all scales, batch and loss.
struct Standing {
  std::int64_t master = 0, gradients = 0, codes = 0, scales = 0, batch = 0;
  std::int64_t total() const { return master + gradients + codes + scales + batch; }
};
inline Standing standing(const cases::Case& kase, int rank) {
  Standing there;
  for (const Count n : sizes(kase)) there.codes += part_of(n, kase.ranks, rank).size();
  there.master = 4 * there.codes;
  there.gradients = kBytesOfBf16 * there.codes;
  there.scales = blocks(kase);
  there.batch = batch_bytes(kase) + kBytesOfLoss;
  return there;
}

/// The worst moment of a step: while backward of some layer runs.
struct WorstMoment {
  std::size_t layer = 0;
  std::int64_t kept = 0;       ///< inputs of layers up to it, and what was saved
  std::int64_t own = 0;        ///< what its backward needs besides
  std::int64_t weights = 0;    ///< of that layer, in bf16
  std::int64_t codes = 0;      ///< of the layer below, on their way
  std::int64_t gradients = 0;  ///< of that layer, and of the one above on its way
  std::int64_t total() const { return kept + own + weights + codes + gradients; }
};
inline WorstMoment worst_moment(const cases::Case& kase) {
  const std::vector<LayerBytes> layers = layer_bytes(kase, DType::bf16);
  const std::vector<Count> n = sizes(kase);
  WorstMoment moment, worst;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    moment.layer = l;
    moment.kept += layers[l].input + layers[l].saved;
    moment.own = layers[l].backward - layers[l].saved;
    moment.weights = layers[l].weights;
    moment.codes = size_at(n, l - 1);
    moment.gradients = layers[l].weights + weights_at(layers, l + 1);
    if (moment.total() >= worst.total()) worst = moment;
  }
  return worst;
}
inline Formula<Bytes> peak(const cases::Case& kase, int rank) {
  const Standing there = standing(kase, rank);
  const WorstMoment worst = worst_moment(kase);
  const auto bytes = [](std::string name, std::int64_t number) { return named(std::move(name), Bytes(number)); };
  Formula<Bytes> all = bytes("master weights/N", there.master) + bytes("gradients/N", there.gradients) +
                       bytes("codes/N", there.codes) + bytes("scales", there.scales) +
                       bytes("batch and loss", there.batch) +
                       bytes(fmt::format("activations of layers 0-{}", worst.layer), worst.kept) +
                       bytes(fmt::format("what backward of layer {} needs", worst.layer), worst.own) +
                       bytes("its weights in bf16", worst.weights);
  if (worst.codes > 0) all = all + bytes("codes of the layer below", worst.codes);
  return all + bytes("gradients in bf16, its own and that of the layer above", worst.gradients);
}

/// What is to be alive when forward of layer l has ended: its weights in bf16, and codes of the layer that is next.
inline std::int64_t planned_after_forward(const cases::Case& kase, int rank, std::size_t l) {
  const std::vector<LayerBytes> layers = layer_bytes(kase, DType::bf16);
  const std::vector<Count> n = sizes(kase);
  std::int64_t bytes = standing(kase, rank).total() + layers[l].output + layers[l].weights;
  for (std::size_t i = 0; i <= l; ++i) bytes += layers[i].input + layers[i].saved;
  return bytes + size_at(n, l + 1 < n.size() ? l + 1 : l - 1);
}
/// @}

/// \name Time
/// @{
/// Of a ring over all ranks, whose longest part has so many bytes.
inline Nanos ring_time(const cases::Case& kase, std::int64_t longest) {
  const front::LinkSpeed& link = kase.cluster.links.front();
  return (kase.ranks - 1) *
         (link.latency + Nanos(std::llround(static_cast<double>(longest) / link.bytes_per_second * 1e9)));
}
inline Nanos ring_time(const cases::Case& kase, Count n, std::int64_t size) {
  return ring_time(kase, size * part_of(n, kase.ranks, 0).size());
}
inline Formula<Nanos> time_budget(const cases::Case& kase) {
  const Letters letter(kase);
  const std::vector<Count> n = sizes(kase);
  return in_all_steps(kase, named("all-reduce of the scales", 2 * ring_time(kase, blocks(kase), 1)) +
                                named("first all-gather", ring_time(kase, n.front(), 1)) +
                                letter.l * (letter.f + letter.b) +
                                named("last reduce-scatter", ring_time(kase, n.front(), kBytesOfBf16)));
}
/// @}

}  // namespace shardlings::low_precision
