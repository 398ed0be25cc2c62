/// \file
/// One collective with its arguments: how a rank calls it, and what must come out, computed serially on the host.
#pragma once

#include <string>
#include <vector>

#include "back/fabric/fabric.h"
#include "shardlings/puzzle.h"

namespace shardlings::contract {

using back::Collective;

struct CollectiveCase {
  Collective kind = Collective::all_reduce;
  DType dtype = DType::f32;
  ReduceOp reduce = ReduceOp::sum;
  Count count = 0;  ///< of the whole, as in back::Signature
  int root = 0;
  bool in_place = true;  ///< where the operation allows both
  std::string name() const;
};

/// All collectives with data, dtypes, operators and roots, in place and apart, for these counts.
std::vector<CollectiveCase> all_cases(const std::vector<Count>& counts, int members);
/// The same without the less telling combinations, for large counts.
std::vector<CollectiveCase> few_cases(Count count, int members);

/// What member r puts in: the same wherever it is computed. Sums of f32 depend on the order of the summands.
std::vector<float> input_of(const CollectiveCase& c, int members, int r);
/// What each member has in its output afterwards (or in its data, where there is only one view).
std::vector<std::vector<float>> expected_of(const CollectiveCase& c, int members);

/// Makes the call on this rank and publishes the output as `name`.
void run_case(Rank& rank, Group& group, const CollectiveCase& c, const std::string& name);

/// Elements combined in the order of `inputs`: f32 (also for bf16, rounded once), or integers that wrap around.
std::vector<float> combined(const std::vector<std::vector<float>>& inputs, ReduceOp op, DType dtype);

}  // namespace shardlings::contract
