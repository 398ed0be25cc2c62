// Bytes on the wire: the formulas against a simulation of the ring, part by part.
#include "front/group/ring_traffic.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/parts.h"

namespace shardlings::front {
namespace {

using back::Collective;
using back::Signature;

Signature signature_of(Collective kind, Count count, int members, int root = 0) {
  Signature signature;
  signature.kind = kind;
  signature.count = count;
  signature.members = members;
  signature.root = root;
  return signature;
}

// Elements that each rank sends when rank r passes part (r - step + shift) on in each of N-1 steps.
std::vector<Count> ring_sends(Count count, int n, int shift) {
  std::vector<Count> sent(static_cast<std::size_t>(n));
  for (int r = 0; r < n; ++r) {
    for (int step = 0; step < n - 1; ++step) {
      sent[static_cast<std::size_t>(r)] += part_of(count, n, ((r - step + shift) % n + n) % n).size();
    }
  }
  return sent;
}

TEST(RingTraffic, RingCollectivesMatchAStepByStepSimulation) {
  for (int n = 1; n <= 9; ++n) {
    for (Count count : {Count{0}, Count{1}, Count{7}, Count{64}, Count{1001}}) {
      // Ending up with part r means sending part r-1 first; starting with part r means sending it first.
      const auto scatter = ring_sends(count, n, -1);
      const auto gather = ring_sends(count, n, 0);
      for (int r = 0; r < n; ++r) {
        const auto i = static_cast<std::size_t>(r);
        EXPECT_EQ(ring_traffic_of(signature_of(Collective::reduce_scatter, count, n), r).sent.value(), 4 * scatter[i]);
        EXPECT_EQ(ring_traffic_of(signature_of(Collective::all_gather, count, n), r).sent.value(), 4 * gather[i]);
        EXPECT_EQ(ring_traffic_of(signature_of(Collective::all_reduce, count, n), r).sent.value(),
                  4 * (scatter[i] + gather[i]));
      }
    }
  }
}

TEST(RingTraffic, DivisibleSizesGiveTheTextbookFormulas) {
  const Count count = 9 * 8 * 7 * 5;
  for (int n = 1; n <= 9; ++n) {
    const std::int64_t size = 4 * count;
    EXPECT_EQ(ring_traffic_of(signature_of(Collective::all_reduce, count, n), 0).sent.value(), 2 * (n - 1) * size / n);
    EXPECT_EQ(ring_traffic_of(signature_of(Collective::reduce_scatter, count, n), n - 1).sent.value(),
              (n - 1) * size / n);
    EXPECT_EQ(ring_traffic_of(signature_of(Collective::all_gather, count, n), n / 2).sent.value(), (n - 1) * size / n);
    EXPECT_EQ(ring_traffic_of(signature_of(Collective::all_to_all, count, n), 0).sent.value(), (n - 1) * size / n);
  }
}

TEST(RingTraffic, WhatIsSentIsReceived) {
  for (int kind = 0; kind < back::kCollectives; ++kind) {
    if (static_cast<Collective>(kind) == Collective::send_recv) continue;
    for (int n = 1; n <= 9; ++n) {
      for (int root = 0; root < n; ++root) {
        Bytes sent, received;
        for (int r = 0; r < n; ++r) {
          const RingTraffic moved = ring_traffic_of(signature_of(static_cast<Collective>(kind), 1003, n, root), r);
          EXPECT_GE(moved.sent.value(), 0);
          sent += moved.sent;
          received += moved.received;
        }
        EXPECT_EQ(sent, received) << back::name_of(static_cast<Collective>(kind)) << " n " << n << " root " << root;
      }
    }
  }
}

TEST(RingTraffic, AReceiverGetsWhatTheOthersSendIt) {
  for (const Collective kind : {Collective::reduce_scatter, Collective::all_gather, Collective::all_reduce,
                                Collective::broadcast, Collective::reduce, Collective::gather}) {
    for (int n = 1; n <= 9; ++n) {
      for (int root = 0; root < n; ++root) {
        const Signature signature = signature_of(kind, 1003, n, root);
        std::vector<Bytes> arriving(static_cast<std::size_t>(n));
        for (int r = 0; r < n; ++r) {
          const int receiver = receiver_of(signature, r);
          ASSERT_EQ(receiver < 0, ring_traffic_of(signature, r).sent.value() == 0) << back::name_of(kind) << " n " << n;
          if (receiver >= 0) arriving[static_cast<std::size_t>(receiver)] += ring_traffic_of(signature, r).sent;
        }
        for (int r = 0; r < n; ++r) {
          EXPECT_EQ(arriving[static_cast<std::size_t>(r)], ring_traffic_of(signature, r).received)
              << back::name_of(kind) << " n " << n << " root " << root << " member " << r;
        }
      }
    }
  }
}

TEST(RingTraffic, WhatGoesToSeveralHasNoSingleReceiver) {
  EXPECT_EQ(receiver_of(signature_of(Collective::all_to_all, 12, 4), 1), -1);
  EXPECT_EQ(receiver_of(signature_of(Collective::scatter, 12, 4, 1), 1), -1);
}

TEST(RingTraffic, MembersOfGatherAndScatterKnowOnlyTheirOwnPart) {
  Signature member = signature_of(Collective::gather, -13, 4, 2);
  EXPECT_EQ(ring_traffic_of(member, 1).sent.value(), 4 * 13);
  EXPECT_EQ(ring_traffic_of(member, 1).received.value(), 0);
  member.kind = Collective::scatter;
  EXPECT_EQ(ring_traffic_of(member, 1).sent.value(), 0);
  EXPECT_EQ(ring_traffic_of(member, 1).received.value(), 4 * 13);
}

TEST(RingTraffic, Bf16HasHalfTheBytes) {
  Signature signature = signature_of(Collective::all_reduce, 1000, 4);
  const Bytes f32 = ring_traffic_of(signature, 1).sent;
  signature.dtype = DType::bf16;
  EXPECT_EQ(2 * ring_traffic_of(signature, 1).sent, f32);
}

}  // namespace
}  // namespace shardlings::front
