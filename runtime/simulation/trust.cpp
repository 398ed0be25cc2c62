#include "simulation/trust.h"

#include <fmt/format.h>

#include "simulation/kinds.h"

namespace shardlings::simulation {

std::string trust_in(const WishedCase& wished) {
  const front::Cluster& cluster = wished.kase.cluster;
  const model::SoftwareStack* stack = wished.kase.execution.stack.get();
  const bool is_ours = stack == nullptr || stack->name == kOwnStack;
  const bool is_measured = cluster.efficiency.matmul.has_value();
  const std::string what = fmt::format("trust: {} at {} speeds, {}, {}", cluster.name,
                                       is_measured ? "measured" : "peak", precision_text(cluster),
                                       is_ours ? "the layers of this project" : "the software stack " + stack->name);
  const auto& on = wished.on_cluster;
  if (!on || on->rows == 0 || !is_measured || !cluster.mixed) {
    return what + ": not compared with published steps, so take proportions only";
  }
  return what + fmt::format(
                    ": {:.1f} % from {} published steps on average, {:.1f} % at worst; {:.1f} % from each if "
                    "its speeds come from the others (docs/reference/fidelity.md)",
                    100 * on->mean_error, on->rows, 100 * on->worst_error, 100 * on->left_out_error);
}

}  // namespace shardlings::simulation
