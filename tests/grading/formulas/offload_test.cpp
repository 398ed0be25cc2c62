// The longest way through a step with the optimizer on the host, against closed forms.
#include "grading/formulas/offload.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"

namespace shardlings::grading {
namespace {

/// Equal layers of 8 x 8 weights and 8 biases: 288 bytes each.
cases::Case equal_layers(int layers, int ranks = 1) {
  cases::Case kase;
  kase.ranks = ranks;
  kase.model.layers = layers;
  kase.model.hidden = 8;
  kase.model.outputs = 8;
  kase.model.sequence = 4;
  kase.model.optimizer = model::ModelSpec::Optimizer::adam;
  kase.cluster.ranks_per_node = 64;
  kase.cluster.links[0] = {Nanos(0), 1e9};
  kase.cluster.host_links = {front::LinkSpeed{Nanos(0), 1e9}, front::LinkSpeed{Nanos(0), 1e9}};
  kase.cluster.host.bytes_per_second = 7e9;
  kase.cluster.table.forward = Nanos(10);
  kase.cluster.table.backward = Nanos(20);
  return kase;
}

constexpr std::int64_t kLayer = 288;  // nanoseconds of a copy at 1 byte each, and of Adam at 7

TEST(Offload, StagesPassTheLayersOnLikeAPipeline) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto pick = [&](std::uint64_t i, std::uint32_t most) {
      return static_cast<std::int64_t>(below_at(most, seed, i, 3));
    };
    const auto layers = static_cast<int>(1 + pick(0, 6));
    cases::Case kase = equal_layers(layers);
    const std::int64_t backward = 1 + pick(1, 1000), out = pick(2, 700), back = pick(3, 700), host = 1 + pick(4, 3);
    kase.cluster.table.backward = Nanos(backward);
    kase.cluster.host_links[0].latency = Nanos(out);
    kase.cluster.host_links[1].latency = Nanos(back);
    kase.cluster.host.bytes_per_second = 7e9 / static_cast<double>(host);
    const std::int64_t drain = kLayer + out, fill = kLayer + back, update = host * kLayer;
    EXPECT_EQ(formulas::longest_offload_path(kase).ns(),
              layers * 10 + backward + drain + update + fill + (layers - 1) * std::max({backward, drain, update, fill}))
        << seed;
  }
}

// After backward and its reduce-scatter, the parts of layer 0 take their way while the layers above are gathered.
TEST(Offload, ASlowBackwardHidesAllButTheLastLayer) {
  for (const int ranks : {2, 3, 4, 8}) {
    cases::Case kase = equal_layers(4, ranks);
    kase.cluster.table.backward = Nanos(100'000);
    const std::int64_t ring = (ranks - 1) * ((72 + ranks - 1) / ranks) * 4;
    const std::int64_t part = (72 + ranks - 1) / ranks * 4;  // of rank 0, the longest
    EXPECT_EQ(formulas::longest_offload_path(kase).ns(),
              4 * 10 + 4 * 100'000 + ring + std::max(3 * part, 3 * ring) + ring);
  }
}

TEST(Offload, TextNamesWhatTheTimeIsMadeOf) {
  cases::Case kase = equal_layers(2);
  kase.cluster.table.backward = Nanos(1000);
  const formulas::OffloadPath path = formulas::longest_offload_path(kase);
  EXPECT_EQ(path.formula().text(),
            "forward + backward + to the host + Adam + to the device = 20 ns + 2 us + 288 ns + 288 ns + 288 ns");
  EXPECT_EQ(path.formula().value().value(), path.ns());
}

}  // namespace
}  // namespace shardlings::grading
