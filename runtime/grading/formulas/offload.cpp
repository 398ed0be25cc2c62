#include "grading/formulas/offload.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "grading/formulas/sharding.h"

namespace shardlings::grading::formulas {
namespace {

using front::HostLink;
using Stage = OffloadStage;

const OffloadPath& latest(const OffloadPath& a, const OffloadPath& b) {
  return b.ns() > a.ns() ? b : a;
}

std::int64_t rounded(double ns) {
  return static_cast<std::int64_t>(std::floor(ns + 0.5));
}

std::int64_t copy_time(const cases::Case& kase, HostLink way, std::int64_t bytes) {
  const front::LinkSpeed& link = kase.cluster.host_links[static_cast<std::size_t>(way)];
  return link.latency.value() + rounded(static_cast<double>(bytes) / link.bytes_per_second * 1e9);
}

/// Adam reads the gradient, and reads and writes weight and moments: 7 times the bytes of the weights.
std::int64_t adam_time(const cases::Case& kase, std::int64_t weight_bytes) {
  return rounded(7 * static_cast<double>(weight_bytes) / kase.cluster.host.bytes_per_second * 1e9);
}

/// The step that starts everything as soon as it can, with two gradients on the device at most. Rank by rank, since
/// ranks have parts of different sizes; collectives start when the last rank is there.
class Schedule {
 public:
  explicit Schedule(const cases::Case& kase)
      : kase_(kase), ring_(ring_times(kase)), ranks_(static_cast<std::size_t>(kase.ranks)) {
    for (int r = 0; r < kase.ranks; ++r) ranks_[static_cast<std::size_t>(r)].parts = part_bytes(kase, r);
  }

  OffloadPath end() {
    const auto layers = static_cast<std::int64_t>(ring_.size());
    for (OfRank& rank : ranks_) rank.now = rank.now.then(Stage::forward, layers * kase_.cluster.table.forward.value());
    for (std::size_t l = ring_.size(); l-- > 0;) go_backward(l);
    for (std::size_t l = ring_.size(); l-- > 0;) {
      for (OfRank& rank : ranks_) rank.now = latest(rank.now, rank.filled[l]);
      share_link(l, Stage::gather);
    }
    return link_;
  }

 private:
  struct OfRank {
    std::vector<std::int64_t> parts;  // bytes, by layer
    OffloadPath now;                  // of the program
    OffloadPath drained, updated;     // of the layer before: also when the lane is free
    std::vector<OffloadPath> filled;  // by layer
  };

  /// The collective of a layer: after the one before it, when all ranks have called it.
  void share_link(std::size_t layer, Stage stage) {
    for (const OfRank& rank : ranks_) link_ = latest(link_, rank.now);
    link_ = link_.then(stage, ring_[layer]);
  }

  void go_backward(std::size_t l) {
    for (OfRank& rank : ranks_) {
      rank.now = latest(rank.now.then(Stage::backward, kase_.cluster.table.backward.value()), rank.drained);
    }
    share_link(l, Stage::reduce);
    for (OfRank& rank : ranks_) {
      const std::int64_t bytes = rank.parts[l];
      rank.drained = latest(rank.drained, link_).then(Stage::to_host, copy_time(kase_, HostLink::to_host, bytes));
      rank.updated = latest(rank.updated, rank.drained).then(Stage::adam, adam_time(kase_, bytes));
      rank.filled.resize(ring_.size());
      const OffloadPath free = l + 1 < rank.filled.size() ? rank.filled[l + 1] : OffloadPath();
      rank.filled[l] = latest(free, rank.updated).then(Stage::to_device, copy_time(kase_, HostLink::to_device, bytes));
    }
  }

  const cases::Case& kase_;
  std::vector<std::int64_t> ring_;  // time of a layer's reduce-scatter or all-gather
  std::vector<OfRank> ranks_;
  OffloadPath link_;  // when the last collective is over
};

}  // namespace

std::int64_t OffloadPath::ns() const {
  return std::accumulate(spent.begin(), spent.end(), std::int64_t{0});
}

OffloadPath OffloadPath::then(OffloadStage stage, std::int64_t duration) const {
  OffloadPath longer = *this;
  longer.spent[static_cast<std::size_t>(stage)] += duration;
  return longer;
}

judge::Formula<Nanos> OffloadPath::formula() const {
  static constexpr std::array<const char*, kOffloadStages> kNames = {
      "forward", "backward", "reduce-scatters", "to the host", "Adam", "to the device", "all-gathers"};
  std::vector<judge::Formula<Nanos>> stages;
  for (std::size_t stage = 0; stage < kNames.size(); ++stage) {
    if (spent[stage] > 0) stages.push_back(judge::named(kNames[stage], Nanos(spent[stage])));
  }
  return sum(stages);
}

OffloadPath longest_offload_path(const cases::Case& kase) {
  return Schedule(kase).end();
}

}  // namespace shardlings::grading::formulas
