#include "simulation/trust.h"

#include <fmt/format.h>

namespace shardlings::simulation {

std::string trust_in(const cases::Case& kase, const StackFile* stack) {
  const front::Cluster& cluster = kase.cluster;
  const bool is_measured = cluster.efficiency.matmul.has_value();
  const std::string what =
      fmt::format("trust: {} at {} speeds, {}, {}", cluster.name, is_measured ? "measured" : "peak",
                  cluster.mixed ? "mixed precision" : "f32",
                  stack == nullptr ? "the layers of this project" : "the software stack " + stack->stack->name);
  const OnCluster* on = stack == nullptr ? nullptr : stack->on_cluster(cluster.name);
  if (on == nullptr || on->rows == 0 || !is_measured || !cluster.mixed) {
    return what + ": not compared with published steps, so take proportions only";
  }
  return what + fmt::format(
                    ": {:.1f} % from {} published steps on average, {:.1f} % at worst; {:.1f} % from each if "
                    "its speeds come from the others (docs/reference/fidelity.md)",
                    100 * on->mean_error, on->rows, 100 * on->worst_error, 100 * on->left_out_error);
}

}  // namespace shardlings::simulation
