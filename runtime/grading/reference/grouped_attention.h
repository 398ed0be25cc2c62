/// \file
/// The judge's own attention whose heads of queries share heads of keys (Ainslie et al. 2023), with the log of its sums
/// and any mask: plain loops over pairs, each pair by itself.
#pragma once

#include <functional>
#include <vector>

#include "case/case.h"
#include "shardlings/tensor.h"

namespace shardlings::grading::reference {

/// Sequence-major, as the runtime's: q, grad_y (s, b, heads d), k and v (s, b, key_heads d).
struct GroupedInputs {
  Count sequence = 0, batch = 0, heads = 1, key_heads = 1, head_size = 0;
  std::vector<float> q, k, v;
  std::vector<float> grad_y;  ///< empty: no gradients are asked for
};

/// The inputs of a case that divides attention (puzzles 27 and 28), as its harness draws them: queries, keys, values
/// and, where it is asked for, the gradient of y. The case's number `kv_heads` says how many heads of keys there are.
GroupedInputs grouped_inputs(const cases::Case& kase, bool with_gradient);

/// In double. lse is (s, b, heads).
struct GroupedNumbers {
  std::vector<double> y, lse, grad_q, grad_k, grad_v;
};

/// How far f32 arithmetic may be from it, one number for each element, as in Reference.
struct GroupedReference {
  GroupedNumbers exact, tolerance;
};

/// Which positions of keys the query at a position sees.
using Sees = std::function<bool(Count query, Count key)>;

/// A query that sees no key has y = 0 and lse = -infinity. If there is `adds`, gradients are sums over those pairs
/// alone for which it holds: y and lse stay those of all that are seen.
GroupedNumbers grouped_attention(const GroupedInputs& inputs, const Sees& sees, const Sees& adds = nullptr);
GroupedReference grouped_reference(const GroupedInputs& inputs, const Sees& sees);

/// Each query sees the keys at its own position and before it.
inline bool causal(Count query, Count key) {
  return key <= query;
}

}  // namespace shardlings::grading::reference
