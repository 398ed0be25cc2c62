/// \file
/// The pieces of a model for the judge: plain loops, each piece remembering what its backward needs.
///
/// Deliberately slow-witted and without anything of the runtime's: a mistake there must not be repeated here. `Real` is
/// double for the reference, and float for learning how far honest f32 arithmetic strays from it. What an operation of
/// the runtime would store in 16 bits goes through a Rounding, if one is given; it outlives the parts.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "grading/reference/rounding.h"
#include "shardlings/tensor.h"

namespace shardlings::grading::reference {

template <class Real>
using Array = std::vector<Real>;

/// Weights and gradients are the flat ones of the layer; activations are rows of numbers, row = position * b +
/// sequence.
template <class Real>
class Part {
 public:
  virtual ~Part() = default;
  virtual Array<Real> forward(const Array<Real>& weights, Array<Real> x) = 0;
  /// Gradient of x from that of the result; adds the gradients of the weights to `grads`.
  virtual Array<Real> backward(const Array<Real>& weights, const Array<Real>& grad, Array<Real>& grads) = 0;
};

template <class Real>
using Parts = std::vector<std::unique_ptr<Part<Real>>>;

/// Where something begins in the flat weights of a layer; kNowhere if the layer has no such thing.
inline constexpr Count kNowhere = -1;

/// y = x wᵀ + bias
template <class Real>
std::unique_ptr<Part<Real>> make_linear(Count in, Count out, Count weight_at, Count bias_at,
                                        Rounding<Real>* rounding = nullptr);
/// Rows to mean 0 and variance 1, times weight plus bias (Ba, Kiros and Hinton 2016).
template <class Real>
std::unique_ptr<Part<Real>> make_norm(Count width, Count weight_at, Count bias_at, Rounding<Real>* rounding = nullptr);
/// x/2 (1 + tanh(sqrt(2/π) (x + 0.044715 x³))) (Hendrycks and Gimpel 2016).
template <class Real>
std::unique_ptr<Part<Real>> make_gelu(Rounding<Real>* rounding = nullptr);
/// Causal, from rows of queries, keys and values (3 width) to rows of width (Vaswani et al. 2017).
template <class Real>
std::unique_ptr<Part<Real>> make_attention(Count batch, Count width, int heads, Rounding<Real>* rounding = nullptr);
/// Ignores x: the rows of the table that the ids name, plus the row of the position.
template <class Real>
std::unique_ptr<Part<Real>> make_embedding(std::vector<std::int32_t> ids, Count batch, Count width, Count token_at,
                                           Count position_at, Rounding<Real>* rounding = nullptr);
/// One after another.
template <class Real>
std::unique_ptr<Part<Real>> make_sequence(Parts<Real> parts);
/// x + part(x).
template <class Real>
std::unique_ptr<Part<Real>> make_residual(std::unique_ptr<Part<Real>> part, Rounding<Real>* rounding = nullptr);

}  // namespace shardlings::grading::reference
