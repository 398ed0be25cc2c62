#include "submission/harness.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>

#include "api/access.h"
#include "api/harness_calls.h"
#include "api/rank_model.h"
#include "base/extents.h"
#include "base/machine_fault.h"
#include "case/data.h"
#include "model/stretches.h"

namespace shardlings::submission {
namespace {

using detail::Access;
using detail::kNoPlace;

template <class T>
Tensor load(Rank& rank, const std::vector<T>& values, Shape shape, DType dtype, Kind kind) {
  return detail::harness::load(rank, std::span<const T>(values), shape, dtype, kind);
}

/// A tensor of what `values` returns, which is not asked where nothing is computed: it could be gigabytes.
template <class Values>
Tensor load_made(Rank& rank, Shape shape, Kind kind, Values values) {
  return load(rank, detail::harness::computes(rank) ? values() : std::vector<float>(), shape, DType::f32, kind);
}

bool inside(Range range, Count extent) {
  return 0 <= range.begin && range.begin <= range.end && range.end <= extent;
}

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

/// What lives as long as the harness: the rank's model, the structure of all ranks' parts together, and the batch.
struct Harness::Data {
  std::shared_ptr<model::SharedStructures> structures;
  detail::RankModel own;
  std::shared_ptr<const model::ModelStructure> whole;
  const model::LayerStructure& layer(int l) const { return own.structure->layers.at(static_cast<std::size_t>(l)); }
  const model::LayerStructure& whole_layer(int l) const { return whole->layers.at(static_cast<std::size_t>(l)); }
  Tensor inputs, targets;
  std::set<int> given;  ///< layers of which the rank has had weights
};

Harness::Harness(Rank& rank, const cases::Case& kase, std::shared_ptr<model::SharedStructures> structures)
    : rank_(rank), kase_(kase), data_(std::make_unique<Data>()) {
  if (!kase.has_model()) return;
  data_->structures = structures ? std::move(structures) : std::make_shared<model::SharedStructures>(kase.model);
  data_->own.structure = data_->whole = data_->structures->whole();
  detail::harness::add_model(rank, data_->own);
}

Harness::~Harness() = default;

void Harness::divide_layers(const Group& tp) {
  try {
    data_->own.structure = data_->structures->part(tp.size(), tp.rank());
  } catch (const std::invalid_argument& error) {
    throw MachineFault(fmt::format("harness.cpp: divide_layers: {}", error.what()));
  }
  data_->own.tp = tp;
  detail::harness::add_model(rank_, data_->own);
}

Model Harness::model() const {
  if (!kase_.has_model()) throw std::runtime_error("this case has no model: add `model = {…}` to puzzle.toml");
  return Access::model(&data_->own);
}

/// Of all weights of a layer, those of this rank's part.
std::vector<float> Harness::own_weights(int layer) const {
  std::vector<float> all = cases::weights_of(kase_, layer);
  if (data_->own.tp.size() <= 1) return all;
  return model::taken(all, stretches(data_->whole_layer(layer), data_->layer(layer)),
                      {0, data_->layer(layer).range.size()});
}

Tensor Harness::weights(int layer) {
  return weights(layer, {0, model().size(layer)});
}

Tensor Harness::weights(int layer, Range range) {
  if (!inside(range, model().size(layer))) {
    throw MachineFault(fmt::format("harness.cpp: layer {} has {} weights, not [{}, {})", layer, model().size(layer),
                                   range.begin, range.end));
  }
  data_->given.insert(layer);
  Tensor shard = load_made(rank_, range.size(), Kind::parameter, [&] {
    const std::vector<float> all = own_weights(layer);
    return std::vector<float>(all.begin() + range.begin, all.begin() + range.end);
  });
  mark_layer(shard, layer);
  return shard;
}

Tensor Harness::weights(int layer, const std::string& entry, Range rows, Range cols) {
  const std::vector<Entry>& entries = model().entries(layer);
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return entry == e.name; });
  if (found == entries.end() || !inside(rows, found->rows) || !inside(cols, found->cols)) {
    throw MachineFault(fmt::format("harness.cpp: layer {} has no rows [{}, {}) and columns [{}, {}) of '{}'", layer,
                                   rows.begin, rows.end, cols.begin, cols.end, entry));
  }
  data_->given.insert(layer);
  Tensor shard = load_made(rank_, {rows.size(), cols.size()}, Kind::parameter, [&] {
    const std::vector<float> all = own_weights(layer);
    std::vector<float> rectangle;
    for (Count row = rows.begin; row < rows.end; ++row) {
      const auto begin = all.begin() + found->range.begin + row * found->cols;
      rectangle.insert(rectangle.end(), begin + cols.begin, begin + cols.end);
    }
    return rectangle;
  });
  mark_layer(shard, layer);
  return shard;
}

