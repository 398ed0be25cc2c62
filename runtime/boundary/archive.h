/// \file
/// How the arguments of a learner's function cross to the process that runs it, and what it has made of them comes
/// back: as numbers, texts and the numbers of tensors, groups and models. No element of a tensor crosses.
///
/// An archive is a function object that is given one value after another: Sender packs them, Receiver unpacks them in
/// the same order, Forgetter gives up the tensors among them without freeing any, because another process owns them
/// now. For a type of several parts, an overload of parts_of() names them, once for all three; the members of a plain
/// struct are found without one (boundary/aggregate.h). An enumeration that comes back from a jail may hold any number.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/access.h"
#include "api/harness_port.h"
#include "api/rank_model.h"
#include "base/pack.h"
#include "boundary/aggregate.h"

namespace shardlings::boundary {

/// \name Types of several parts
/// @{
template <class Archive, PlainStruct T>
void parts_of(Archive& a, T& value) {
  with_members(value, [&a](auto&... members) { a(members...); });
}
template <class Archive>
void parts_of(Archive& a, Range& range) {
  a(range.begin, range.end);
}
template <class Archive>
void parts_of(Archive& a, Rectangle& part) {
  a(part.rows, part.cols);
}
template <class Archive>
void parts_of(Archive& a, AdamStep& step) {
  a(step.lr, step.beta1, step.beta2, step.eps, step.weight_decay, step.step);
}
template <class Archive>
void parts_of(Archive& a, MixedPrecision& mixed) {
  a(mixed.adam_step, mixed.limit, mixed.growth, mixed.loss_scale, mixed.clean);
}
template <class Archive>
void parts_of(Archive& a, Linear& linear) {
  a(linear.weight, linear.bias, linear.grad_weight, linear.grad_bias);
}
template <class Archive>
void parts_of(Archive& a, AttentionShare& share) {
  a(share.sequence, share.q, share.kv, share.y, share.lse);
}
template <class Archive>
void parts_of(Archive& a, ScaledWeights& weights) {
  a(weights.codes, weights.scales, weights.all_scales);
}
template <class Archive>
void parts_of(Archive& a, ExpertShare& share) {
  a(share.ep, share.replicas, share.x, share.token, share.factor, share.counts, share.weights, share.grads, share.y,
    share.grad_y, share.grad_x);
}
template <class Archive>
void parts_of(Archive& a, Draws& draws) {
  a(draws.seed, draws.stream, draws.first, draws.by_position, draws.by_sequence);
}
template <class Archive>
void parts_of(Archive& a, DataRun& run) {
  a(run.seed, run.sequences, run.batch, run.layers);
}
template <class Archive>
void parts_of(Archive& a, OuterPlan& plan) {
  a(plan.steps, plan.every, plan.overlap, plan.mix, plan.lr, plan.momentum, plan.fragments, plan.tokens);
}
template <class Archive>
void parts_of(Archive& a, DroppedLayer& dropped) {
  a(dropped.layer, dropped.inner, dropped.sequence, dropped.width);
}
template <class Archive>
void parts_of(Archive& a, OptimizerState& state) {
  a(state.m, state.v, state.step);
}
template <class Archive>
void parts_of(Archive& a, TrainState& state) {
  a(state.weights, state.grads, state.optimizer, state.master);
}
template <class Archive>
void parts_of(Archive& a, MicroBatch& micro) {
  a(micro.inputs, micro.targets, micro.tokens);
}
template <class Archive>
void parts_of(Archive& a, Batch& batch) {
  a(batch.inputs, batch.targets);
  detail::Access::parts(batch, a);
}
template <class Archive>
void parts_of(Archive& a, Axis& axis) {
  a(axis.name, axis.size);
}
template <class Archive>
void parts_of(Archive& a, Grid& grid) {
  detail::Access::parts(grid, a);
}
template <class Archive>
void parts_of(Archive& a, Stage& stage) {
  detail::Access::parts(stage, a);
}
template <class Archive>
void parts_of(Archive& a, Entry& entry) {
  a(entry.name, entry.range, entry.rows, entry.cols, entry.split);
}
template <class Archive>
void parts_of(Archive& a, model::ModelSpec& spec) {
  a(spec.family, spec.layers, spec.hidden, spec.widths, spec.outputs, spec.heads, spec.sequence, spec.tied, spec.blocks,
    spec.key_value_heads, spec.wide, spec.optimizer, spec.lr, spec.eps, spec.clip);
}
template <class Archive>
void parts_of(Archive& a, model::LayerStructure& layer) {
  a(layer.type, layer.in, layer.out, layer.heads, layer.attended, layer.key_values, layer.wide, layer.llama,
    layer.vocabulary, layer.range, layer.entries, layer.parts);
}
template <class Archive>
void parts_of(Archive& a, model::ModelStructure& structure) {
  a(structure.spec, structure.layers, structure.total);
}
/// @}

template <class T>
concept Number = std::is_arithmetic_v<T> || std::is_enum_v<T>;
template <class T>
concept SomeView = std::is_base_of_v<ConstView, T>;
template <class T>
concept Composite = !Number<T> && !SomeView<T>;

/// Which models the other side knows already, by RankModel::id: a structure crosses once.
using KnownModels = std::set<std::uint32_t>;

class SHARDLINGS_API Sender {
 public:
  explicit Sender(KnownModels* known = nullptr) : known_(known) {}

