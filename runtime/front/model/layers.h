/// \file
/// The math of each type of layer, composed of the public operations. Shapes have been checked by the caller.
///
/// What each of them saves and holds stands in memory.h; the order of the statements here is what makes it true.
#pragma once

#include <cstddef>
#include <vector>

#include "model/execution.h"
#include "model/structure.h"
#include "shardlings/group.h"
#include "shardlings/ops.h"

namespace shardlings::front {

/// The entries of a layer as views of its flat weights (V = ConstView) or of their gradients (V = View). They are named
/// by their places (model/structure.h).
template <class V>
class Entries {
 public:
  Entries(const model::LayerStructure& structure, V flat, Location at) : structure_(structure), flat_(flat), at_(at) {}

  V vector(std::size_t i) const { return flat_.part(entry(i).range, at_); }
  V matrix(std::size_t i) const {
    const Entry& one = entry(i);
    return flat_.part(one.range, at_).reshaped({one.rows, one.cols}, at_);
  }
  /// Matrices of equally many columns that lie one behind the other, as a single one.
  V stacked(std::size_t first, std::size_t last) const {
    const Count cols = entry(first).cols;
    const V all = joined(first, last);
    return all.reshaped({all.size() / cols, cols}, at_);
  }
  V joined(std::size_t first, std::size_t last) const {
    return flat_.part({entry(first).range.begin, entry(last).range.end}, at_);
  }

 private:
  const Entry& entry(std::size_t i) const { return structure_.entries.at(i); }

  const model::LayerStructure& structure_;
  V flat_;
  Location at_;
};

/// What all functions of a layer are given.
struct LayerArguments {
  const model::LayerStructure& structure;
  Entries<ConstView> weights;
  ConstView x;
  Location at;
  Group tp;                                            ///< that the layers are divided over; empty if they are not
  model::Recompute recompute = model::Recompute::off;  ///< what backward of a block computes again

  /// Each rank has a term of it: all get the sum.
  void add_up(View term) const {
    if (tp.size() > 1) Group(tp).all_reduce(term, ReduceOp::sum, at);
  }
};

/// Fills `saved` unless it is nullptr.
Tensor forward_of(const LayerArguments& layer, std::vector<Tensor>* saved);
class WeightGradients;
/// Uses `saved` and `grad` up, as early as it can. What becomes of the gradients of the weights, `weights` says.
Tensor backward_of(const LayerArguments& layer, std::vector<Tensor> saved, Tensor grad, WeightGradients& weights);
/// Adds what a backward has kept for the gradients of the weights, and uses it up. Of `layer` no weights are needed.
void backward_weights_of(const LayerArguments& layer, std::vector<Tensor> kept, const Entries<View>& grads);

/// Which ids of a vocabulary are a rank's, and how many there are on all ranks.
struct DividedVocabulary {
  Range mine;
  Count all = 0;
};
/// The loss where each rank of `tp` has the logits of its own ids only. Uses `logits` up; returns their gradient.
Tensor divided_loss(Group tp, const DividedVocabulary& ids, Tensor logits, ConstView targets, Count tokens, View loss,
                    Location at);

Tensor block_forward(const LayerArguments& layer, std::vector<Tensor>* saved);
Tensor block_backward(const LayerArguments& layer, std::vector<Tensor> saved, Tensor grad, WeightGradients& weights);
Tensor embedding_backward(const LayerArguments& layer, Tensor grad, WeightGradients& weights);

}  // namespace shardlings::front