void Harness::check_choice(const std::string& function, const std::string& what, Range chosen, Count extent) {
  if (inside(chosen, extent)) return;
  const std::string message = fmt::format("{} returns {} [{}, {}), but there are only [0, {})", function, what,
                                          chosen.begin, chosen.end, extent);
  throw InvalidArgument(message.c_str(), kNoPlace);
}

LinearShard Harness::linear(int layer, const std::string& prefix, Rectangle part) {
  const auto zeros_like = [&](const Tensor& tensor) {
    if (!tensor) return Tensor();
    Tensor zeros = rank_.zeros(tensor.shape(), Kind::gradient, DType::f32, kNoPlace);
    mark_layer(zeros, layer);
    return zeros;
  };
  LinearShard shard;
  for (const Entry& entry : model().entries(layer)) {
    if (entry.name == prefix + "weight") {
      const Count begin = entry.range.begin;  // a vector, such as that of a norm, has the shape of its bias
      shard.weight = entry.cols == 1 ? weights(layer, {begin + part.rows.begin, begin + part.rows.end})
                                     : weights(layer, entry.name, part.rows, part.cols);
      shard.place = {entry.rows, entry.cols, part};
    } else if (entry.name == prefix + "bias") {
      const Count begin = entry.range.begin;
      shard.bias = weights(layer, {begin + part.rows.begin, begin + part.rows.end});
    }
  }
  shard.grad_weight = zeros_like(shard.weight);
  shard.grad_bias = zeros_like(shard.bias);
  return shard;
}

void Harness::mark_layer(ConstView tensor, int layer) {
  if (tensor) detail::harness::mark_layer(rank_, tensor, layer);
}

Batch Harness::batch(const BatchChoice& choice) {
  const bool has_ids = kase_.model.family == model::ModelSpec::Family::gpt;
  std::vector<float> values;
  std::vector<std::int32_t> ids, targets;
  const int which = choice.which < 0 ? kase_.batch_of(rank_.id()) : choice.which;
  const bool computes = detail::harness::computes(rank_);
  for (int i = 0; computes && i < kase_.micro_batches; ++i) {
    const cases::MicroData micro = cases::micro_of(kase_, which, i);
    append(values, micro.inputs);
    append(ids, micro.ids);
    append(targets, micro.targets);
  }
  const Count s = kase_.model.sequence, b = kase_.batch, all = s * kase_.micro_batches;
  if (choice.inputs) {
    data_->inputs = has_ids ? load(rank_, ids, {all, b}, DType::i32, Kind::other)
                            : load(rank_, values, {all, b, kase_.model.hidden}, DType::f32, Kind::other);
  }
  if (choice.targets) data_->targets = load(rank_, targets, {all, b}, DType::i32, Kind::other);
  const auto part = [&](const Tensor& tensor, int i) {
    const ConstView whole = tensor;
    return whole ? Access::labelled(whole.rows_part({i * s, (i + 1) * s}, kNoPlace), i) : ConstView();
  };
  std::vector<MicroBatch> micros;
  for (int i = 0; i < kase_.micro_batches; ++i) {
    micros.push_back({part(data_->inputs, i), part(data_->targets, i), cases::tokens_of_micro(kase_, which, i)});
  }
  return Access::batch(data_->inputs, data_->targets, std::move(micros), cases::tokens_of_step(kase_));
}

