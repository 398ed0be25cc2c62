/// \file
/// A model as a list of layers, each with one flat tensor of weights, so that sharding is slicing.
#pragma once

#include <vector>

#include "shardlings/ops.h"
#include "shardlings/rank.h"
#include "shardlings/tensor.h"

namespace shardlings {

/// How a weight is divided in tensor parallelism: kept whole, by its rows (outputs) or by its columns (inputs).
enum class Split : std::uint8_t { whole, rows, cols };

/// One matrix or vector inside a layer's flat weights.
struct Entry {
  const char* name = "";       ///< "norm.weight", for example
  Range range;                 ///< of the layer's flat tensor
  Count rows = 0;              ///< outputs
  Count cols = 0;              ///< inputs; 1 for a vector
  Split split = Split::whole;  ///< how the ranks of a tensor-parallel group divide it
};

/// What a layer's backward needs besides its input; after backward_input, what backward_weights needs. Lives in device
/// memory and is counted; dropping it frees.
class SHARDLINGS_API Saved {
 public:
  Saved() = default;
  /// `other` is empty afterwards.
  Saved(Saved&& other) noexcept;
  /// Frees what was there; `other` is empty afterwards.
  Saved& operator=(Saved&& other) noexcept;
  Saved(const Saved&) = delete;
  Saved& operator=(const Saved&) = delete;
  ~Saved();
  /// A forward has filled it, be it with 0 bytes, and no backward or backward_weights has used it up.
  explicit operator bool() const { return id_ != 0; }

 private:
  friend struct detail::Access;
  detail::Port* port_ = nullptr;
  std::uint64_t id_ = 0;
};

/// What the optimizer keeps of a layer; empty for plain SGD.
struct OptimizerState {
  Tensor m;      ///< first moment, as long as the weights
  Tensor v;      ///< second moment, as long as the weights
  int step = 0;  ///< updates made so far
};

/// What the calls of a layer need for one micro-batch; known before anything runs, so that plans can be made from it.
struct LayerCost {
  Count input = 0;     ///< bytes of x
  Count output = 0;    ///< bytes of what forward returns
  Count saved = 0;     ///< bytes of what forward leaves in a Saved
  Count forward = 0;   ///< most bytes that forward with a Saved holds at once; the Saved and the output included
  Count backward = 0;  ///< most bytes that backward holds at once; the Saved and both gradients included
  Count flops = 0;     ///< floating-point operations of forward
  /// Most bytes that backward_input holds at once; what was saved, what is kept, and both gradients included.
  Count backward_input = 0;
  /// Bytes of what backward_input leaves in the Saved. It is also the most that backward_weights holds, if gradients of
  /// weights are f32.
  Count kept = 0;
};

namespace detail {
struct RankModel;
}

/// The layers' math. Holds no weights: they are the caller's. A light handle, the same on every rank.
///
/// Weights and activations are f32, or both bf16; token ids are i32. With bf16, each operation computes in f32 and
/// rounds once, when it stores its result; so do activations and what a Saved holds, but for the statistics of layer
/// norms, which stay f32. Gradients of weights are added in the type of the tensor that they are added to, bf16 or f32.
///
/// A puzzle may be given a model whose layers are divided over a tensor-parallel group. Then sizes, ranges and entries
/// are those of this rank's part, calls of it are collective over that group, and all that goes from layer to layer,
/// the loss included, is whole and the same on every rank of it; only the logits are this rank's part of the
/// vocabulary.
///
/// All of its calls throw InvalidArgument for a layer that is not there, and for a default-constructed Model. Those
/// that compute throw what the operations of ops.h throw.
class SHARDLINGS_API Model {
 public:
  /// How many layers there are; layer l is 0 to num_layers()-1.
  int num_layers(Location at = Location::current()) const;
  /// Number of weights of layer l.
  Count size(int l, Location at = Location::current()) const;
  /// Number of weights of all layers.
  Count total(Location at = Location::current()) const;
  /// Where layer l's weights are in a flat tensor of all.
  Range range(int l, Location at = Location::current()) const;
  /// The matrices inside layer l's weights.
  const std::vector<Entry>& entries(int l, Location at = Location::current()) const;
  /// Which of layer l's weights count when something is summed over all ranks that hold the model once, such as the
  /// squares of a norm: in ascending order, none next to another. Not those that rank 0 of the tensor-parallel group
  /// has as well, and not the second one of tied tensors.
  std::vector<Range> owned(int l, Location at = Location::current()) const;
  /// Where in layer l the tensor lies that the first and the last layer share, which train as one: the embedding's
  /// table, which is the head's weight. Empty for all other layers, and for a model that ties nothing.
  Range tied(int l, Location at = Location::current()) const;

  /// What layer l needs for inputs of `sequence` positions and `batch` sequences: shape()[0] and shape()[1] of any x.
  /// `dtype` is that of weights and activations. throws: InvalidArgument also for numbers that no micro-batch has.
  LayerCost cost(int l, Count sequence, Count batch, DType dtype = DType::f32, Location at = Location::current()) const;

  /// Output of layer l for input x (s, b, width of l). Fills `saved`, if given, with what backward needs besides x.
  Tensor forward(int l, ConstView weights, ConstView x, Saved* saved, Location at = Location::current()) const;

  /// Gradient of layer l's input from that of its output (which is used up, like `saved`); ADDS the gradient of the
  /// weights to `grad_weights`. The returned gradient is an activation. For a layer of token ids it is empty.
  Tensor backward(int l, ConstView weights, ConstView x, Saved&& saved, Tensor&& grad, View grad_weights,
                  Location at = Location::current()) const;

  /// The first half of backward: gradient of layer l's input from that of its output, which is used up. Another stage
  /// waits for that one alone. Of the gradients of the weights nothing is added yet: `saved` then holds what they need,
  /// the inputs of the layer's products and the gradients of their outputs, which is not what forward had left in it.
  /// Both halves together compute what backward does, bit for bit. throws: InvalidArgument also for a Saved that has
  /// been through backward_input already.
  Tensor backward_input(int l, ConstView weights, ConstView x, Saved& saved, Tensor&& grad,
                        Location at = Location::current()) const;

  /// The second half: ADDS the gradient of the weights to `grad_weights`, and uses `saved` up. The order in which
  /// micro-batches are added is that of these calls. `x` as in backward_input; a block and the head do not read it
  /// again, and it may be empty there. throws: InvalidArgument also for a Saved that has not been through
  /// backward_input.
  void backward_weights(int l, ConstView x, Saved&& saved, View grad_weights, Location at = Location::current()) const;

  /// Adds the loss to `loss[0]`, divided by `tokens_of_step`, and returns its gradient in the logits' memory.
  Tensor loss(Tensor&& logits, ConstView targets, Count tokens_of_step, View loss,
              Location at = Location::current()) const;

  /// One step of the case's optimizer on layer l, or on a range of it if all arguments are that range. Weights are f32.
  /// `factor`, if given, is one number on the device that multiplies the gradient: that of clip_factor(), for example.
  void update(int l, View weights, ConstView grad, OptimizerState& optimizer, ConstView factor = {},
              Location at = Location::current()) const;

 private:
  friend struct detail::Access;
  const detail::RankModel* model_ = nullptr;
};

}  // namespace shardlings
