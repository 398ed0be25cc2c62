#include "grading/reference/parts.h"

#include <cmath>
#include <utility>

#include "grading/reference/gelu.h"

namespace shardlings::grading::reference {
namespace {

template <class Real>
Array<Real> zeros(Count n) {
  return Array<Real>(static_cast<std::size_t>(n), Real(0));
}

template <class Real>
Count size_of(const Array<Real>& x) {
  return static_cast<Count>(x.size());
}

template <class Real>
class Linear final : public Part<Real> {
 public:
  Linear(Count in, Count out, Count weight_at, Count bias_at, Rounding<Real>* rounding)
      : in_(in), out_(out), weight_at_(weight_at), bias_at_(bias_at), rounding_(rounding) {}

  Array<Real> forward(const Array<Real>& weights, Array<Real> x) override {
    const Array<Real> turned = transposed(weights.data() + weight_at_);
    const Count rows = size_of(x) / in_;
    Array<Real> y = zeros<Real>(rows * out_);
    for (Count row = 0; row < rows; ++row) {
      Real* to = y.data() + row * out_;
      for (Count k = 0; k < in_; ++k) {
        const Real factor = x[static_cast<std::size_t>(row * in_ + k)];
        const Real* from = turned.data() + k * out_;
        for (Count j = 0; j < out_; ++j) to[j] += factor * from[j];
      }
    }
    x_ = std::move(x);
    keep(rounding_, y);
    if (bias_at_ != kNowhere) add_bias(weights.data() + bias_at_, y);
    return y;
  }

  Array<Real> backward(const Array<Real>& weights, const Array<Real>& grad, Array<Real>& grads) override {
    const Count rows = size_of(grad) / out_;
    Array<Real> grad_x = zeros<Real>(rows * in_);
    for (Count row = 0; row < rows; ++row) {
      const Real* x = x_.data() + row * in_;
      Real* to = grad_x.data() + row * in_;
      for (Count j = 0; j < out_; ++j) {
        const Real factor = grad[static_cast<std::size_t>(row * out_ + j)];
        const Real* weight = weights.data() + weight_at_ + j * in_;
        Real* grad_weight = grads.data() + weight_at_ + j * in_;
        for (Count k = 0; k < in_; ++k) to[k] += factor * weight[k];
        for (Count k = 0; k < in_; ++k) grad_weight[k] += factor * x[k];
        if (bias_at_ != kNowhere) grads[static_cast<std::size_t>(bias_at_ + j)] += factor;
      }
    }
    keep(rounding_, grad_x);
    return grad_x;
  }

 private:
  void add_bias(const Real* bias, Array<Real>& y) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += bias[i % static_cast<std::size_t>(out_)];
    keep(rounding_, y);
  }

  Array<Real> transposed(const Real* weight) const {
    Array<Real> turned = zeros<Real>(in_ * out_);
    for (Count j = 0; j < out_; ++j) {
      for (Count k = 0; k < in_; ++k) turned[static_cast<std::size_t>(k * out_ + j)] = weight[j * in_ + k];
    }
    return turned;
  }

  Count in_, out_, weight_at_, bias_at_;
  Rounding<Real>* rounding_;
  Array<Real> x_;
};

template <class Real>
class Norm final : public Part<Real> {
 public:
  Norm(Count width, Count weight_at, Count bias_at, Rounding<Real>* rounding)
      : width_(width), weight_at_(weight_at), bias_at_(bias_at), rounding_(rounding) {}

  Array<Real> forward(const Array<Real>& weights, Array<Real> x) override {
    const Count rows = size_of(x) / width_;
    inverse_ = zeros<Real>(rows);
    unit_ = std::move(x);
    Array<Real> y = unit_;
    for (Count row = 0; row < rows; ++row) {
      Real* unit = unit_.data() + row * width_;
      inverse_[static_cast<std::size_t>(row)] = make_unit(unit);
      for (Count j = 0; j < width_; ++j) {
        y[static_cast<std::size_t>(row * width_ + j)] = unit[j] * weights[static_cast<std::size_t>(weight_at_ + j)] +
                                                        weights[static_cast<std::size_t>(bias_at_ + j)];
      }
    }
    keep(rounding_, y);
    return y;
  }

  Array<Real> backward(const Array<Real>& weights, const Array<Real>& grad, Array<Real>& grads) override {
    const Count rows = size_of(grad) / width_;
    Array<Real> grad_x = grad;
    for (Count row = 0; row < rows; ++row) {
      const Real* unit = unit_.data() + row * width_;
      Real* to = grad_x.data() + row * width_;
      Real sum = 0, along = 0;
      for (Count j = 0; j < width_; ++j) {
        grads[static_cast<std::size_t>(weight_at_ + j)] += to[j] * unit[j];
        grads[static_cast<std::size_t>(bias_at_ + j)] += to[j];
        to[j] *= weights[static_cast<std::size_t>(weight_at_ + j)];
        sum += to[j];
        along += to[j] * unit[j];
      }
      const Real n = static_cast<Real>(width_);
      const Real inverse = inverse_[static_cast<std::size_t>(row)];
      for (Count j = 0; j < width_; ++j) to[j] = inverse * (to[j] - sum / n - unit[j] * along / n);
    }
    keep(rounding_, grad_x);
    return grad_x;
  }

