#include "grading/formulas/ring_cost.h"

#include "base/parts.h"
#include "grading/formulas/messages.h"
#include "grading/formulas/training.h"

namespace shardlings::grading::formulas {

using judge::Formula;
using judge::named;

RingCost::RingCost(const cases::Case& kase)
    : elements(kase.integer("elements")),
      groups(static_cast<int>(kase.integer("groups"))),
      members(kase.ranks / groups),
      size(judge::kBytesOfF32 * elements),
      longest_part(judge::kBytesOfF32 * part_of(elements, members, 0).size()),
      shortest_part(judge::kBytesOfF32 * part_of(elements, members, members - 1).size()),
      steps(std::int64_t{2} * (members - 1)) {
  const front::LinkSpeed& link = kase.cluster.links[static_cast<std::size_t>(front::Link::intra_node)];
  alpha = link.latency;
  transfer = transfer_time(kase, part_of(elements, members, 0).size());
}

Formula<Count> RingCost::n() const {
  return named("N", Count(members));
}

Formula<Bytes> RingCost::sent() const {
  const Formula<Bytes> all = named("size", Bytes(size));
  return simplest(2 * share_of_others(n()) * all, 2 * (all - named("shortest part", Bytes(shortest_part))));
}

Formula<Bytes> RingCost::peak() const {
  return named("data", Bytes(size)) + named("longest part", Bytes(longest_part));
}

Formula<Nanos> RingCost::time() const {
  return 2 * (n() - 1) * (named("alpha", alpha) + named("longest part / W", transfer));
}

}  // namespace shardlings::grading::formulas
