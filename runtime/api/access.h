/// \file
/// The runtime's key to the private parts of the public classes: makes handles from ids and ids from handles.
#pragma once

#include <utility>

#include "api/port.h"
#include "shardlings/puzzle.h"

namespace shardlings::detail {

/// Calls of the runtime itself and of harnesses stand nowhere in the learner's source.
inline constexpr Location kNoPlace{};

struct Access {
  static const Ref& ref(const ConstView& v) { return v.ref_; }
  static Port* port(const ConstView& v) { return v.port_; }
  static const Ref& ref(const Tensor& t) { return t.view_.ref_; }
  static Port* port(const Tensor& t) { return t.view_.port_; }
  static Port* port(const Rank& r) { return r.port_; }
  static Port* port(const Group& g) { return g.port_; }
  static Port* port(const Saved& s) { return s.port_; }
  static Port* port(const Work& w) { return w.port_; }
  static std::uint32_t id(const Group& g) { return g.id_; }
  static std::uint64_t id(const Work& w) { return w.id_; }
  static std::uint64_t id(const Saved& s) { return s.id_; }

  static View view(Port* port, const Ref& ref) {
    View v;
    v.port_ = port;
    v.ref_ = ref;
    return v;
  }
  /// The same view, its data labelled as belonging to a micro-batch.
  static View labelled(View v, int micro) {
    v.ref_.micro = micro;
    return v;
  }
  static ConstView labelled(ConstView v, int micro) {
    v.ref_.micro = micro;
    return v;
  }
  /// Takes over the storage that `ref` names.
  static Tensor adopt(Port* port, const Ref& ref) {
    Tensor t;
    t.view_.port_ = port;
    t.view_.ref_ = ref;
    return t;
  }
  /// Gives the storage up without freeing it: the caller owns it now.
  static Ref release(Tensor&& t) {
    const Ref ref = t.view_.ref_;
    t.view_ = View();
    return ref;
  }

  static Work work(Port* port, std::uint64_t id) {
    Work w;
    w.port_ = port;
    w.id_ = id;
    return w;
  }
  static Saved saved(Port* port, std::uint64_t id) {
    Saved s;
    s.port_ = port;
    s.id_ = id;
    return s;
  }
  static std::uint64_t release(Saved&& s) {
    s.port_ = nullptr;
    return std::exchange(s.id_, 0);
  }
  static Group group(Port* port, std::uint32_t id, int rank, int size) {
    Group g;
    g.port_ = port;
    g.id_ = id;
    g.rank_ = rank;
    g.size_ = size;
    return g;
  }
  static Store store(Port* port) {
    Store s;
    s.port_ = port;
    return s;
  }
  static Rank rank(Port* port, const Group& world) { return Rank(port, world); }
  static Model model(const RankModel* model) {
    Model m;
    m.model_ = model;
    return m;
  }
  static const RankModel* rank_model(const Model& m) { return m.model_; }

  /// \name What is private in what a harness hands over, part by part
  /// @{
  template <class Archive>
  static void parts(Batch& b, Archive& a) {
    a(b.micros_, b.tokens_of_step_);
  }
  template <class Archive>
  static void parts(Grid& g, Archive& a) {
    a(g.all_, g.axes_, g.along_);
  }
  template <class Archive>
  static void parts(Stage& s, Archive& a) {
    a(s.model_, s.layers_, s.is_first_, s.is_last_, s.recomputes_, s.input_, s.output_, s.weights_, s.grads_);
  }
  /// @}
  static Batch batch(ConstView inputs, ConstView targets, std::vector<MicroBatch> micros, Count tokens_of_step) {
    Batch b;
    b.inputs = inputs;
    b.targets = targets;
    b.micros_ = std::move(micros);
    b.tokens_of_step_ = tokens_of_step;
    return b;
  }
};

}  // namespace shardlings::detail
