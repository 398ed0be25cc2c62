// The pieces of a transformer that know of positions: attention and the embedding.
#include <cmath>
#include <utility>

#include "grading/reference/parts.h"

namespace shardlings::grading::reference {
namespace {

template <class Real>
class Attention final : public Part<Real> {
 public:
  Attention(Count batch, Count width, int heads, Rounding<Real>* rounding)
      : batch_(batch), width_(width), heads_(heads), head_(width / heads), rounding_(rounding) {}

  Array<Real> forward(const Array<Real>&, Array<Real> x) override {
    x_ = std::move(x);
    sequence_ = static_cast<Count>(x_.size()) / (3 * width_ * batch_);
    Array<Real> y(static_cast<std::size_t>(sequence_ * batch_ * width_), Real(0));
    probabilities_.clear();
    for_each_query([&](Count b, Count h, Count i) {
      Array<Real> p = look_back(b, h, i);
      Real* to = y.data() + (i * batch_ + b) * width_ + h * head_;
      for (Count j = 0; j <= i; ++j) {
        const Real* value = at(2, b, h, j);
        for (Count k = 0; k < head_; ++k) to[k] += p[static_cast<std::size_t>(j)] * value[k];
      }
      keep(rounding_, p);  // the backward sees them as they were stored, the sum above as they were computed
      probabilities_.push_back(std::move(p));
    });
    keep(rounding_, y);
    return y;
  }

  Array<Real> backward(const Array<Real>&, const Array<Real>& grad, Array<Real>&) override {
    Array<Real> grad_x(x_.size(), Real(0));
    auto p = probabilities_.begin();
    for_each_query([&](Count b, Count h, Count i) { back_from(b, h, i, *p++, grad, grad_x); });
    keep(rounding_, grad_x);
    return grad_x;
  }

 private:
  template <class F>
  void for_each_query(F f) const {
    for (Count b = 0; b < batch_; ++b) {
      for (Count h = 0; h < heads_; ++h) {
        for (Count i = 0; i < sequence_; ++i) f(b, h, i);
      }
    }
  }
  /// Where the query (0), key (1) or value (2) of a position begins, in x or its gradient.
  Count place(Count which, Count b, Count h, Count position) const {
    return (position * batch_ + b) * 3 * width_ + which * width_ + h * head_;
  }
  const Real* at(Count which, Count b, Count h, Count position) const {
    return x_.data() + place(which, b, h, position);
  }
  Real scale() const { return 1 / std::sqrt(static_cast<Real>(head_)); }

  /// How much position i attends to each of 0 to i.
  Array<Real> look_back(Count b, Count h, Count i) const {
    Array<Real> p(static_cast<std::size_t>(i + 1), Real(0));
    const Real* query = at(0, b, h, i);
    Real largest = 0;
    for (Count j = 0; j <= i; ++j) {
      const Real* key = at(1, b, h, j);
      Real score = 0;
      for (Count k = 0; k < head_; ++k) score += query[k] * key[k];
      p[static_cast<std::size_t>(j)] = score * scale();
      if (j == 0 || p[static_cast<std::size_t>(j)] > largest) largest = p[static_cast<std::size_t>(j)];
    }
    Real total = 0;
    for (Real& v : p) total += v = std::exp(v - largest);
    for (Real& v : p) v /= total;
    return p;
  }

