// The pre-norm transformer block of GPT-2 (Radford et al. 2019): x + attention(norm(x)), then the same of the
// feed-forward part. Where it is divided, each half adds its terms up once in each direction (Shoeybi et al. 2019).
#include <utility>

#include "front/model/layers.h"

namespace shardlings::front {
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
    inner_.normed1 = layer_norm(layer_.x, w_.vector("ln1.weight"), w_.vector("ln1.bias"), kept(inner_.stats1), at_);
    inner_.qkv = matmul(inner_.normed1, w_.stacked("query.weight", "value.weight"), nt, at_);
    done(inner_.normed1);
    add_bias(inner_.qkv, w_.joined("query.bias", "value.bias"), at_);
    const Shape& shape = layer_.x.shape();
    const ConstView qkv = inner_.qkv.reshaped({shape[0], shape[1], 3 * layer_.structure.attended}, at_);
    inner_.context = attention(qkv, layer_.structure.heads, keeps_inner_ ? &inner_.attention : nullptr, at_);
    done(inner_.qkv);
    inner_.middle = matmul(inner_.context, w_.matrix("proj.weight"), nt, at_);
    done(inner_.context);
    layer_.add_up(inner_.middle);
    add_bias(inner_.middle, w_.vector("proj.bias"), at_);
    add(inner_.middle, layer_.x, at_);
  }

  Tensor feed_forward() {
    inner_.normed2 =
        layer_norm(inner_.middle, w_.vector("ln2.weight"), w_.vector("ln2.bias"), kept(inner_.stats2), at_);
    inner_.before_gelu = matmul(inner_.normed2, w_.matrix("fc.weight"), nt, at_);
    done(inner_.normed2);
    add_bias(inner_.before_gelu, w_.vector("fc.bias"), at_);
    inner_.after_gelu = gelu(inner_.before_gelu, at_);
    done(inner_.before_gelu);
    Tensor y = matmul(inner_.after_gelu, w_.matrix("fc2.weight"), nt, at_);
    done(inner_.after_gelu);
    layer_.add_up(y);
    add_bias(y, w_.vector("fc2.bias"), at_);
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

class Backward {
 public:
  Backward(const LayerArguments& layer, Inner inner, const Entries<View>& grads)
      : layer_(layer), w_(layer.weights), g_(grads), at_(layer.at), inner_(std::move(inner)) {}

  Tensor run(Tensor grad) {
    Tensor grad_middle = feed_forward(grad);
    add(grad_middle, grad, at_);
    grad = {};
    Tensor grad_x = attend(grad_middle);
    add(grad_x, grad_middle, at_);
    return grad_x;
  }

 private:
  Tensor feed_forward(const Tensor& grad) {
    sum_rows_add(g_.vector("fc2.bias"), grad, at_);
    matmul_add(g_.matrix("fc2.weight"), grad, inner_.after_gelu, tn, at_);
    inner_.after_gelu = {};
    Tensor wide = matmul(grad, w_.matrix("fc2.weight"), nn, at_);
    wide = gelu_backward(inner_.before_gelu, wide, at_);
    inner_.before_gelu = {};
    sum_rows_add(g_.vector("fc.bias"), wide, at_);
    matmul_add(g_.matrix("fc.weight"), wide, inner_.normed2, tn, at_);
    inner_.normed2 = {};
    Tensor grad_normed = matmul(wide, w_.matrix("fc.weight"), nn, at_);
    wide = {};
    layer_.add_up(grad_normed);
    Tensor grad_middle = layer_norm_backward(inner_.middle, w_.vector("ln2.weight"), inner_.stats2, grad_normed,
                                             g_.vector("ln2.weight"), g_.vector("ln2.bias"), at_);
    inner_.middle = {};
    inner_.stats2 = {};
    return grad_middle;
  }

  Tensor attend(const Tensor& grad) {
    sum_rows_add(g_.vector("proj.bias"), grad, at_);
    matmul_add(g_.matrix("proj.weight"), grad, inner_.context, tn, at_);
    inner_.context = {};
    Tensor grad_qkv = attention_inputs(matmul(grad, w_.matrix("proj.weight"), nn, at_));
    inner_.qkv = {};
    sum_rows_add(g_.joined("query.bias", "value.bias"), grad_qkv, at_);
    matmul_add(g_.stacked("query.weight", "value.weight"), grad_qkv, inner_.normed1, tn, at_);
    inner_.normed1 = {};
    Tensor grad_normed = matmul(grad_qkv, w_.stacked("query.weight", "value.weight"), nn, at_);
    grad_qkv = {};
    layer_.add_up(grad_normed);
    return layer_norm_backward(layer_.x, w_.vector("ln1.weight"), inner_.stats1, grad_normed, g_.vector("ln1.weight"),
                               g_.vector("ln1.bias"), at_);
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
  const Entries<View>& g_;
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

Tensor block_backward(const LayerArguments& layer, std::vector<Tensor> saved, Tensor grad, const Entries<View>& grads) {
  if (layer.recompute == model::Recompute::full) {
    Forward again(layer, Keeps::all);
    again.run();
    return Backward(layer, again.take(), grads).run(std::move(grad));
  }
  return Backward(layer, unpack(std::move(saved)), grads).run(std::move(grad));
}

}  // namespace shardlings::front
