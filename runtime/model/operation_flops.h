/// \file
/// Floating-point operations for each element, where they are a convention: an exp or a tanh counts as 8.
#pragma once

#include "shardlings/tensor.h"

namespace shardlings::model {

inline constexpr Count kGeluFlops = 16;
inline constexpr Count kGeluBackwardFlops = 24;
inline constexpr Count kNormFlops = 8;
inline constexpr Count kNormBackwardFlops = 16;
inline constexpr Count kLossFlops = 12;    ///< of cross-entropy and its gradient, for each logit
inline constexpr Count kDropoutFlops = 1;  ///< a product; what draws the numbers are integers, and no flops
inline constexpr Count kScaleFlops = 1;    ///< of numbers in 8 bits: a comparison, or a product with a power of two
inline constexpr Count kAdamFlops = 14;    ///< for each weight
inline constexpr Count kSgdFlops = 2;      ///< for each weight
inline constexpr Count kMergeFlops = 3;    ///< of two parts of an attention: two products and a sum

}  // namespace shardlings::model
