/// \file
/// Consecutive layers of a model that one rank computes: a stage of a pipeline.
#pragma once

#include <vector>

#include "shardlings/model.h"
#include "shardlings/tensor.h"

namespace shardlings {

/// What backward of a stage needs besides the stage's input: the Saved of its layers and the activations between them;
/// after backward_input what backward_weights needs. Lives in device memory and is counted; dropping it frees.
class SHARDLINGS_API StageSaved {
 public:
  /// It holds something: a forward has filled it, and no backward or backward_weights has used it up.
  explicit operator bool() const { return !saved_.empty(); }

 private:
  friend class Stage;
  std::vector<Tensor> x_;  ///< x_[i]: input of the stage's layer i; that of layer 0 is the caller's
  std::vector<Saved> saved_;
};

/// Layers [layers().begin, layers().end) of a model. Holds no weights: it works with those that it was made with.
/// A light handle. A default-constructed one computes nothing: its calls throw InvalidArgument.
class SHARDLINGS_API Stage {
 public:
  Stage() = default;
  /// `tokens` is (s, b) of a micro-batch. weights[l] and grads[l] are those of layer l of the model; of layers outside
  /// the stage they may be empty. They must outlive the stage. throws: InvalidArgument for layers that are not there.
  Stage(const Model& model, Range layers, Shape tokens, const std::vector<Tensor>& weights, std::vector<Tensor>& grads,
        Location at = Location::current());

  /// The same stage, but its forward keeps only the inputs of its layers, and its backward computes the rest again:
  /// less memory for a second forward.
  Stage recomputing() const;

  /// Which layers of the model it computes.
  Range layers() const { return layers_; }
  /// It begins with the first layer of the model, so its input is that of the model.
  bool is_first() const { return is_first_; }
  /// It ends with the last layer of the model, so its output is the logits.
  bool is_last() const { return is_last_; }
  /// What forward takes: (s, b, width); of token ids (s, b).
  Shape input_shape() const { return input_; }
  /// What forward returns: (s, b, width).
  Shape output_shape() const { return output_; }

  /// Output of the last layer for input x of the first. Fills `saved`, if given, with what backward needs besides x.
  Tensor forward(ConstView x, StageSaved* saved, Location at = Location::current()) const;

  /// Gradient of the stage's input from that of its output (which is used up, like `saved`); ADDS to the gradients of
  /// the weights. The returned gradient is an activation. For a stage that begins with token ids it is empty.
  Tensor backward(ConstView x, StageSaved&& saved, Tensor&& grad, Location at = Location::current()) const;

  /// The first half of backward, for all layers: gradient of the stage's input from that of its output (which is used
  /// up). Adds nothing to the gradients of the weights: `saved` then holds what backward_weights needs for them.
  Tensor backward_input(ConstView x, StageSaved& saved, Tensor&& grad, Location at = Location::current()) const;

  /// The second half: ADDS to the gradients of the weights, from the last layer to the first, and uses `saved` up.
  void backward_weights(ConstView x, StageSaved&& saved, Location at = Location::current()) const;

 private:
  friend struct detail::Access;
  void check_made(Location at) const;
  void check_saved(const char* call, const StageSaved& saved, Location at) const;

  Model model_;
  Range layers_;
  bool is_first_ = false;
  bool is_last_ = false;
  bool recomputes_ = false;
  Shape input_, output_;
  std::vector<ConstView> weights_;  ///< of the stage's layers
  std::vector<View> grads_;
};

}  // namespace shardlings
