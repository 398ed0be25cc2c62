// The pre-norm transformer block of GPT-2 (Radford et al. 2019): x + attention(norm(x)), then the same of the
// feed-forward part. Where it is divided, each half adds its terms up once in each direction (Shoeybi et al. 2019).
#include <utility>

#include "front/model/layers.h"
#include "front/model/weight_gradients.h"

namespace shardlings::front {

namespace block_entries = model::block_entries;

namespace {

/// What the forward makes and the backward needs.
struct Inner {
  Tensor normed1, stats1;          // of x
  Tensor qkv, context, attention;  // attention: what attention_backward needs
  Tensor middle;                   // x + attention(norm(x))
  Tensor normed2, stats2;          // of middle
  Tensor before_gelu, after_gelu;
};

std::vector<Tensor> pack(Inner inner) {
  std::vector<Tensor> tensors;
  tensors.reserve(10);
  for (Tensor* tensor : {&inner.normed1, &inner.stats1, &inner.qkv, &inner.context, &inner.attention, &inner.middle,
                         &inner.normed2, &inner.stats2, &inner.before_gelu, &inner.after_gelu}) {
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

Inner unpack(std::vector<Tensor> tensors) {
  Inner inner;
  auto next = tensors.begin();
  for (Tensor* tensor : {&inner.normed1, &inner.stats1, &inner.qkv, &inner.context, &inner.attention, &inner.middle,
                         &inner.normed2, &inner.stats2, &inner.before_gelu, &inner.after_gelu}) {
    *tensor = std::move(*next++);
  }
  return inner;
}

/// What stays for the backward of what forward has made.
enum class Keeps : std::uint8_t { nothing, all, all_but_inner_attention };

/// One direction of one block.
class Forward {
 public:
  Forward(const LayerArguments& layer, Keeps keeps)
      : layer_(layer),
        w_(layer.weights),
        at_(layer.at),
        saving_(keeps != Keeps::nothing),
        keeps_inner_(keeps == Keeps::all) {}

  Tensor run() {
    attend();
    return feed_forward();
  }
  Inner take() { return std::move(inner_); }

 private:
  void attend() {
    inner_.normed1 = layer_norm(layer_.x, w_.vector(block_entries::ln1_weight), w_.vector(block_entries::ln1_bias),
                                kept(inner_.stats1), at_);
    inner_.qkv = matmul(inner_.normed1, w_.stacked(block_entries::query_weight, block_entries::value_weight), nt, at_);
    done(inner_.normed1);
    add_bias(inner_.qkv, w_.joined(block_entries::query_bias, block_entries::value_bias), at_);
    const Shape& shape = layer_.x.shape();
    const ConstView qkv = inner_.qkv.reshaped({shape[0], shape[1], 3 * layer_.structure.attended}, at_);
    inner_.context = attention(qkv, layer_.structure.heads, keeps_inner_ ? &inner_.attention : nullptr, at_);
    done(inner_.qkv);
    inner_.middle = matmul(inner_.context, w_.matrix(block_entries::proj_weight), nt, at_);
    done(inner_.context);
    layer_.add_up(inner_.middle);
    add_bias(inner_.middle, w_.vector(block_entries::proj_bias), at_);
    add(inner_.middle, layer_.x, at_);
  }

  Tensor feed_forward() {
    inner_.normed2 = layer_norm(inner_.middle, w_.vector(block_entries::ln2_weight), w_.vector(block_entries::ln2_bias),
                                kept(inner_.stats2), at_);
    inner_.before_gelu = matmul(inner_.normed2, w_.matrix(block_entries::fc_weight), nt, at_);
    done(inner_.normed2);
    add_bias(inner_.before_gelu, w_.vector(block_entries::fc_bias), at_);
    inner_.after_gelu = gelu(inner_.before_gelu, at_);
    done(inner_.before_gelu);
    Tensor y = matmul(inner_.after_gelu, w_.matrix(block_entries::fc2_weight), nt, at_);
    done(inner_.after_gelu);
    layer_.add_up(y);
    add_bias(y, w_.vector(block_entries::fc2_bias), at_);
    add(y, inner_.middle, at_);
    return y;
  }

  Tensor* kept(Tensor& tensor) { return saving_ ? &tensor : nullptr; }
  void done(Tensor& tensor) const {
    if (!saving_) tensor = {};
  }

  const LayerArguments& layer_;
  const Entries<ConstView>& w_;
  Location at_;
  bool saving_, keeps_inner_;
  Inner inner_;
};

/// The products of weighted_parts(), in the order in which backward comes to them.
enum : std::uint8_t { from_middle, to_middle, projection, queries_keys_values };
/// And its norms.
enum : std::uint8_t { second_norm, first_norm };

class Backward {
 public:
  Backward(const LayerArguments& layer, Inner inner, WeightGradients& weights)
      : layer_(layer), w_(layer.weights), weights_(weights), at_(layer.at), inner_(std::move(inner)) {}

  Tensor run(Tensor grad) {
    Tensor grad_middle = feed_forward(grad);
    add(grad_middle, grad, at_);
    weights_.done(from_middle, grad);
    Tensor grad_x = attend(grad_middle);
    add(grad_x, grad_middle, at_);
    weights_.done(projection, grad_middle);
    return grad_x;
  }

 private:
  Tensor feed_forward(const Tensor& grad) {
    weights_.product(from_middle, grad, inner_.after_gelu);
    Tensor wide = matmul(grad, w_.matrix(block_entries::fc2_weight), nn, at_);
    wide = gelu_backward(inner_.before_gelu, wide, at_);
    inner_.before_gelu = {};
    weights_.product(to_middle, wide, inner_.normed2);
    Tensor grad_normed = matmul(wide, w_.matrix(block_entries::fc_weight), nn, at_);
    weights_.done(to_middle, wide);
    layer_.add_up(grad_normed);
    Tensor grad_middle = weights_.norm(second_norm, inner_.middle, inner_.stats2, grad_normed);
    inner_.middle = {};
    inner_.stats2 = {};
    return grad_middle;
  }

  Tensor attend(const Tensor& grad) {
    weights_.product(projection, grad, inner_.context);
    Tensor grad_qkv = attention_inputs(matmul(grad, w_.matrix(block_entries::proj_weight), nn, at_));
    inner_.qkv = {};
    weights_.product(queries_keys_values, grad_qkv, inner_.normed1);
    Tensor grad_normed =
        matmul(grad_qkv, w_.stacked(block_entries::query_weight, block_entries::value_weight), nn, at_);
    weights_.done(queries_keys_values, grad_qkv);
    layer_.add_up(grad_normed);
    return weights_.norm(first_norm, layer_.x, inner_.stats1, grad_normed);
  }

  Tensor attention_inputs(const Tensor& grad_context) {
    const Shape& shape = layer_.x.shape();
    const Count width = layer_.structure.attended;
    const ConstView qkv = inner_.qkv.reshaped({shape[0], shape[1], 3 * width}, at_);
    if (layer_.recompute == model::Recompute::selective) {
      const Tensor context = attention(qkv, layer_.structure.heads, &inner_.attention, at_);
    }
    return attention_backward(qkv, layer_.structure.heads, std::move(inner_.attention),
                              grad_context.reshaped({shape[0], shape[1], width}, at_), at_);
  }

  const LayerArguments& layer_;
  const Entries<ConstView>& w_;
  WeightGradients& weights_;
  Location at_;
  Inner inner_;
};

}  // namespace

Tensor block_forward(const LayerArguments& layer, std::vector<Tensor>* saved) {
  const bool is_selective = layer.recompute == model::Recompute::selective;
  const bool saves = saved != nullptr && layer.recompute != model::Recompute::full;
  Forward forward(layer, !saves ? Keeps::nothing : is_selective ? Keeps::all_but_inner_attention : Keeps::all);
  Tensor y = forward.run();
  if (saves) *saved = pack(forward.take());
  return y;
}

Tensor block_backward(const LayerArguments& layer, std::vector<Tensor> saved, Tensor grad, WeightGradients& weights) {
  if (layer.recompute == model::Recompute::full) {
    Forward again(layer, Keeps::all);
    again.run();
    return Backward(layer, again.take(), weights).run(std::move(grad));
  }
  return Backward(layer, unpack(std::move(saved)), weights).run(std::move(grad));
}

}  // namespace shardlings::front