  void back_from(Count b, Count h, Count i, const Array<Real>& p, const Array<Real>& grad, Array<Real>& grad_x) const {
    const Real* from = grad.data() + (i * batch_ + b) * width_ + h * head_;
    Array<Real> grad_p(p.size(), Real(0));
    Real mean = 0;
    for (Count j = 0; j <= i; ++j) {
      const auto slot = static_cast<std::size_t>(j);
      const Real* value = at(2, b, h, j);
      Real* grad_value = grad_x.data() + place(2, b, h, j);
      for (Count k = 0; k < head_; ++k) {
        grad_p[slot] += from[k] * value[k];
        grad_value[k] += p[slot] * from[k];
      }
      mean += p[slot] * grad_p[slot];
    }
    const Real* query = at(0, b, h, i);
    Real* grad_query = grad_x.data() + place(0, b, h, i);
    for (Count j = 0; j <= i; ++j) {
      const auto slot = static_cast<std::size_t>(j);
      const Real grad_score = scale() * p[slot] * (grad_p[slot] - mean);
      const Real* key = at(1, b, h, j);
      Real* grad_key = grad_x.data() + place(1, b, h, j);
      for (Count k = 0; k < head_; ++k) {
        grad_query[k] += grad_score * key[k];
        grad_key[k] += grad_score * query[k];
      }
    }
  }

  Count batch_, width_, heads_, head_;
  Rounding<Real>* rounding_;
  Count sequence_ = 0;
  Array<Real> x_;
  std::vector<Array<Real>> probabilities_;
};

template <class Real>
class Embedding final : public Part<Real> {
 public:
  Embedding(std::vector<std::int32_t> ids, Count batch, Count width, Count token_at, Count position_at,
            Rounding<Real>* rounding)
      : ids_(std::move(ids)),
        batch_(batch),
        width_(width),
        token_at_(token_at),
        position_at_(position_at),
        rounding_(rounding) {}

  Array<Real> forward(const Array<Real>& weights, Array<Real>) override {
    Array<Real> y(ids_.size() * static_cast<std::size_t>(width_), Real(0));
    for (Count row = 0; row < rows(); ++row) {
      for (Count k = 0; k < width_; ++k) {
        y[static_cast<std::size_t>(row * width_ + k)] = weights[token(row, k)] + weights[position(row, k)];
      }
    }
    keep(rounding_, y);
    return y;
  }

  Array<Real> backward(const Array<Real>&, const Array<Real>& grad, Array<Real>& grads) override {
    for (Count row = 0; row < rows(); ++row) {
      for (Count k = 0; k < width_; ++k) {
        const Real from = grad[static_cast<std::size_t>(row * width_ + k)];
        grads[token(row, k)] += from;
        grads[position(row, k)] += from;
      }
    }
    return {};
  }

 private:
  Count rows() const { return static_cast<Count>(ids_.size()); }
  std::size_t token(Count row, Count k) const {
    return static_cast<std::size_t>(token_at_ + ids_[static_cast<std::size_t>(row)] * width_ + k);
  }
  std::size_t position(Count row, Count k) const {
    return static_cast<std::size_t>(position_at_ + row / batch_ * width_ + k);
  }

  std::vector<std::int32_t> ids_;
  Count batch_, width_, token_at_, position_at_;
  Rounding<Real>* rounding_;
};

}  // namespace

template <class Real>
std::unique_ptr<Part<Real>> make_attention(Count batch, Count width, int heads, Rounding<Real>* rounding) {
  return std::make_unique<Attention<Real>>(batch, width, heads, rounding);
}
template <class Real>
std::unique_ptr<Part<Real>> make_embedding(std::vector<std::int32_t> ids, Count batch, Count width, Count token_at,
                                           Count position_at, Rounding<Real>* rounding) {
  return std::make_unique<Embedding<Real>>(std::move(ids), batch, width, token_at, position_at, rounding);
}

template std::unique_ptr<Part<float>> make_attention<float>(Count, Count, int, Rounding<float>*);
template std::unique_ptr<Part<double>> make_attention<double>(Count, Count, int, Rounding<double>*);
template std::unique_ptr<Part<float>> make_embedding<float>(std::vector<std::int32_t>, Count, Count, Count, Count,
                                                            Rounding<float>*);
template std::unique_ptr<Part<double>> make_embedding<double>(std::vector<std::int32_t>, Count, Count, Count, Count,
                                                              Rounding<double>*);

}  // namespace shardlings::grading::reference