 private:
  /// Makes a row's mean 0 and its variance 1; returns 1/deviation.
  Real make_unit(Real* row) const {
    const Real n = static_cast<Real>(width_);
    Real mean = 0, variance = 0;
    for (Count j = 0; j < width_; ++j) mean += row[j] / n;
    for (Count j = 0; j < width_; ++j) variance += (row[j] - mean) * (row[j] - mean) / n;
    const Real inverse = 1 / std::sqrt(variance + Real(1e-5F));
    for (Count j = 0; j < width_; ++j) row[j] = (row[j] - mean) * inverse;
    return inverse;
  }

  Count width_, weight_at_, bias_at_;
  Rounding<Real>* rounding_;
  Array<Real> unit_, inverse_;
};

template <class Real>
class Gelu final : public Part<Real> {
 public:
  explicit Gelu(Rounding<Real>* rounding) : rounding_(rounding) {}

  Array<Real> forward(const Array<Real>&, Array<Real> x) override {
    Array<Real> y = x;
    for (Real& v : y) v = gelu(v);
    x_ = std::move(x);
    keep(rounding_, y);
    return y;
  }

  Array<Real> backward(const Array<Real>&, const Array<Real>& grad, Array<Real>&) override {
    Array<Real> grad_x = grad;
    for (std::size_t i = 0; i < grad.size(); ++i) grad_x[i] *= gelu_slope(x_[i]);
    keep(rounding_, grad_x);
    return grad_x;
  }

 private:
  Rounding<Real>* rounding_;
  Array<Real> x_;
};

template <class Real>
class Sequence final : public Part<Real> {
 public:
  explicit Sequence(Parts<Real> parts) : parts_(std::move(parts)) {}

  Array<Real> forward(const Array<Real>& weights, Array<Real> x) override {
    for (auto& part : parts_) x = part->forward(weights, std::move(x));
    return x;
  }
  Array<Real> backward(const Array<Real>& weights, const Array<Real>& grad, Array<Real>& grads) override {
    Array<Real> grad_x = grad;
    for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
      grad_x = (*part)->backward(weights, grad_x, grads);
    }
    return grad_x;
  }

 private:
  Parts<Real> parts_;
};

template <class Real>
class Residual final : public Part<Real> {
 public:
  Residual(std::unique_ptr<Part<Real>> part, Rounding<Real>* rounding) : part_(std::move(part)), rounding_(rounding) {}

  Array<Real> forward(const Array<Real>& weights, Array<Real> x) override {
    return plus(part_->forward(weights, x), x);
  }
  Array<Real> backward(const Array<Real>& weights, const Array<Real>& grad, Array<Real>& grads) override {
    return plus(part_->backward(weights, grad, grads), grad);
  }

 private:
  Array<Real> plus(Array<Real> a, const Array<Real>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    keep(rounding_, a);
    return a;
  }
  std::unique_ptr<Part<Real>> part_;
  Rounding<Real>* rounding_;
};

}  // namespace

template <class Real>
std::unique_ptr<Part<Real>> make_linear(Count in, Count out, Count weight_at, Count bias_at, Rounding<Real>* rounding) {
  return std::make_unique<Linear<Real>>(in, out, weight_at, bias_at, rounding);
}
template <class Real>
std::unique_ptr<Part<Real>> make_norm(Count width, Count weight_at, Count bias_at, Rounding<Real>* rounding) {
  return std::make_unique<Norm<Real>>(width, weight_at, bias_at, rounding);
}
template <class Real>
std::unique_ptr<Part<Real>> make_gelu(Rounding<Real>* rounding) {
  return std::make_unique<Gelu<Real>>(rounding);
}
template <class Real>
std::unique_ptr<Part<Real>> make_sequence(Parts<Real> parts) {
  return std::make_unique<Sequence<Real>>(std::move(parts));
}
template <class Real>
std::unique_ptr<Part<Real>> make_residual(std::unique_ptr<Part<Real>> part, Rounding<Real>* rounding) {
  return std::make_unique<Residual<Real>>(std::move(part), rounding);
}

template std::unique_ptr<Part<float>> make_linear<float>(Count, Count, Count, Count, Rounding<float>*);
template std::unique_ptr<Part<double>> make_linear<double>(Count, Count, Count, Count, Rounding<double>*);
template std::unique_ptr<Part<float>> make_norm<float>(Count, Count, Count, Rounding<float>*);
template std::unique_ptr<Part<double>> make_norm<double>(Count, Count, Count, Rounding<double>*);
template std::unique_ptr<Part<float>> make_gelu<float>(Rounding<float>*);
template std::unique_ptr<Part<double>> make_gelu<double>(Rounding<double>*);
template std::unique_ptr<Part<float>> make_sequence<float>(Parts<float>);
template std::unique_ptr<Part<double>> make_sequence<double>(Parts<double>);
template std::unique_ptr<Part<float>> make_residual<float>(std::unique_ptr<Part<float>>, Rounding<float>*);
template std::unique_ptr<Part<double>> make_residual<double>(std::unique_ptr<Part<double>>, Rounding<double>*);

}  // namespace shardlings::grading::reference
