#include "simulation/folding.h"

#include <fmt/format.h>

#include "front/group/fold.h"

namespace shardlings::simulation {
namespace {

front::Fold fold_of(const cases::Case& kase) {
  return {kase.ranks, kase.num_batches(), kase.cluster.ranks_per_node};
}

}  // namespace

std::string fault_of_fold(const cases::Case& kase, const front::RunReport& report) {
  const int each = kase.ranks / kase.num_batches();
  const front::Fold fold = fold_of(kase);
  for (const auto& [first, second] : fold.twins()) {
    for (int place = 0; place < each; ++place) {
      const auto of = [&](int replica) { return static_cast<std::size_t>(replica * each + place); };
      if (report.ranks[of(first)].counters != report.ranks[of(second)].counters) {
        return fmt::format("ranks {} and {} have the same place in their replicas, and have not counted the same",
                           of(first), of(second));
      }
    }
  }
  return "";
}

std::string fold_text(const cases::Case& kase) {
  const front::Fold fold = fold_of(kase);
  if (fold.is_whole()) return fmt::format("not folded: all of {} replicas were run", fold.replicas());
  return fmt::format(
      "folded: {} of {} replicas were run, and stand for the others; what one of these alone does is not seen",
      fold.running(), fold.replicas());
}

}  // namespace shardlings::simulation
