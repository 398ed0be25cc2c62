/// \file
/// What becomes of the gradients of a layer's weights while a backward goes through it: they are added at once, or what
/// they need is kept, to be added by backward_weights.
///
/// The gradient of a product's weights needs the product's input and the gradient of its output, and nothing else: that
/// is what makes backward divisible (Qi et al. 2024, arXiv 2401.10241, section 1: B and W). A norm's weights are
/// different: their gradients come out of the same kernel as that of its input. They are summed over the rows of the
/// micro-batch then, and only added later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "front/model/layers.h"

namespace shardlings::front {

/// A matrix, or several that are multiplied with one input and lie one behind the other, and their biases.
struct Product {
  std::uint8_t first, last;  ///< places of entries
  bool has_bias = false;
  std::uint8_t first_bias = 0, last_bias = 0;
};
/// A norm's two vectors, which lie one behind the other.
struct Norm {
  std::uint8_t weight, bias;  ///< places of entries
};
/// What a layer of some type has weights for, in the order in which backward comes to them.
struct WeightedParts {
  std::span<const Product> products;
  std::span<const Norm> norms;
};
/// Of an embedding there are none: its gradient is no product.
WeightedParts weighted_parts(const model::LayerStructure& layer);

class WeightGradients {
 public:
  /// They are added at once.
  WeightGradients(const LayerArguments& layer, const Entries<View>& grads)
      : layer_(layer), parts_(weighted_parts(layer.structure)), grads_(&grads) {}
  /// What they need is kept: of each product input and gradient of the output, then the sums of each norm.
  WeightGradients(const LayerArguments& layer, std::vector<Tensor>& kept);

  /// Of product i, whose input nobody reads again, and whose output has that gradient. done() must follow.
  void product(std::size_t i, const Tensor& grad, Tensor& input);
  /// The same where the input is the layer's own x, which is the caller's.
  void product_with_x(std::size_t i, const Tensor& grad);
  /// The gradient of product i's output is not needed for anything else any more.
  void done(std::size_t i, Tensor& grad);
  /// The gradient of the input of norm n, which was x; those of its vectors on the way.
  Tensor norm(std::size_t n, ConstView x, ConstView stats, const Tensor& grad);
  /// Takes the gradient of an embedding's output if things are kept; nullptr: it is to be added to these.
  const Entries<View>* embedding(Tensor& grad);

 private:
  const LayerArguments& layer_;
  WeightedParts parts_;
  const Entries<View>* grads_ = nullptr;
  std::vector<Tensor>* kept_ = nullptr;
};

}  // namespace shardlings::front
