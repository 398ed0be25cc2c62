#include "grading/formulas/training.h"

#include <algorithm>
#include <cmath>

#include "model/memory.h"

namespace shardlings::grading::formulas {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double dot(const reference::Layers& a, const reference::Layers& b) {
  double sum = 0;
  for (std::size_t l = 0; l < a.size(); ++l) sum += dot(a[l], b[l]);
  return sum;
}

}  // namespace

std::vector<LayerBytes> layer_bytes(const cases::Case& kase, DType dtype) {
  return layer_bytes(kase, model::make_structure(kase.model), dtype);
}

std::vector<LayerBytes> layer_bytes(const cases::Case& kase, const model::ModelStructure& part, DType dtype) {
  const Count tokens = kase.model.sequence * kase.batch;
  std::vector<LayerBytes> all;
  for (const model::LayerStructure& layer : part.layers) {
    LayerBytes bytes;
    bytes.weights = bytes_of(layer.range.size(), dtype).value();
    bytes.input = model::input_bytes(layer, tokens, dtype).value();
    bytes.output = model::output_bytes(layer, tokens, dtype).value();
    if (layer.type != model::LayerStructure::Type::embedding) bytes.input_gradient = bytes.input;
    bytes.saved = model::saved_bytes(layer, tokens, kase.batch, dtype).value();
    bytes.forward = model::forward_peak(layer, tokens, kase.batch, false, dtype).value();
    bytes.forward_saving = model::forward_peak(layer, tokens, kase.batch, true, dtype).value();
    bytes.backward = model::backward_peak(layer, tokens, kase.batch, dtype).value();
    bytes.backward_input = model::backward_input_peak(layer, tokens, kase.batch, dtype).value();
    bytes.kept = model::kept_bytes(layer, tokens, dtype).value();
    bytes.weights_read_x = model::weights_read_x(layer);
    all.push_back(bytes);
  }
  return all;
}

std::int64_t number_of_layers(const cases::Case& kase) {
  return static_cast<std::int64_t>(layer_bytes(kase).size());
}

std::int64_t weights_at(const std::vector<LayerBytes>& layers, std::size_t l) {
  return l < layers.size() ? layers[l].weights : 0;
}

std::int64_t weight_bytes(const std::vector<LayerBytes>& layers) {
  std::int64_t sum = 0;
  for (const LayerBytes& layer : layers) sum += layer.weights;
  return sum;
}

std::int64_t batch_bytes(const cases::Case& kase) {
  const Count tokens = kase.model.sequence * kase.batch;
  const std::int64_t inputs = layer_bytes(kase).front().input;
  return kase.micro_batches * (inputs + judge::kBytesOfF32 * tokens);
}

Letters::Letters(const cases::Case& kase)
    : n(judge::named("N", kase.ranks)),
      m(judge::named("m", kase.micro_batches)),
      l(judge::named("L", kase.has_model() ? number_of_layers(kase) : 0)),
      f(judge::named("F", kase.cluster.table.forward)),
      b(judge::named("B", kase.cluster.table.backward)) {}

judge::Formula<Count> share_of_others(const judge::Formula<Count>& ranks) {
  return folded(ranks - 1) / ranks;
}

std::int64_t count_of(const judge::CheckContext& check, front::EventKind kind) {
  return static_cast<std::int64_t>(check.events(0, kind).size());
}

reference::Layers found_layers(const wire::Result& result, const std::string& name) {
  reference::Layers layers;
  for (int l = 0;; ++l) {
    const auto output = result.outputs.find(name + "." + std::to_string(l));
    if (output == result.outputs.end()) return layers;
    layers.emplace_back(output->second.values.begin(), output->second.values.end());
  }
}

reference::Layers layers_of_rank(const wire::Result& result, const std::string& name, int rank) {
  reference::Layers layers = found_layers(result, name);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const auto& replicas = result.outputs.at(name + "." + std::to_string(l)).replicas;  // none if they are all equal
    if (replicas.empty()) continue;
    const std::vector<float>& values = replicas.at(static_cast<std::size_t>(rank));
    layers[l].assign(values.begin(), values.end());
  }
  return layers;
}

reference::Layers combine(const reference::Layers& a, double factor, const reference::Layers& b) {
  if (!judge::same_sizes(a, b)) return {};
  reference::Layers sum = a;
  for (std::size_t l = 0; l < a.size(); ++l) {
    for (std::size_t i = 0; i < a[l].size(); ++i) sum[l][i] += factor * b[l][i];
  }
  return sum;
}

double clip_factor_of(const cases::Case& kase, double norm) {
  return std::min(1.0, static_cast<double>(kase.model.clip) / norm);
}

reference::Layers scaled(const reference::Layers& a, double factor) {
  return combine(a, factor - 1, a);
}

bool all_finite(const reference::Layers& a) {
  return std::isfinite(dot(a, a));
}

bool alike(const reference::Layers& a, const reference::Layers& b, double within) {
  if (!judge::same_sizes(a, b)) return false;
  const reference::Layers gap = combine(a, -1, b);
  return dot(gap, gap) <= within * within * dot(b, b);
}

std::optional<double> constant_ratio(const reference::Layers& a, const reference::Layers& b, double within) {
  if (!judge::same_sizes(a, b) || !all_finite(a)) return std::nullopt;
  if (dot(a, a) == 0) return 0;
  const double length = dot(b, b);
  if (length == 0) return std::nullopt;
  const double ratio = dot(a, b) / length;
  const reference::Layers gap = combine(a, -ratio, b);
  if (dot(gap, gap) <= within * within * dot(a, a)) return ratio;
  return std::nullopt;
}

bool near(std::optional<double> found, double expected, double within) {
  return found.has_value() && std::abs(*found - expected) <= within * std::abs(expected);
}

}  // namespace shardlings::grading::formulas