  template <class... T>
  void operator()(const T&... values) {
    (send(values), ...);
  }
  std::string take() { return packer_.take(); }

 private:
  template <Number T>
  void send(T value) {
    packer_.put(value);
  }
  void send(const char* text) { packer_.text(text); }
  void send(const std::string& text) { packer_.text(text); }
  template <SomeView T>
  void send(const T& view) {
    send_ref(detail::Access::ref(view));
  }
  void send(const Tensor& tensor) { send_ref(detail::Access::ref(tensor)); }
  void send(const Shape& shape);
  void send(const Group& group);
  void send(const Rank& rank);
  void send(const Model& model);
  void send(const GridShare& share) { (*this)(share.chunks, share.state, share.down, share.up, share.dp, share.ends); }
  template <class T>
  void send(const std::vector<T>& values) {
    packer_.put<std::uint64_t>(values.size());
    for (const T& value : values) send(value);
  }
  template <Composite T>
  void send(const T& value) {
    parts_of(*this, const_cast<T&>(value));  // a Sender changes nothing
  }
  void send_ref(const detail::Ref& ref);

  Packer packer_;
  KnownModels* known_;
};

/// What a process keeps of what it has received, as long as it lives.
struct Kept {
  std::set<std::string> texts;
  std::map<std::uint32_t, std::unique_ptr<detail::RankModel>> models;  ///< by RankModel::id
};

/// Throws BadPack for bytes that no Sender has made.
class SHARDLINGS_API Receiver {
 public:
  /// Beside the learner's code, which believes its broker. What is received belongs to `port`.
  Receiver(std::string_view bytes, detail::Port* port, Kept& kept) : unpacker_(bytes), port_(port), kept_(&kept) {}
  /// In the broker, which believes nothing: throws what `checks` says of a tensor that the rank does not have.
  Receiver(std::string_view bytes, detail::Port* port, detail::HarnessPort& checks)
      : unpacker_(bytes), port_(port), checks_(&checks) {}

  template <class... T>
  void operator()(T&... values) {
    (receive(values), ...);
  }
  std::string text() { return unpacker_.text(); }

 private:
  template <Number T>
  void receive(T& value) {
    if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(unpacker_.get<std::underlying_type_t<T>>());
    } else if constexpr (std::is_same_v<T, bool>) {
      value = unpacker_.flag();
    } else {
      value = unpacker_.get<T>();
    }
  }
  void receive(const char*& text);
  void receive(std::string& text) { text = unpacker_.text(); }
  void receive(View& view);
  void receive(ConstView& view);
  void receive(Tensor& tensor);
  void receive(Shape& shape);
  void receive(Group& group);
  void receive(Model& model);
  template <class T>
  void receive(std::vector<T>& values) {
    constexpr std::size_t kLeast = 1;
    values.clear();
    values.resize(unpacker_.count(kLeast));
    for (T& value : values) receive(value);
  }
  template <Composite T>
  void receive(T& value) {
    parts_of(*this, value);
  }
  detail::Ref ref();

  Unpacker unpacker_;
  detail::Port* port_;
  Kept* kept_ = nullptr;
  detail::HarnessPort* checks_ = nullptr;
};

/// Before a Receiver writes over what another process has been given: nothing here may free it.
class Forgetter {
 public:
  template <class... T>
  void operator()(T&... values) {
    (forget(values), ...);
  }

 private:
  template <class T>
  requires(Number<T> || SomeView<T>) void forget(T&) {}
  void forget(const char*&) {}
  void forget(std::string&) {}
  void forget(Shape&) {}
  void forget(Group&) {}
  void forget(Model&) {}
  void forget(Tensor& tensor) { static_cast<void>(detail::Access::release(std::move(tensor))); }
  template <class T>
  void forget(std::vector<T>& values) {
    for (T& value : values) forget(value);
  }
  template <Composite T>
  void forget(T& value) {
    parts_of(*this, value);
  }
};

}  // namespace shardlings::boundary
