#include "simulation/trust.h"

#include <fmt/format.h>

namespace shardlings::simulation {

std::string trust_in(const cases::Case& kase) {
  const front::Cluster& cluster = kase.cluster;
  const bool is_measured = cluster.efficiency.matmul.has_value();
  return fmt::format(
      "trust: {} at {} speeds, {}, the layers of this project: not compared with published steps, so "
      "take proportions only",
      cluster.name, is_measured ? "measured" : "peak", cluster.mixed ? "mixed precision" : "f32");
}

}  // namespace shardlings::simulation