void Harness::spoil(bool spoiled) {
  if (!data_->targets) throw MachineFault("harness.cpp: spoil() is about the targets of batch()");
  const std::vector<std::int32_t> targets = cases::micro_of(kase_, kase_.batch_of(rank_.id()), 0).targets;
  const auto counts = std::find_if(targets.begin(), targets.end(), [](std::int32_t target) { return target >= 0; });
  if (counts == targets.end()) throw MachineFault("harness.cpp: no target of this rank counts");
  const Count at = counts - targets.begin();
  const Count target = spoiled ? kase_.model.outputs : *counts;
  fill(data_->targets.part({at, at + 1}, kNoPlace), static_cast<float>(target), kNoPlace);
}

Tensor Harness::tensor(const std::vector<float>& values, Kind kind) {
  return load(rank_, values, static_cast<Count>(values.size()), DType::f32, kind);
}

Tensor Harness::normals(int which, Shape shape, Kind kind) {
  return normals(which, shape, {0, shape[0]}, kind);
}

Tensor Harness::normals(int which, Shape whole, Range rows, Kind kind) {
  if (!inside(rows, whole[0])) {
    throw MachineFault(
        fmt::format("harness.cpp: normals: there are {} rows, not [{}, {})", whole[0], rows.begin, rows.end));
  }
  const Count row = whole[0] > 0 ? whole.size() / whole[0] : 0;
  return load_made(rank_, with_extent(whole, 0, rows.size()), kind, [&] {
    const std::vector<float> all = cases::normals_of(kase_, which, whole.size());
    return std::vector<float>(all.begin() + rows.begin * row, all.begin() + rows.end * row);
  });
}

Tensor Harness::ids(const std::vector<std::int32_t>& values, Kind kind) {
  return detail::harness::load<std::int32_t>(rank_, values, Shape(std::ssize(values)), DType::i32, kind);
}

bool Harness::computes() const {
  return detail::harness::computes(rank_);
}

void Harness::give_item(const std::string& folder, Item item, const std::vector<float>& values) {
  detail::harness::give_item(rank_, folder.c_str(), item, values);
}

void Harness::script_reads(const std::vector<float>& values) {
  if (computes()) return;
  for (const float value : values) detail::harness::script_read(rank_, value);
}

Tensor Harness::integers(Count n, Kind kind) {
  return load_made(rank_, Shape(n), kind, [&] { return cases::integers_of(kase_, rank_.id(), n); });
}

Count Harness::tokens_of(int rank, int micro) const {
  return cases::tokens_of_micro(kase_, kase_.batch_of(rank), micro);
}

void Harness::begin() {
  rank_.world().barrier(kNoPlace);
  detail::harness::begin_measuring(rank_);
}

void Harness::end() {
  detail::harness::end_measuring(rank_);
}

Location Harness::last_place() const {
  return detail::harness::last_place(rank_);
}

void Harness::put(const std::string& name, ConstView view) {
  put(name, view, {view.rows(), view.cols(), {{0, view.rows()}, {0, view.cols()}}});
}

void Harness::put(const std::string& name, ConstView view, const MatrixPart& place) {
  if (!view) return detail::harness::publish(rank_, name, {}, {});  // as missing
  if (view.size() != place.size()) {
    throw std::runtime_error(
        fmt::format("harness.cpp: '{}' has {} elements, its part of the whole {}", name, view.size(), place.size()));
  }
  detail::harness::publish(rank_, name, view, place);
}

/// The layers whose tensors this rank should have; what it has beside them counts, too. The list is the learner's to
/// change, so it may be shorter.
std::vector<std::pair<int, ConstView>> Harness::by_layer(const std::vector<Tensor>& tensors) const {
  const auto known = kase_.has_model() ? data_->whole->layers.size() : 0;
  std::vector<std::pair<int, ConstView>> layers;
  for (std::size_t l = 0; l < std::max(known, tensors.size()); ++l) {
    const ConstView tensor = l < tensors.size() ? ConstView(tensors[l]) : ConstView();
    const int layer = static_cast<int>(l);
    if (tensor || data_->given.contains(layer)) layers.emplace_back(layer, tensor);
  }
  return layers;
}

namespace {

/// Where nothing is computed, nothing is published, and of thousands of ranks such texts take long.
std::string name_of_layer(const Rank& rank, const std::string& name, int layer) {
  return detail::harness::computes(rank) ? fmt::format("{}.{}", name, layer) : name;
}

}  // namespace

