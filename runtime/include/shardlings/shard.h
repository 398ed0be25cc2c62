/// \file
/// Layers of which a rank holds a part.
#pragma once

#include "shardlings/tensor.h"

namespace shardlings {

/// Some rows and columns of a matrix. Weights are (outputs, inputs): a linear layer's rows are its outputs.
struct Rectangle {
  Range rows;  ///< of the whole matrix
  Range cols;  ///< of the whole matrix
  /// The same rows and columns.
  constexpr bool operator==(const Rectangle&) const = default;
};

/// What a rank holds of a linear layer, or of a layer norm, and where backward adds the gradients of it.
struct Linear {
  ConstView weight;  ///< (outputs, inputs), or its part; of a layer norm (width)
  ConstView bias;    ///< (outputs), those of the rows; empty for a layer without bias
  View grad_weight;  ///< as weight
  View grad_bias;    ///< as bias
};

}  // namespace shardlings
