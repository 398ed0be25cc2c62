#include "grading/formulas/expert_routing.h"

#include <algorithm>
#include <numeric>

#include "shardlings/group.h"

namespace shardlings::grading::formulas {

std::vector<int> ranked(const std::vector<float>& scores, int experts, Count t, const RoutingRule& rule) {
  std::vector<int> order(static_cast<std::size_t>(experts));
  std::iota(order.begin(), order.end(), 0);
  if (!rule.ties_to_lower) std::reverse(order.begin(), order.end());
  const auto score = [&](int expert) { return scores[static_cast<std::size_t>(t * experts + expert)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return rule.best ? score(a) > score(b) : score(a) < score(b); });
  return order;
}

std::vector<int> routes_of(const std::vector<float>& scores, int experts, int k, Count capacity,
                           const RoutingRule& rule) {
  const Count tokens = std::ssize(scores) / experts;
  std::vector<int> routes(static_cast<std::size_t>(tokens * k), kNobody);
  std::vector<Count> taken(static_cast<std::size_t>(experts));
  const Count room = rule.drops ? capacity + rule.more_room : tokens * k;
  const auto admit = [&](Count t, int j) {
    const std::vector<int> order = ranked(scores, experts, t, rule);
    const auto choice = static_cast<std::size_t>(t * k + j);
    const auto is_free = [&](int expert) { return taken[static_cast<std::size_t>(expert)] < room; };
    const int wanted = order[static_cast<std::size_t>(j)];
    int given = is_free(wanted) ? wanted : kNobody;
    for (const int next : order) {
      const auto first = routes.begin() + t * k;
      const bool is_new = std::find(first, first + k, next) == first + k;
      if (given == kNobody && rule.goes_on_to_next && is_new && is_free(next)) given = next;
    }
    routes[choice] = given;
    if (given != kNobody) ++taken[static_cast<std::size_t>(given)];
  };
  const auto token = [&](Count i) { return rule.last_first ? tokens - 1 - i : i; };
  for (int j = 0; rule.choice_by_choice && j < k; ++j) {
    if (!rule.one_capacity) std::fill(taken.begin(), taken.end(), 0);
    for (Count i = 0; i < tokens; ++i) admit(token(i), j);
  }
  for (Count i = 0; !rule.choice_by_choice && i < tokens; ++i) {
    for (int j = 0; j < k; ++j) admit(token(i), j);
  }
  return routes;
}

}  // namespace shardlings::grading::formulas
