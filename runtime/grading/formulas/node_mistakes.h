/// \file
/// What is wrong with an all-reduce over nodes (puzzle 07), as its messages show it. Gives the diagnoses of its bytes,
/// by the tree and by levels, and those of the choice between the two.
#pragma once

#include <vector>

#include "grading/formulas/node_all_reduce.h"
#include "grading/formulas/shared_diagnosis.h"

namespace shardlings::grading::formulas {

struct NodeMessage {
  int from, to;
  std::int64_t bytes;
  Nanos posted;
  bool between = false;  ///< two nodes
};

std::int64_t longest_of(const std::vector<NodeMessage>& messages);

/// Why the messages of n elements are more bytes than by the tree; nothing where no mistake is proved.
SharedId mistake_in_tree(const NodeAllReduce& plan, Count n, const std::vector<NodeMessage>& messages);
/// The same by levels.
SharedId mistake_in_levels(const NodeAllReduce& plan, Count n, const std::vector<NodeMessage>& messages);

/// How these sizes, in elements, chose between tree and levels. Many slips in the formulas move the changeover alike
/// (elements for bytes, rounds rounded down, a factor that one of the times lacks): so only the direction is told.
SharedId mistake_in_choice(const NodeAllReduce& plan, const std::vector<Count>& sizes,
                           const std::vector<bool>& took_tree);

}  // namespace shardlings::grading::formulas
