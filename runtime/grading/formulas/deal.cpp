#include "grading/formulas/deal.h"

#include <algorithm>
#include <numeric>

namespace shardlings::grading::formulas {
namespace {

/// A search for the best deal, costliest pieces first.
class BestDeal {
 public:
  BestDeal(const Costs& costs, int ranks)
      : costs_(costs), order_(costliest_first(costs)), load_(static_cast<std::size_t>(ranks)) {
    best_ = busiest(costs, dealt_to_least(costs, order_, ranks), ranks);
    const std::int64_t all = std::accumulate(costs.begin(), costs.end(), std::int64_t{0});
    least_ = std::max((all + ranks - 1) / ranks, costs.empty() ? 0 : costs[order_.front()]);
  }

  std::int64_t busiest_rank() {
    place(0);
    return best_;
  }

 private:
  /// All pieces from number `next` of the order on; those before it are placed. No load reaches `best_` there.
  void place(std::size_t next) {
    if (best_ == least_) return;
    if (next == order_.size()) {
      best_ = *std::max_element(load_.begin(), load_.end());
      return;
    }
    std::vector<std::int64_t> tried;
    for (std::int64_t& load : load_) {
      const std::int64_t before = load, after = before + costs_[order_[next]];
      if (after >= best_ || std::find(tried.begin(), tried.end(), before) != tried.end()) continue;
      tried.push_back(before);
      load = after;
      place(next + 1);
      load = before;
    }
  }

  const Costs& costs_;
  std::vector<std::size_t> order_;
  std::vector<std::int64_t> load_;
  std::int64_t best_ = 0;
  std::int64_t least_ = 0;  ///< no deal is better: the costliest piece, and an equal share of all
};

}  // namespace

std::int64_t busiest(const Costs& costs, const Deal& owner, int ranks) {
  std::vector<std::int64_t> load(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < costs.size(); ++i) load.at(static_cast<std::size_t>(owner.at(i))) += costs[i];
  return *std::max_element(load.begin(), load.end());
}

Deal dealt_to_least(const Costs& costs, const std::vector<std::size_t>& order, int ranks) {
  std::vector<std::int64_t> load(static_cast<std::size_t>(ranks));
  Deal owner(costs.size());
  for (const std::size_t i : order) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += costs[i];
    owner[i] = static_cast<int>(least - load.begin());
  }
  return owner;
}

std::vector<std::size_t> given_order(std::size_t pieces) {
  std::vector<std::size_t> order(pieces);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

std::vector<std::size_t> costliest_first(const Costs& costs) {
  std::vector<std::size_t> order = given_order(costs.size());
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
  return order;
}

std::int64_t busiest_of_best_deal(const Costs& costs, int ranks) {
  return BestDeal(costs, ranks).busiest_rank();
}

}  // namespace shardlings::grading::formulas
