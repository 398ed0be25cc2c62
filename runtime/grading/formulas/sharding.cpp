#include "grading/formulas/sharding.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/parts.h"
#include "case/data.h"
#include "grading/reference/trainer.h"

namespace shardlings::grading::formulas {
namespace {

std::int64_t part_bytes_of(std::int64_t bytes, int ranks, int rank) {
  return judge::kBytesOfF32 * part_of(bytes / judge::kBytesOfF32, ranks, rank).size();
}

/// f(bytes of the layer's weights) for each layer.
std::vector<std::int64_t> of_each_layer(const cases::Case& kase, auto f) {
  std::vector<std::int64_t> numbers;
  for (const LayerBytes& layer : layer_bytes(kase)) numbers.push_back(f(layer.weights));
  return numbers;
}

/// Bytes per second that a rank passes on in a ring over all ranks: those of its link inside the node, or of as many
/// ports as the node with the fewest ranks has.
double ring_bandwidth(const cases::Case& kase) {
  const auto [inside, between] = kase.cluster.links;
  const int per_node = kase.cluster.ranks_per_node;
  if (kase.ranks <= per_node) return inside.bytes_per_second;
  const int ports = kase.ranks % per_node == 0 ? per_node : kase.ranks % per_node;
  if (per_node == 1) return between.bytes_per_second;
  return std::min(inside.bytes_per_second, ports * between.bytes_per_second);
}

/// (N-1) steps of a ring whose messages have these bytes.
std::int64_t ring_time(const cases::Case& kase, std::int64_t message) {
  const auto slowest = kase.ranks > kase.cluster.ranks_per_node ? front::Link::inter_node : front::Link::intra_node;
  const Nanos latency = kase.cluster.links[static_cast<std::size_t>(slowest)].latency;
  const double transfer = std::floor(static_cast<double>(message) / ring_bandwidth(kase) * 1e9 + 0.5);
  return (kase.ranks - 1) * (latency.value() + static_cast<std::int64_t>(transfer));
}

/// What all ranks but one send on.
std::int64_t sent(const cases::Case& kase, std::int64_t bytes, int kept_rank) {
  return kase.ranks == 1 ? 0 : bytes - part_bytes_of(bytes, kase.ranks, kept_rank % kase.ranks);
}

}  // namespace

std::vector<std::int64_t> part_bytes(const cases::Case& kase, int rank) {
  return of_each_layer(kase, [&](std::int64_t bytes) { return part_bytes_of(bytes, kase.ranks, rank); });
}

std::int64_t sum_of(const std::vector<std::int64_t>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

std::vector<std::int64_t> reduce_scatter_bytes(const cases::Case& kase, int rank) {
  return of_each_layer(kase, [&](std::int64_t bytes) { return sent(kase, bytes, rank); });
}

std::vector<std::int64_t> all_gather_bytes(const cases::Case& kase, int rank) {
  return of_each_layer(kase, [&](std::int64_t bytes) { return sent(kase, bytes, rank + 1); });
}

std::int64_t all_reduce_bytes(const cases::Case& kase, Count count, int rank) {
  return sent(kase, judge::kBytesOfF32 * count, rank) + sent(kase, judge::kBytesOfF32 * count, rank + 1);
}

std::int64_t all_reduce_bytes_of_one(const cases::Case& kase, int rank) {
  return all_reduce_bytes(kase, 1, rank);
}

std::vector<std::int64_t> ring_times(const cases::Case& kase) {
  return of_each_layer(kase, [&](std::int64_t bytes) { return ring_time(kase, part_bytes_of(bytes, kase.ranks, 0)); });
}

std::int64_t all_reduce_time(const cases::Case& kase, Count count) {
  return 2 * ring_time(kase, part_bytes_of(judge::kBytesOfF32 * count, kase.ranks, 0));
}

std::int64_t all_reduce_time_of_one(const cases::Case& kase) {
  return all_reduce_time(kase, 1);
}

std::vector<double> loss_shares(const cases::Case& kase) {
  const reference::Layers weights = reference::initial_weights<double>(kase);
  reference::Layers unused = scaled(weights, 0);
  std::vector<double> shares;
  for (int rank = 0; rank < kase.ranks; ++rank) {
    double share = 0;
    for (int micro = 0; micro < kase.micro_batches; ++micro) {
      share += reference::train_micro(kase, cases::micro_of(kase, rank, micro), cases::tokens_of_step(kase), weights,
                                      unused);
    }
    shares.push_back(share);
  }
  return shares;
}

reference::Layers from_parts(const cases::Case& kase, const std::vector<reference::Layers>& gradients) {
  reference::Layers parts = gradients.front();
  for (std::size_t l = 0; l < parts.size(); ++l) {
    for (int rank = 0; rank < kase.ranks; ++rank) {
      const Range mine = part_of(static_cast<Count>(parts[l].size()), kase.ranks, rank);
      const std::vector<double>& from = gradients[static_cast<std::size_t>(rank)][l];
      std::copy(from.begin() + mine.begin, from.begin() + mine.end, parts[l].begin() + mine.begin);
    }
  }
  return parts;
}

reference::Layers gradient_of_micro(const cases::Case& kase, int micro, bool own_tokens) {
  const reference::Layers weights = reference::initial_weights<double>(kase);
  reference::Layers sum = scaled(weights, 0);
  for (int rank = 0; rank < kase.ranks; ++rank) {
    const cases::MicroData data = cases::micro_of(kase, rank, micro);
    reference::train_micro(kase, data, own_tokens ? data.tokens : cases::tokens_of_step(kase), weights, sum);
  }
  return sum;
}

std::vector<front::Event> collectives(const judge::CheckContext& check, int rank, front::Collective kind) {
  std::vector<front::Event> all = check.events(rank, front::EventKind::collective);
  const std::vector<std::string>& names = check.trace(rank).names;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [&](const front::Event& event) { return names.at(event.name) != back::name_of(kind); }),
            all.end());
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.order < b.order; });
  return all;
}

bool overlaps(const std::vector<front::Event>& transfers, const std::vector<front::Event>& computing) {
  // Of the work by its beginnings, with the latest end up to each: a trace may have tens of thousands of events.
  std::vector<std::pair<Nanos, Nanos>> work;
  for (const front::Event& event : computing) work.emplace_back(event.begin, event.end);
  std::sort(work.begin(), work.end());
  for (std::size_t i = 1; i < work.size(); ++i) work[i].second = std::max(work[i].second, work[i - 1].second);
  return std::any_of(transfers.begin(), transfers.end(), [&](const front::Event& transfer) {
    const auto later =
        std::partition_point(work.begin(), work.end(), [&](const auto& one) { return one.first < transfer.end; });
    return later != work.begin() && transfer.begin < std::prev(later)->second;
  });
}

std::string names_of_collectives(const judge::CheckContext& check, int rank) {
  std::vector<std::string> names;
  for (const front::Event& event : check.events(rank, front::EventKind::collective)) {
    const std::string& name = check.trace(rank).names.at(event.name);
    if (name == "split" || std::find(names.begin(), names.end(), name) != names.end()) continue;
    names.push_back(name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace shardlings::grading::formulas
