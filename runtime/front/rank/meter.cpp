#include "front/rank/meter.h"

#include <utility>

namespace shardlings::front {

using detail::Call;

namespace {

Nanos time_of(const CallTable& table, EventKind kind, std::int64_t sequences) {
  switch (kind) {
    case EventKind::forward: return sequences * table.forward;
    case EventKind::backward: return sequences * table.backward;
    case EventKind::backward_input: return sequences * (table.backward - table.weights_part());
    case EventKind::backward_weights: return sequences * table.weights_part();
    case EventKind::loss: return table.loss;
    case EventKind::update: return table.update;
    default: return Nanos(0);
  }
}

}  // namespace

Count sequences_of(const Shape& x, bool is_ids) {
  return x.rank() == 3 || (x.rank() == 2 && is_ids) ? x[1] : 1;
}

void Meter::launch(const back::Kernel& kernel) {
  if (rank_.trace().enabled() && marks_.begin == 0) marks_.begin = rank_.device().mark(back::DeviceLane::compute);
  rank_.device().launch(kernel);
}

void Meter::spend(Nanos time) {
  rank_.advance_to(rank_.now() + time);
  rank_.counters().busy[static_cast<std::size_t>(Lane::compute)] += time;
}

void Meter::charge(const char* name, const Call& call, Cost cost, Label label) {
  ++rank_.counters().operations;
  rank_.counters().flops += cost.flops;
  const Nanos begin = rank_.now();
  spend(rank_.costs().operation(cost));
  if (rank_.calls().depth() > 0) layer_flops_ += cost.flops;
  if (rank_.trace().enabled()) add_event(EventKind::operation, name, call, label, begin, cost.flops, marks_);
}

void Meter::repeat(const Spent& spent) {
  rank_.counters().operations += spent.operations;
  rank_.counters().flops += spent.flops;
  layer_flops_ += spent.flops;
  spend(spent.time);
}

void Meter::last_at_least(Nanos time) {
  const Nanos already = rank_.now() - layer_begin_;
  if (time > already) spend(time - already);
}

void Meter::begin_layer_call(const Call& call) {
  rank_.calls().begin_composite(call);
  if (rank_.calls().depth() > 1) return;
  layer_begin_ = rank_.now();
  layer_flops_ = Flops(0);
  if (rank_.trace().enabled()) layer_marks_.begin = rank_.device().mark(back::DeviceLane::compute);
}

void Meter::end_layer_call(const LayerWork& work, const Call& call) {
  rank_.calls().end_composite();
  if (rank_.calls().depth() > 0) return;
  const Cluster& cluster = rank_.costs().cluster();
  if (cluster.uses_table) {
    const Count sequences = cluster.table.per_sequence ? work.sequences : 1;
    spend(time_of(cluster.table, work.kind, sequences));
    if (work.forward_again) spend(time_of(cluster.table, EventKind::forward, sequences));
  }
  if (!rank_.trace().enabled()) return;
  add_event(work.kind, name_of(call.verb), call, work.label, layer_begin_, layer_flops_, layer_marks_);
}

void Meter::add_event(EventKind kind, const char* name, const Call& call, Label label, Nanos begin, Flops flops,
                      back::Marks& marks) {
  if (marks.begin != 0) marks.end = rank_.device().mark(back::DeviceLane::compute);
  const back::Marks measured = std::exchange(marks, {});
  Event event;
  event.kind = kind;
  event.depth = static_cast<std::uint8_t>(rank_.calls().depth());
  event.name = rank_.trace().name(name);
  event.label = label;
  event.at = rank_.place(call);
  event.order = rank_.calls().order();
  event.begin = begin;
  event.posted = begin;
  event.end = rank_.now();
  event.flops = flops;
  event.live_after = rank_.live();
  rank_.trace().add(event, measured);
}

void Meter::restart() {
  marks_ = {};
  layer_marks_ = {};
}

}  // namespace shardlings::front
