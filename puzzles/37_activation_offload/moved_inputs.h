// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// Which inputs move, how many bytes they are, and how long a step takes in which they do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "grading/formulas/sharding.h"
#include "grading/formulas/training.h"

namespace shardlings::activation_offload {

using namespace grading::formulas;
using cases::Case;
using front::HostLink;
using grading::judge::Formula;
using grading::judge::named;

/// Bytes of the inputs x[0], x[1], …
inline std::vector<std::int64_t> inputs_of(const Case& kase) {
  std::vector<std::int64_t> bytes;
  for (const LayerBytes& layer : layer_bytes(kase)) bytes.push_back(layer.input);
  return bytes;
}

/// Those of layers [begin, end); none if there are no such layers.
inline std::int64_t input_bytes(const Case& kase, Count begin, Count end) {
  const std::vector<std::int64_t> inputs = inputs_of(kase);
  return begin < end ? std::accumulate(inputs.begin() + begin, inputs.begin() + end, std::int64_t{0}) : 0;
}

/// x[0] is the batch, and the two last ones are needed again at once.
inline bool moves(const Case& kase, Count l) {
  return 0 < l && l < number_of_layers(kase) - 2;
}

inline Count number_moved(const Case& kase) {
  return std::max<Count>(0, number_of_layers(kase) - 3);
}

inline Formula<Bytes> moved_bytes(const Case& kase) {
  return named("x[1] to x[L-3]", Bytes(input_bytes(kase, 1, number_of_layers(kase) - 2)));
}

inline Nanos copy_time(const Case& kase, HostLink way, Count l) {
  const front::LinkSpeed& link = kase.cluster.host_links[static_cast<std::size_t>(way)];
  const double seconds = static_cast<double>(input_bytes(kase, l, l + 1)) / link.bytes_per_second;
  return link.latency + Nanos(static_cast<std::int64_t>(seconds * 1e9 + 0.5));
}

/// The step with each copy started as soon as there is something to copy and room for it, and waited for as late as the
/// memory allows.
inline Nanos end_of_step(const Case& kase) {
  const Count layers = number_of_layers(kase);
  const front::CallTable& table = kase.cluster.table;
  Nanos now, out_free, in_free;
  std::vector<Nanos> gone(static_cast<std::size_t>(layers)), back = gone;
  const auto at = [](std::vector<Nanos>& times, Count l) -> Nanos& { return times[static_cast<std::size_t>(l)]; };
  for (Count l = 0; l < layers; ++l) {
    if (moves(kase, l)) {
      at(gone, l) = out_free = std::max(now, out_free) + copy_time(kase, HostLink::to_host, l);
    }
    now += table.forward;
    if (moves(kase, l - 1)) now = std::max(now, at(gone, l - 1));
  }
  now += table.loss;
  for (Count l = layers - 1; l >= 0; --l) {
    if (moves(kase, l)) now = std::max(now, at(back, l));
    if (moves(kase, l - 1)) {
      at(back, l - 1) = in_free = std::max(now, in_free) + copy_time(kase, HostLink::to_device, l - 1);
    }
    now += (l + 1 < layers ? table.forward : Nanos(0)) + table.backward;
  }
  return now;
}

inline Formula<Nanos> computing_time(const Case& kase) {
  const Letters letter(kase);
  return (2 * letter.l - 1) * letter.f + letter.l * letter.b;
}

inline Formula<Nanos> time_budget(const Case& kase) {
  const Formula<Nanos> computing = computing_time(kase);
  const Nanos exposed = end_of_step(kase) - computing.value();
  return exposed == Nanos(0) ? computing : computing + named("what copies take longer", exposed);
}

}  // namespace shardlings::activation_offload
