#include "shardlings/model.h"

#include <fmt/format.h>

#include <utility>

#include "api/rank_model.h"
#include "api/request.h"
#include "base/extents.h"
#include "model/flops.h"
#include "model/memory.h"

namespace shardlings {

using detail::Access;
using detail::Port;
using detail::RankModel;
using detail::Request;
using detail::throw_invalid;
using model::LayerStructure;
namespace args = detail::args;

namespace {

const RankModel& checked(const RankModel* model, Location at) {
  if (!model) throw_invalid("this Model was default-constructed: it has no layers", at);
  return *model;
}

const LayerStructure& layer_of(const RankModel* model, int l, const char* query, Location at) {
  const model::ModelStructure& structure = *checked(model, at).structure;
  const int layers = static_cast<int>(structure.layers.size());
  if (l >= 0 && l < layers) return structure.layers[static_cast<std::size_t>(l)];
  throw_invalid(
      fmt::format("{} of layer {}: there is no such layer; the model has layers 0 to {}", query, l, layers - 1), at);
}

}  // namespace

Saved::Saved(Saved&& other) noexcept : port_(std::exchange(other.port_, nullptr)), id_(std::exchange(other.id_, 0)) {}

Saved& Saved::operator=(Saved&& other) noexcept {
  if (this != &other) {
    const Saved old(std::move(*this));
    port_ = std::exchange(other.port_, nullptr);
    id_ = std::exchange(other.id_, 0);
  }
  return *this;
}

Saved::~Saved() {
  if (port_ && id_ != 0) Request(port_, args::drop_saved{.saved = id_}, Location{}).release();
}

int Model::num_layers(Location at) const {
  return static_cast<int>(checked(model_, at).structure->layers.size());
}
Count Model::size(int l, Location at) const {
  return layer_of(model_, l, "size", at).range.size();
}
Count Model::total(Location at) const {
  return checked(model_, at).structure->total;
}
Range Model::range(int l, Location at) const {
  return layer_of(model_, l, "range", at).range;
}
const std::vector<Entry>& Model::entries(int l, Location at) const {
  return layer_of(model_, l, "entries", at).entries;
}

std::vector<Range> Model::owned(int l, Location at) const {
  const LayerStructure& layer = layer_of(model_, l, "owned", at);
  const Range second = layer.type == LayerStructure::Type::head ? tied(l, at) : Range{};
  std::vector<Range> ranges;
  for (const Entry& entry : layer.entries) {
    const bool replica = entry.split == Split::whole && model_->tp.rank() > 0;
    if (replica || entry.range.size() == 0 || (second.size() > 0 && entry.range == second)) continue;
    if (!ranges.empty() && ranges.back().end == entry.range.begin) {
      ranges.back().end = entry.range.end;
    } else {
      ranges.push_back(entry.range);
    }
  }
  return ranges;
}

Range Model::tied(int l, Location at) const {
  const LayerStructure& layer = layer_of(model_, l, "tied", at);
  if (!model_->structure->spec.tied) return {};
  if (layer.type == LayerStructure::Type::embedding) return entry_of(layer, "token").range;
  if (layer.type == LayerStructure::Type::head) return entry_of(layer, "weight").range;
  return {};
}

LayerCost Model::cost(int l, Count sequence, Count batch, DType dtype, Location at) const {
  const LayerStructure& layer = layer_of(model_, l, "cost", at);
  // Attention goes with the square of the sequence. Far beyond any model, and still no product of the formulas
  // overflows.
  constexpr Count kMost = Count{1} << 40;
  if (sequence < 0 || batch < 0 || bounded_product({sequence, sequence, batch}) > kMost || batch > kMost) {
    throw_invalid(fmt::format("cost of layer {}: no micro-batch has {} sequences of {} positions", l, batch, sequence),
                  at);
  }
  const Count tokens = sequence * batch;
  LayerCost cost;
  cost.input = model::input_bytes(layer, tokens, dtype).value();
  cost.output = model::output_bytes(layer, tokens, dtype).value();
  cost.saved = model::saved_bytes(layer, tokens, batch, dtype).value();
  cost.forward = model::forward_peak(layer, tokens, batch, true, dtype).value();
  cost.backward = model::backward_peak(layer, tokens, batch, dtype).value();
  cost.flops = model::forward_flops(layer, tokens, batch).value();
  cost.backward_input = model::backward_input_peak(layer, tokens, batch, dtype).value();
  cost.kept = model::kept_bytes(layer, tokens, dtype).value();
  return cost;
}

Tensor Model::forward(int l, ConstView weights, ConstView x, Saved* saved, Location at) const {
  const args::layer_forward given{
      .model = checked(model_, at).id, .weights = weights, .x = x, .layer = l, .saves = saved != nullptr};
  Request request(given, at);
  Port& port = request.port();
  if (saved) *saved = {};  // what it held is not needed any more: free it before the new one is made
  const detail::Reply reply = request.send();
  if (saved) *saved = Access::saved(&port, reply.id);
  return Access::adopt(&port, reply.tensor[0]);
}

Tensor Model::backward(int l, ConstView weights, ConstView x, Saved&& saved, Tensor&& grad, View grad_weights,
                       Location at) const {
  const ConstView used_up = grad;
  const args::layer_backward given{.model = checked(model_, at).id,
                                   .weights = weights,
                                   .x = x,
                                   .grad = used_up,
                                   .grad_weights = grad_weights,
                                   .layer = l,
                                   .saved = Access::id(saved)};
  Request request(given, at);
  static_cast<void>(request.port());  // throws while `saved` is still the caller's
  static_cast<void>(Access::release(std::move(saved)));
  return request.result_using_up(std::move(grad));
}

Tensor Model::backward_input(int l, ConstView weights, ConstView x, Saved& saved, Tensor&& grad, Location at) const {
  const ConstView used_up = grad;
  const args::layer_backward_input given{.model = checked(model_, at).id,
                                         .weights = weights,
                                         .x = x,
                                         .grad = used_up,
                                         .layer = l,
                                         .saved = Access::id(saved)};
  Request request(given, at);
  Port& port = request.port();  // throws while `saved` is still the caller's
  static_cast<void>(Access::release(std::move(saved)));
  static_cast<void>(Access::release(std::move(grad)));
  const detail::Reply reply = request.send();
  saved = Access::saved(&port, reply.id);
  return Access::adopt(&port, reply.tensor[0]);
}

void Model::backward_weights(int l, ConstView x, Saved&& saved, View grad_weights, Location at) const {
  const args::layer_backward_weights given{
      .model = checked(model_, at).id, .grad_weights = grad_weights, .x = x, .layer = l, .saved = Access::id(saved)};
  Request request(given, at);
  static_cast<void>(request.port());  // throws while `saved` is still the caller's
  static_cast<void>(Access::release(std::move(saved)));
  request.send();
}

Tensor Model::loss(Tensor&& logits, ConstView targets, Count tokens_of_step, View loss, Location at) const {
  const ConstView used_up = logits;
  const args::layer_loss given{
      .model = checked(model_, at).id, .logits = used_up, .targets = targets, .loss = loss, .tokens = tokens_of_step};
  return Request(given, at).result_using_up(std::move(logits));
}

void Model::update(int l, View weights, ConstView grad, OptimizerState& optimizer, ConstView factor,
                   Location at) const {
  const args::layer_update given{.model = checked(model_, at).id,
                                 .weights = weights,
                                 .grad = grad,
                                 .m = optimizer.m,
                                 .v = optimizer.v,
                                 .factor = factor,
                                 .layer = l,
                                 .step = optimizer.step + 1};
  Request(given, at).send();
  ++optimizer.step;
}

}  // namespace shardlings
