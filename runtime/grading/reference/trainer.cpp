#include "grading/reference/trainer.h"

#include <cmath>
#include <utility>

#include "grading/reference/noise.h"
#include "shardlings/ops.h"

namespace shardlings::grading::reference {
namespace {

using model::LayerStructure;

/// The pieces that make a layer, for one micro-batch.
template <class Real>
class Builder {
 public:
  Builder(const cases::Case& kase, const cases::MicroData& data, const LayerStructure& structure,
          Rounding<Real>* rounding)
      : kase_(kase), data_(data), structure_(structure), rounding_(rounding) {}

  std::unique_ptr<Part<Real>> build() const {
    Parts<Real> parts;
    switch (structure_.type) {
      case LayerStructure::Type::linear: return linear(structure_.in, structure_.out, "weight", "bias");
      case LayerStructure::Type::linear_gelu:
        parts.push_back(linear(structure_.in, structure_.out, "weight", "bias"));
        parts.push_back(make_gelu<Real>(rounding_));
        break;
      case LayerStructure::Type::embedding:
        return make_embedding<Real>(data_.ids, kase_.batch, structure_.out, at("token"), at("position"), rounding_);
      case LayerStructure::Type::block:
        parts.push_back(make_residual<Real>(attention(), rounding_));
        parts.push_back(make_residual<Real>(feed_forward(), rounding_));
        break;
      case LayerStructure::Type::head:
        parts.push_back(norm("norm.weight", "norm.bias"));
        parts.push_back(make_linear<Real>(structure_.in, structure_.out, at("weight"), kNowhere, rounding_));
        break;
    }
    return make_sequence<Real>(std::move(parts));
  }

 private:
  Count at(const char* name) const { return entry_of(structure_, name).range.begin; }
  std::unique_ptr<Part<Real>> linear(Count in, Count out, const char* weight, const char* bias) const {
    return make_linear<Real>(in, out, at(weight), at(bias), rounding_);
  }
  std::unique_ptr<Part<Real>> norm(const char* weight, const char* bias) const {
    return make_norm<Real>(structure_.in, at(weight), at(bias), rounding_);
  }
  std::unique_ptr<Part<Real>> attention() const {
    const Count h = structure_.in;
    Parts<Real> parts;
    parts.push_back(norm("ln1.weight", "ln1.bias"));
    parts.push_back(linear(h, 3 * h, "query.weight", "query.bias"));  // keys and values follow the queries
    parts.push_back(make_attention<Real>(kase_.batch, h, structure_.heads, rounding_));
    parts.push_back(linear(h, h, "proj.weight", "proj.bias"));
    return make_sequence<Real>(std::move(parts));
  }
  std::unique_ptr<Part<Real>> feed_forward() const {
    const Count h = structure_.in;
    Parts<Real> parts;
    parts.push_back(norm("ln2.weight", "ln2.bias"));
    parts.push_back(linear(h, 4 * h, "fc.weight", "fc.bias"));
    parts.push_back(make_gelu<Real>(rounding_));
    parts.push_back(linear(4 * h, h, "fc2.weight", "fc2.bias"));
    return make_sequence<Real>(std::move(parts));
  }

