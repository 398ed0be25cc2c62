/// \file
/// A case of ranks on nodes with links of the classroom's speeds, for tests.
#pragma once

#include "case/case.h"

namespace shardlings::grading::formulas {

inline cases::Case nodes_of(int ranks, int ranks_per_node) {
  cases::Case kase;
  kase.ranks = ranks;
  kase.cluster.ranks_per_node = ranks_per_node;
  kase.cluster.links = {front::LinkSpeed{Nanos(1000), 1e9}, front::LinkSpeed{Nanos(10'000), 1e8}};
  return kase;
}

}  // namespace shardlings::grading::formulas