void Harness::put_layers(const std::string& name, const std::vector<Tensor>& tensors) {
  for (const auto& [layer, tensor] : by_layer(tensors)) {
    const std::string full_name = name_of_layer(rank_, name, layer);
    if (data_->own.tp.size() > 1 && tensor && tensor.size() == model().size(layer)) {
      put_stretch(full_name, layer, tensor, {0, tensor.size()});
    } else {
      put(full_name, tensor);
    }
  }
}

void Harness::put_part(const std::string& name, int layer, ConstView tensor, const Group& group) {
  const std::string full_name = name_of_layer(rank_, name, layer);
  if (!tensor) return put(full_name, tensor);
  const Count whole = model().size(layer);
  const Range mine = group.mine(whole, kNoPlace);
  if (tensor.size() != whole && tensor.size() != mine.size()) return put(full_name, tensor);
  const ConstView part = tensor.size() == whole ? tensor.part(mine, kNoPlace) : tensor;
  put_stretch(full_name, layer, part, mine);
}

/// Elements `stretch` of this rank's part of a layer: put where they lie in the whole layer.
void Harness::put_stretch(const std::string& name, int layer, ConstView tensor, Range stretch) {
  if (!detail::harness::computes(rank_)) return put(name, tensor);  // a layer may have thousands of rectangles
  const model::LayerStructure& whole = data_->whole_layer(layer);
  for (const auto& [part, at] : clipped(stretches(whole, data_->layer(layer)), stretch)) {
    put(name, tensor.part({part.begin - stretch.begin, part.end - stretch.begin}, kNoPlace),
        {1, whole.range.size(), {{0, 1}, {at, at + part.size()}}});
  }
}

void Harness::put_parts(const std::string& name, const std::vector<Tensor>& tensors, const Group& group) {
  for (const auto& [layer, tensor] : by_layer(tensors)) put_part(name, layer, tensor, group);
}

void Harness::put_moments(const std::vector<OptimizerState>& optimizer, const Group& group, const std::string& prefix) {
  for (std::size_t l = 0; l < std::max(optimizer.size(), data_->whole->layers.size()); ++l) {
    const int layer = static_cast<int>(l);
    const bool is_there = l < optimizer.size() && (optimizer[l].m || optimizer[l].v);
    if (!is_there && !data_->given.contains(layer)) continue;
    put_part(prefix + "m", layer, is_there ? ConstView(optimizer[l].m) : ConstView(), group);
    put_part(prefix + "v", layer, is_there ? ConstView(optimizer[l].v) : ConstView(), group);
  }
}

void Harness::put_optimizer(const std::vector<OptimizerState>& optimizer) {
  std::vector<float> updates;
  for (std::size_t l = 0; l < optimizer.size(); ++l) {
    updates.push_back(static_cast<float>(optimizer[l].step));
    if (!optimizer[l].m) continue;
    put(fmt::format("m.{}", l), optimizer[l].m);
    put(fmt::format("v.{}", l), optimizer[l].v);
  }
  put("updates", tensor(updates, Kind::other));
}

void Harness::put_gradients(const std::string& name, const LinearShard& shard) {
  put(name + ".weight", shard.grad_weight, shard.place);
  put(name + ".bias", shard.grad_bias, {shard.place.rows, 1, {shard.place.part.rows, {0, 1}}});
}

/// An answer crosses as numbers of 32 bits: how many there are, then each one rounded, then what rounding took away.
void Harness::answer(const std::string& name, const std::vector<double>& values) {
  std::vector<float> parts = {static_cast<float>(values.size())};
  for (const double value : values) parts.push_back(static_cast<float>(value));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float rounded = parts[i + 1];
    parts.push_back(std::isfinite(rounded) ? static_cast<float>(values[i] - rounded) : 0);
  }
  put("answer." + name, tensor(parts, Kind::other));
}

void Harness::refuse_answer(const std::string& function, const std::string& why) {
  throw InvalidArgument((function + " " + why).c_str(), kNoPlace);
}

void Harness::put_of_rank(const std::string& name, ConstView view) {
  put(name, view, {rank_.size(), view.size(), {{rank_.id(), rank_.id() + 1}, {0, view.size()}}});
}

}  // namespace shardlings::submission
