#include "front/ops/op.h"

#include <algorithm>

#include "base/dtype.h"

namespace shardlings::front {

Op::Op(OpContext& of, const detail::Call& call, Runs runs)
    : of_(of), call_(call), place_(of.rank.place(call)), name_(of.rank.called(call)) {
  if (runs == Runs::on_device) return;
  memory_ = of.memory.memory_of(call.tensor[0]);
  after_ = of.pending.chain(call.id);
}

void Op::fail(const std::string& sentence) {
  const char* async = call_.blocking == 0 ? "_async" : "";
  const std::string variant = variant_[0] == '\0' ? "" : fmt::format(" ({})", variant_);
  of_.rank.invalid(call_, fmt::format("{}{}{}: {}", name_, async, variant, sentence));
}

Operand Op::look_up(int i, const char* what, bool writes) {
  if (!on_host()) return of_.memory.find(call_, {.index = i, .writes = writes, .on_device = true});
  const Operand x =
      of_.memory.find(call_, {.index = i, .writes = writes, .after = after_, .could_follow = call_.blocking == 0});
  require(
      !x || x.memory == Memory::host,
      "{} is in the device's memory, but the first argument is in the host's, where this would be computed. Copy it",
      what);
  return x;
}

const Operand& Op::may_read(int i, const char* what) {
  const Operand& x = in_.add_made([&] { return Argument{look_up(i, what, false), what}; }).operand;
  kernel_.in[in_.size() - 1] = x.data;
  adopt_label(x);
  return x;
}

const Operand& Op::reads(int i, const char* what) {
  const Operand& x = may_read(i, what);
  require(static_cast<bool>(x), "{} is empty (moved from, or never allocated)", what);
  return x;
}

const Operand& Op::writes(detail::Argument<detail::FieldKind::writes> argument, int passes) {
  const Operand& y = add_output([&] {
    return Argument{look_up(argument.index, argument.name, true), argument.name, passes};
  });
  require(static_cast<bool>(y), "{} is empty (moved from, or never allocated)", argument.name);
  return y;
}

const Operand& Op::returns(Shape shape, DType dtype, Kind kind) {
  check_overlaps();  // before anything is allocated that an error would leave behind
  const Operand& y = add_output([&] {
    return Argument{of_.memory.allocate(shape, dtype, kind, Memory::device, place_, label_.micro), "the result"};
  });
  ++checked_;  // a new storage overlaps with none
  returns_argument(y);
  return y;
}

template <class Make>
const Operand& Op::add_output(Make&& make) {
  const Operand& y = out_.add_made(make).operand;
  kernel_.out[out_.size() - 1] = y.data;
  adopt_label(y);
  return y;
}

void Op::adopt_label(const Operand& x) {
  if (label_.micro < 0) label_.micro = x.label.micro;
  if (label_.layer < 0) label_.layer = x.label.layer;
}

void Op::computes_on(const Operand& x, const char* what) {
  type(x.dtype());
  require(is_float(x.dtype()), "{} is {}, but only f32 and bf16 can be computed with", what,
          shardlings::name_of(x.dtype()));
}

void Op::has_type(const Operand& x, const char* what, DType dtype) {
  require(x.dtype() == dtype, "{} is {}, but must be {}", what, shardlings::name_of(x.dtype()),
          shardlings::name_of(dtype));
}

void Op::same_type(const Operand& a, const char* a_name, const Operand& b, const char* b_name) {
  require(a.dtype() == b.dtype(), "{} is {} and {} is {}: the types must be the same (see cast)", a_name,
          shardlings::name_of(a.dtype()), b_name, shardlings::name_of(b.dtype()));
}

void Op::accumulates(const Operand& sum, const char* sum_name, const Operand& x, const char* x_name) {
  computes_on(x, x_name);
  if (sum.dtype() != DType::f32) same_type(sum, sum_name, x, x_name);
}

void Op::same_size(const Operand& a, const char* a_name, const Operand& b, const char* b_name) {
  require(a.size() == b.size(), "{} is {}, {} is {}: the sizes {} and {} differ", a_name, a.shape(), b_name, b.shape(),
          a.size(), b.size());
}

void Op::has_size(const Operand& x, const char* what, Count n, const char* unit) {
  require(x.size() == n, "{} is {}, but must have {} elements: one for each {}", what, x.shape(), n, unit);
}

void Op::touches_only(const Operand& x, Count elements) {
  const auto limit = [&](Argument& argument) {
    const detail::Ref& ref = argument.operand.ref;
    if (ref.storage == x.ref.storage && ref.offset == x.ref.offset) {
      argument.touched = std::min(argument.touched, elements);
    }
  };
  std::for_each(in_.begin(), in_.end(), limit);
  std::for_each(out_.begin(), out_.end(), limit);
}

Bytes Op::traffic() const {
  Bytes total;
  const CostModel& costs = of_.rank.costs();
  const auto add = [&](const Argument& a) {
    total += costs.weight(a.touched, a.operand.dtype(), a.operand.kind) * a.passes;
  };
  std::for_each(in_.begin(), in_.end(), add);
  std::for_each(out_.begin(), out_.end(), add);
  return total;
}

void Op::scalars(std::initializer_list<float> values) {
  std::copy(values.begin(), values.end(), kernel_.f);
}

void Op::overlap_error(const Argument& output, const char* other) {
  fail(fmt::format("{} and {} overlap in memory: the result would depend on the order of the elements", output.what,
                   other));
}

void Op::check_overlaps() {
  if (checked_ == in_.size() + out_.size()) return;
  for (const Argument& y : out_) {
    for (const Argument& x : in_) {
      if (!overlap(x.operand, y.operand)) continue;
      const bool same = aliases_ && range_of(x.operand) == range_of(y.operand);
      if (!same) overlap_error(y, x.what);
    }
    for (const Argument* before = out_.begin(); before != &y; ++before) {
      if (overlap(before->operand, y.operand)) overlap_error(y, before->what);
    }
  }
  checked_ = in_.size() + out_.size();
}

void Op::label_outputs() {
  for (const auto& [y, what, passes, touched] : out_) {
    // What lives longer than a micro-batch belongs to none.
    const bool lasting = y.kind == Kind::parameter || y.kind == Kind::gradient || y.kind == Kind::optimizer;
    if (y && !lasting && label_.micro >= 0) of_.memory.storages().at(y.ref.storage).label.micro = label_.micro;
  }
}

// An extent of zero may stand beside any other: a kernel would go through all those rows that have no element.
bool Op::results_are_empty() const {
  return std::all_of(out_.begin(), out_.end(), [](const Argument& y) { return y.operand.size() == 0; });
}

void Op::launch(back::KernelId id, std::initializer_list<Count> numbers) {
  check_overlaps();
  kernel_.id = id;
  Count* next = kernel_.n;
  for (const Count number : numbers) *next++ = number;  // two or three
  if (!on_host() && !results_are_empty()) of_.meter.launch(kernel_);
}

detail::Reply Op::finish(Count flops) {
  label_outputs();
  Cost cost;
  cost.flops = Flops(flops);
  cost.traffic = traffic();
  cost.matrix = matrix_;
  cost.dtype = kernel_.dtype;
  if (on_host()) return hand_to_host(cost);
  of_.meter.charge(traced_as_ != nullptr ? traced_as_ : name_of(call_.verb), call_, cost, label_);
  return reply_;
}

detail::Reply Op::hand_to_host(const Cost& cost) {
  HostJob job;
  job.kernel = kernel_;
  job.cost = cost;
  job.label = label_;
  for (const Argument& y : out_) job.uses.push_back({y.operand, true});
  for (const Argument& x : in_) job.uses.push_back({x.operand, false});
  return of_.host.compute(call_, job);
}

detail::Reply Op::run(back::KernelId id, std::initializer_list<Count> numbers, Count flops) {
  launch(id, numbers);
  return finish(flops);
}

}  // namespace shardlings::front