  const cases::Case& kase_;
  const cases::MicroData& data_;
  const LayerStructure& structure_;
  Rounding<Real>* rounding_;
};

/// Cross entropy of the rows whose target counts, over `tokens`; the logits become their gradient.
template <class Real>
Real cross_entropy(Array<Real>& logits, const std::vector<std::int32_t>& targets, Real tokens) {
  const std::size_t width = logits.size() / targets.size();
  Real loss = 0;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    Real* z = logits.data() + row * width;
    if (targets[row] < 0) {
      for (std::size_t j = 0; j < width; ++j) z[j] = 0;
      continue;
    }
    const auto target = static_cast<std::size_t>(targets[row]);
    Real largest = z[0], total = 0;
    for (std::size_t j = 0; j < width; ++j) largest = z[j] > largest ? z[j] : largest;
    for (std::size_t j = 0; j < width; ++j) total += std::exp(z[j] - largest);
    loss += (largest + std::log(total) - z[target]) / tokens;
    for (std::size_t j = 0; j < width; ++j) z[j] = std::exp(z[j] - largest) / total / tokens;
    z[target] -= 1 / tokens;
  }
  return loss;
}

template <class Real>
LayersOf<Real> zeros_like(const LayersOf<Real>& layers) {
  LayersOf<Real> zeros;
  for (const Array<Real>& layer : layers) zeros.emplace_back(layer.size(), Real(0));
  return zeros;
}

template <class Real>
void add_to(LayersOf<Real>& sum, const LayersOf<Real>& layers) {
  for (std::size_t l = 0; l < sum.size(); ++l) {
    for (std::size_t i = 0; i < sum[l].size(); ++i) sum[l][i] += layers[l][i];
  }
}

template <class Real>
void keep_all(Rounding<Real>* rounding, LayersOf<Real>& layers) {
  for (Array<Real>& layer : layers) keep(rounding, layer);
}

/// A micro-batch, its inputs shaken.
cases::MicroData shaken_micro(const cases::Case& kase, int batch, int micro, std::uint64_t shake) {
  constexpr std::uint64_t kInputs = std::uint64_t{1} << 32U;
  cases::MicroData data = cases::micro_of(kase, batch, micro);
  const auto number = static_cast<std::uint64_t>(batch) * static_cast<std::uint64_t>(kase.micro_batches) +
                      static_cast<std::uint64_t>(micro);
  shake_all(data.inputs, shake, kInputs + number);
  return data;
}

/// Where two tensors of the first and the last layer lie that train as one.
struct Tie {
  explicit Tie(const model::ModelSpec& spec) {
    if (!spec.tied) return;
    const model::ModelStructure model = model::make_structure(spec);
    first = entry_of(model.layers.front(), "token").range;
    last = entry_of(model.layers.back(), "weight").range;
  }
  Range first, last;
};

/// The gradient of a tied tensor is the sum over its two uses: both get it.
template <class Real>
void add_tied(const Tie& tie, LayersOf<Real>& grads) {
  for (Count i = 0; i < tie.first.size(); ++i) {
    Real& first = grads.front()[static_cast<std::size_t>(tie.first.begin + i)];
    Real& last = grads.back()[static_cast<std::size_t>(tie.last.begin + i)];
    first = last = first + last;
  }
}

/// What is tied counts once.
template <class Real>
Real norm_of(const Tie& tie, const LayersOf<Real>& layers) {
  Real squares = 0;
  for (const Array<Real>& layer : layers) {
    for (const Real x : layer) squares += x * x;
  }
  for (Count i = tie.last.begin; i < tie.last.end; ++i) {
    const Real x = layers.back()[static_cast<std::size_t>(i)];
    squares -= x * x;
  }
  return std::sqrt(squares);
}

/// Plain SGD, or Adam with the defaults of AdamStep (Kingma and Ba 2015, algorithm 1), on a gradient that is shortened
/// to the norm spec.clip where it is longer (Pascanu et al. 2013, algorithm 1).
template <class Real>
class Optimizer {
 public:
  Optimizer(model::ModelSpec spec, Trained<Real>& trained) : spec_(std::move(spec)), trained_(trained) {
    trained_.m = trained_.v = zeros_like(trained_.weights);
  }

  void update() {
    ++step_;
    const Real lr = Real(spec_.lr), norm = norm_of(Tie(spec_), trained_.grads), limit = Real(spec_.clip);
    const Real factor = limit > 0 && norm > limit ? limit / norm : Real(1);
    trained_.norms.push_back(norm);
    for (std::size_t l = 0; l < trained_.weights.size(); ++l) {
      for (std::size_t i = 0; i < trained_.weights[l].size(); ++i) {
        const Real g = factor * trained_.grads[l][i];
        const bool sgd = spec_.optimizer == model::ModelSpec::Optimizer::sgd;
        trained_.weights[l][i] -= lr * (sgd ? g : direction(trained_.m[l][i], trained_.v[l][i], g));
      }
    }
  }

