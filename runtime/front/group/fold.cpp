#include "front/group/fold.h"

#include <map>

namespace shardlings::front {

Fold::Fold(int ranks, int replicas, int ranks_per_node)
    : replicas_(replicas), each_(ranks / replicas), instead_(static_cast<std::size_t>(replicas)) {
  // By the place on a node where a replica begins: the first two, -1 if there is but one.
  std::map<int, std::pair<int, int>> twins;
  for (int replica = 0; replica < replicas; ++replica) {
    int& stands = instead_[static_cast<std::size_t>(replica)];
    stands = replica;
    if (replica > 0 && replica + 1 < replicas) {
      const int place = static_cast<int>(std::int64_t{replica} * each_ % ranks_per_node);
      const auto [found, is_new] = twins.try_emplace(place, replica, -1);
      auto& [first, second] = found->second;
      if (!is_new && second >= 0) stands = first;
      if (!is_new && second < 0) second = replica;
    }
    if (stands == replica) ++running_;
  }
  for (const auto& [place, pair] : twins) {
    if (pair.second >= 0) twins_.push_back(pair);
  }
}

}  // namespace shardlings::front
