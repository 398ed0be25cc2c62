#include "grading/formulas/ring_attention.h"

#include <algorithm>
#include <cmath>

#include "grading/judge/grader.h"
#include "model/attention_pairs.h"
#include "model/operation_flops.h"

namespace shardlings::grading::formulas {

using judge::Formula;
using judge::kBytesOfF32;
using judge::named;

namespace {

constexpr Count kForwardProducts = 2, kBackwardProducts = 5;

Nanos seconds(double amount, double per_second) {
  return Nanos(std::llround(amount / per_second * 1e9));
}

/// The clocks of ranks that pass messages round a ring, by rules 4 and 6 of docs/reference/clock.md.
class RingClocks {
 public:
  using Times = std::vector<Nanos>;  ///< by rank

  explicit RingClocks(const RingAttention& ring) : ring_(ring), now_(zeros()), egress_(zeros()), ingress_(zeros()) {}

  Times zeros() const { return Times(static_cast<std::size_t>(ring_.ranks)); }
  const Times& now() const { return now_; }
  void compute(int rank, Nanos time) { now_[index(rank)] += time; }
  template <class F>
  void each(F f) {
    for (int rank = 0; rank < ring_.ranks; ++rank) f(rank);
  }
  /// The rank posts what belongs to rank `owner`: when it leaves.
  Nanos leave(int rank, int owner) {
    Nanos& egress = egress_[index(rank)];
    const Nanos start = std::max(now_[index(rank)], egress);
    egress = start + occupancy(owner);
    return start;
  }
  /// When each rank has what the rank before it sends: by when that leaves, when the rank has posted its receive, and
  /// whose it is.
  template <class Owner>
  Times arrivals(const Times& start, const Times& posted, Owner owner) {
    Times end = zeros();
    each([&](int rank) {
      const Nanos leaves = start[index(rank + ring_.ranks - 1)];
      end[index(rank)] = std::max(leaves, posted[index(rank)]) + ring_.hop(owner(rank));
    });
    return end;
  }
  /// The rank waits until its message has arrived at the next one.
  void wait_sent(int rank, const Times& arrivals) { wait(rank, arrivals[index(rank + 1)]); }
  void wait_received(int rank, const Times& arrivals, int owner) {
    Nanos& ingress = ingress_[index(rank)];
    ingress = std::max(arrivals[index(rank)], ingress + occupancy(owner));
    wait(rank, ingress);
  }

 private:
  std::size_t index(int rank) const { return static_cast<std::size_t>(rank % ring_.ranks); }
  void wait(int rank, Nanos end) { now_[index(rank)] = std::max(now_[index(rank)], end); }
  Nanos occupancy(int owner) const { return ring_.hop(owner) - ring_.kase.cluster.links.front().latency; }