 private:
  Real direction(Real& m, Real& v, Real g) const {
    const AdamStep defaults;
    const Real beta1 = Real(defaults.beta1), beta2 = Real(defaults.beta2);
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    const Real m_hat = m / (1 - std::pow(beta1, Real(step_)));
    const Real v_hat = v / (1 - std::pow(beta2, Real(step_)));
    return m_hat / (std::sqrt(v_hat) + Real(spec_.eps));
  }

  model::ModelSpec spec_;
  Trained<Real>& trained_;
  int step_ = 0;
};

}  // namespace

template <class Real>
LayersOf<Real> initial_weights(const cases::Case& kase) {
  LayersOf<Real> weights;
  const auto layers = static_cast<int>(model::make_structure(kase.model).layers.size());
  for (int l = 0; l < layers; ++l) {
    const std::vector<float> layer = cases::weights_of(kase, l);
    weights.emplace_back(layer.begin(), layer.end());
  }
  return weights;
}

template <class Real>
Real train_micro(const cases::Case& kase, const cases::MicroData& data, Count tokens, const LayersOf<Real>& weights,
                 LayersOf<Real>& grads, Rounding<Real>* rounding) {
  const model::ModelStructure model = model::make_structure(kase.model);
  Parts<Real> layers;
  Array<Real> x(data.inputs.begin(), data.inputs.end());
  keep(rounding, x);
  for (std::size_t l = 0; l < weights.size(); ++l) {
    layers.push_back(Builder<Real>(kase, data, model.layers[l], rounding).build());
    x = layers[l]->forward(weights[l], std::move(x));
  }
  const Real loss = cross_entropy(x, data.targets, static_cast<Real>(tokens));
  keep(rounding, x);
  for (std::size_t l = weights.size(); l-- > 0;) x = layers[l]->backward(weights[l], x, grads[l]);
  keep_all(rounding, grads);
  return loss;
}

template <class Real>
Trained<Real> train(const cases::Case& kase, std::uint64_t shake, Precision precision) {
  Rounding<Real> to_bf16(shake);
  Rounding<Real>* rounding = precision == Precision::mixed ? &to_bf16 : nullptr;
  Trained<Real> trained;
  trained.weights = initial_weights<Real>(kase);
  for (std::size_t l = 0; l < trained.weights.size(); ++l) shake_all(trained.weights[l], shake, l);
  Optimizer<Real> optimizer(kase.model, trained);
  const Count tokens = cases::tokens_of_step(kase);
  const Tie tie(kase.model);
  for (int step = 0; step < kase.steps; ++step) {
    trained.loss = 0;
    trained.grads = zeros_like(trained.weights);
    trained.local_grads.assign(static_cast<std::size_t>(kase.num_batches()), zeros_like(trained.weights));
    LayersOf<Real> weights = trained.weights;
    keep_all(rounding, weights);
    for (int batch = 0; batch < kase.num_batches(); ++batch) {
      LayersOf<Real>& local = trained.local_grads[static_cast<std::size_t>(batch)];
      for (int micro = 0; micro < kase.micro_batches; ++micro) {
        const cases::MicroData data = shaken_micro(kase, batch, micro, shake);
        trained.loss += train_micro(kase, data, tokens, weights, local, rounding);
      }
      add_tied(tie, local);
      add_to(trained.grads, local);
    }
    keep_all(rounding, trained.grads);
    optimizer.update();
  }
  return trained;
}

template LayersOf<float> initial_weights<float>(const cases::Case&);
template LayersOf<double> initial_weights<double>(const cases::Case&);
template float train_micro<float>(const cases::Case&, const cases::MicroData&, Count, const LayersOf<float>&,
                                  LayersOf<float>&, Rounding<float>*);
template double train_micro<double>(const cases::Case&, const cases::MicroData&, Count, const LayersOf<double>&,
                                    LayersOf<double>&, Rounding<double>*);
template Trained<float> train<float>(const cases::Case&, std::uint64_t, Precision);
template Trained<double> train<double>(const cases::Case&, std::uint64_t, Precision);

}  // namespace shardlings::grading::reference