  const RingAttention& ring_;
  Times now_, egress_, ingress_;
};

void run_forward(const RingAttention& ring, RingClocks& clocks) {
  for (int step = 0; step < ring.ranks; ++step) {
    const bool passes = step + 1 < ring.ranks;
    const RingClocks::Times posted = clocks.now();
    RingClocks::Times start = clocks.zeros();
    clocks.each([&](int rank) {
      const int owner = ring.owner(rank, step);
      if (passes) start[static_cast<std::size_t>(rank)] = clocks.leave(rank, owner);
      clocks.compute(rank, ring.work(rank, owner, false) + ring.merging(rank));
    });
    if (!passes) continue;
    const auto coming = [&](int rank) { return ring.owner(rank, step + 1); };
    const RingClocks::Times end = clocks.arrivals(start, posted, coming);
    clocks.each([&](int rank) {
      clocks.wait_sent(rank, end);
      clocks.wait_received(rank, end, coming(rank));
    });
  }
}

/// Gradients follow their keys one step behind, and leave as soon as a rank has added its own.
void run_backward(const RingAttention& ring, RingClocks& clocks) {
  RingClocks::Times grads = clocks.zeros();  // when the last one of each rank left
  for (int step = 0; step < ring.ranks; ++step) {
    const bool passes = step + 1 < ring.ranks;
    const RingClocks::Times posted = clocks.now();
    RingClocks::Times start = clocks.zeros();
    const auto here = [&](int rank) { return ring.owner(rank, step); };
    const auto coming = [&](int rank) { return ring.owner(rank, step + 1); };
    const RingClocks::Times grads_end = clocks.arrivals(grads, posted, here);
    clocks.each([&](int rank) {
      if (passes) start[static_cast<std::size_t>(rank)] = clocks.leave(rank, here(rank));
      clocks.compute(rank, ring.work(rank, here(rank), true));
      if (step > 1) {
        clocks.wait_received(rank, grads_end, here(rank));
        clocks.compute(rank, ring.adding(here(rank)));
        clocks.wait_sent(rank, grads_end);
      }
      if (step > 0) grads[static_cast<std::size_t>(rank)] = clocks.leave(rank, here(rank));
    });
    if (!passes) continue;
    const RingClocks::Times end = clocks.arrivals(start, posted, coming);
    clocks.each([&](int rank) {
      clocks.wait_sent(rank, end);
      clocks.wait_received(rank, end, coming(rank));
    });
  }
  if (ring.ranks == 1) return;
  const RingClocks::Times end = clocks.arrivals(grads, clocks.now(), [](int rank) { return rank; });
  clocks.each([&](int rank) {
    clocks.wait_received(rank, end, rank);
    clocks.wait_sent(rank, end);
    clocks.compute(rank, ring.adding(rank));
  });
}

}  // namespace

AttentionCost::AttentionCost(const cases::Case& of)
    : kase(of),
      batch(of.batch),
      heads(of.model.heads),
      key_heads(of.integer("kv_heads")),
      width(of.model.hidden),
      key_width(width / heads * key_heads) {}

Flops AttentionCost::flops(Count pairs) const {
  return Flops(2 * kForwardProducts * pairs * batch * width);
}

Nanos AttentionCost::forward(Count pairs) const {
  return computing(flops(pairs).value());
}

Flops AttentionCost::backward_flops(Count pairs) const {
  return Flops(2 * kBackwardProducts * pairs * batch * width);
}

Nanos AttentionCost::backward(Count pairs) const {
  return computing(backward_flops(pairs).value());
}

Nanos AttentionCost::merging(Count positions) const {
  return computing(model::kMergeFlops * positions * batch * width);
}

Nanos AttentionCost::adding(Count positions) const {
  return computing(2 * positions * batch * key_width);
}

Bytes AttentionCost::keys(Count positions) const {
  return Bytes(2 * kBytesOfF32 * positions * batch * key_width);
}

Nanos AttentionCost::hop(Bytes bytes) const {
  const front::LinkSpeed& link = kase.cluster.links.front();
  return link.latency + seconds(static_cast<double>(bytes.value()), link.bytes_per_second);
}

Nanos AttentionCost::computing(Count operations) const {
  return seconds(static_cast<double>(operations), kase.cluster.roofline.flops_per_second);
}

RingAttention::RingAttention(const cases::Case& of)
    : kase(of), cost(of), ranks(of.ranks), backward(of.integer("backward") > 0), sequence(of.model.sequence) {}

Count RingAttention::pairs(Range queries) const {
  return model::seen_pairs(queries, {0, sequence});
}

Bytes RingAttention::keys(int rank) const {
  return cost.keys(positions(rank).size());
}

Formula<Bytes> RingAttention::block() const {
  return named(sequence % ranks == 0 ? "2 b s/c u of 4 bytes" : "kv of the longest part", keys(0));
}

Formula<Bytes> RingAttention::sent() const {
  const Formula<Bytes> round = folded(c() - 1) * block();
  return backward ? named("rounds", Count(3)) * round : round;
}

Formula<Bytes> RingAttention::given() const {
  const Count n = positions(0).size() * cost.batch;
  const Formula<Bytes> queries = named("q and y", Bytes(2 * kBytesOfF32 * n * cost.width));
  const Formula<Bytes> sums = named("lse", Bytes(kBytesOfF32 * n * cost.heads));
  const Formula<Bytes> own = named("kv", keys(0));
  if (!backward) return queries + own + sums;
  return queries + own + sums + named("grad_y, grad_q", queries.value()) + named("grad_kv", keys(0));
}

Formula<Bytes> RingAttention::peak() const {
  const Count n = positions(0).size() * cost.batch;
  if (ranks == 1) return given() + named("y and lse of a part", Bytes(kBytesOfF32 * n * (cost.width + cost.heads)));
  const Formula<Bytes> two = 2 * named("kv of a rank", keys(0));
  const Formula<Bytes> forward = two + named("y and lse of a part", Bytes(kBytesOfF32 * n * (cost.width + cost.heads)));
  if (!backward) return given() + forward;
  return given() + max(forward, two + 3 * named("grad_kv of a rank", keys(0)));
}

Nanos RingAttention::work(int rank, int of, bool back) const {
  const Count pairs = model::seen_pairs(positions(rank), positions(of));
  return back ? cost.backward(pairs) : cost.forward(pairs);
}

Nanos RingAttention::merging(int rank) const {
  return cost.merging(positions(rank).size());
}

Nanos RingAttention::adding(int of) const {
  return cost.adding(positions(of).size());
}

Nanos RingAttention::hop(int of) const {
  return cost.hop(keys(of));
}

Nanos RingAttention::computing(bool back) const {
  Nanos most{};
  for (int rank = 0; rank < ranks; ++rank) {
    Nanos sum{};
    for (int step = 0; step < ranks; ++step) {
      sum += work(rank, owner(rank, step), back);
      if (!back) sum += merging(rank);
      if (back && step > 0) sum += adding(owner(rank, step));
    }
    most = std::max(most, sum);
  }
  return most;
}

Formula<Nanos> RingAttention::time() const {
  RingClocks clocks(*this);
  run_forward(*this, clocks);
  if (backward) run_backward(*this, clocks);
  const Nanos end = *std::max_element(clocks.now().begin(), clocks.now().end());
  const Formula<Nanos> exact = named("the ring, step by step", end), forward = named("forward", computing(false));
  if (!backward) return simplest(forward, exact);
  const Formula<Nanos> both = forward + named("backward", computing(true));
  return ranks == 1 ? simplest(both, exact) : simplest(both + named("one hop", hop(0)), exact);
}

}  // namespace shardlings::grading::formulas
