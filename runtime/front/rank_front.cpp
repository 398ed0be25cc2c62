#include "front/rank_front.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "back/kernels/kernel_ids.h"
#include "base/text.h"
#include "front/group/control.h"
#include "front/group/desk.h"
#include "front/handlers.h"
#include "front/model/saved_table.h"

namespace shardlings::front {

using detail::Call;
using detail::Ref;
using detail::Reply;

namespace {

// Where a tensor comes from; what the puzzle was handed has no line in the learner's source.
std::string origin(Location at) {
  return at.line == 0 ? "that the puzzle was given" : "from " + to_text(at);
}

}  // namespace

RankFront::RankFront(const WorldOptions& options, int rank, std::unique_ptr<back::Device> device, Control& control)
    : options_(options),
      rank_(rank),
      control_(control),
      device_(std::move(device)),
      ledger_(options.capacity),
      costs_(options.cluster),
      trace_(options.trace),
      saved_(std::make_unique<SavedTable>()),
      groups_(std::make_unique<GroupDesk>(*this, control)) {}

RankFront::~RankFront() {
  saved_.reset();  // its tensors drop themselves, which must not happen after the next lines
  // Tensors that the program still holds when its rank has failed: the memory goes with the rank.
  for (const Storage* storage : storages_.alive()) device_->release(storage->data, storage->bytes());
}

Reply RankFront::call(const Call& call) {
  ++order_;
  note(call);
  if (control_.aborted()) throw Aborted("the run has already failed on another rank", call.at);
  if (!deferred_.empty()) throw_deferred();
  return handlers()[static_cast<std::size_t>(call.verb)](*this, call);
}

void RankFront::release(const Call& call) noexcept {
  try {
    handlers()[static_cast<std::size_t>(call.verb)](*this, call);
  } catch (const std::exception& error) {
    defer(Misuse::leak, error.what(), call.at);
  }
}

void RankFront::note(const Call& call) {
  last_verb_ = call.verb;
  if (call.at.line != 0) last_place_ = call.at;
  if (!options_.black_box) return;
  BlackBoxEntry& entry = options_.black_box->entries[rank_];
  entry.order = order_;
  entry.line = call.at.line;
  entry.time = now_.value();
  std::strncpy(entry.verb, name_of(call.verb), BlackBoxEntry::kText - 1);
  if (noted_file_ != call.at.file) {  // the same literal in nearly every call
    noted_file_ = call.at.file;
    const auto name = base_name(call.at.file);
    std::memset(entry.file, 0, sizeof entry.file);
    std::memcpy(entry.file, name.data(), std::min<std::size_t>(name.size(), BlackBoxEntry::kText - 1));
  }
}

void RankFront::defer(Misuse misuse, const std::string& sentence, Location at) {
  deferred_.push_back({misuse, sentence, at});
}

void RankFront::throw_deferred() {
  const Deferred first = deferred_.front();
  deferred_.clear();
  throw MisuseError(first.misuse, first.sentence.c_str(), first.at);
}

void RankFront::check_end() {
  if (!deferred_.empty()) throw_deferred();
  groups_->check_end();
}

void RankFront::invalid(const Call& call, const std::string& sentence) {
  throw InvalidArgument(fmt::format("{}: rank {}: {}", to_text(call.at), rank_, sentence).c_str(), call.at);
}

Operand RankFront::reading(const Call& call, int i) {
  return look_up(call, i, false);
}
Operand RankFront::writing(const Call& call, int i) {
  return look_up(call, i, true);
}

Operand RankFront::look_up(const Call& call, int i, bool writes) {
  const Ref& ref = call.tensor[i];
  if (ref.storage == 0) return {};
  Storage* storage = storages_.find(ref.storage, ref.generation);
  if (!storage || storage->dropped) {
    invalid(call, fmt::format("{}: tensor argument {} has been freed already (dropped, moved from, or overwritten)",
                              name_of(call.verb), i + 1));
  }
  const Count size = ref.shape.size();
  if (ref.offset < 0 || size < 0 || ref.offset + size > storage->count || ref.dtype != storage->dtype) {
    invalid(call, fmt::format("{}: tensor argument {} is not inside its storage", name_of(call.verb), i + 1));
  }
  const Range range{ref.offset, ref.offset + size};
  if (!storage->in_flight.empty()) check_race(call, *storage, range, writes);
  Operand operand;
  operand.ref = ref;
  operand.kind = storage->kind;
  operand.label = storage->label;
  if (ref.micro >= 0) operand.label.micro = ref.micro;
  operand.data = static_cast<char*>(storage->data) + ref.offset * size_of(ref.dtype);
  return operand;
}

void RankFront::check_race(const Call& call, const Storage& storage, Range range, bool writes) {
  if (!options_.checks) return;
  const auto uses = [&](const InFlight& mark) {  // an operation in place has two marks
    const auto has = [&](bool writing) {
      return std::any_of(storage.in_flight.begin(), storage.in_flight.end(), [&](const InFlight& other) {
        return other.work == mark.work && other.writes == writing && intersect(other.range, range).size() > 0;
      });
    };
    if (has(true)) return has(false) ? "reads and writes" : "writes";
    return "reads";
  };
  for (const InFlight& mark : storage.in_flight) {
    const Range both = intersect(mark.range, range);
    if (both.size() == 0 || !(writes || mark.writes)) continue;
    const std::string sentence = fmt::format(
        "race: {}: rank {}: {} {} elements [{}, {}) of a tensor {} while {} of {} is still in flight and {} "
        "them.\n"
        "Call wait() on its Work first.",
        to_text(call.at), rank_, name_of(call.verb), writes ? "writes" : "reads", both.begin, both.end,
        origin(storage.at), mark.operation, to_text(mark.at), uses(mark));
    throw MisuseError(Misuse::race, sentence.c_str(), call.at);
  }
}

Operand RankFront::allocate(Shape shape, DType dtype, Kind kind, Location at, int micro) {
  for (int i = 0; i < shape.rank(); ++i) {
    if (shape[i] < 0) {
      throw InvalidArgument(
          fmt::format("{}: rank {}: a tensor cannot have the shape {}", to_text(at), rank_, to_text(shape)).c_str(),
          at);
    }
  }
  const Bytes size = bytes_of(shape.size(), dtype);
  if (!ledger_.fits(size)) {
    throw OutOfMemory(out_of_memory_message(rank_, ledger_, storages_, size, kind, at).c_str(), at);
  }
  Storage storage;
  storage.data = device_->allocate(size);
  storage.count = shape.size();
  storage.dtype = dtype;
  storage.kind = kind;
  storage.label.micro = micro;
  storage.at = at;
  ledger_.add(kind, size, at);
  trace_.memory(now_, ledger_.live_by_kind());
  Operand made;
  made.data = storage.data;
  made.kind = kind;
  made.label = storage.label;
  made.ref.shape = shape;
  made.ref.dtype = dtype;
  made.ref.storage = storages_.insert(std::move(storage));
  made.ref.generation = storages_.at(made.ref.storage).generation;
  if (options_.poison_empty && made.size() > 0) {
    back::Kernel kernel;
    kernel.id = back::KernelId::fill;
    kernel.dtype = dtype;
    kernel.out[0] = made.data;
    kernel.n[0] = made.size();
    kernel.f[0] = dtype == DType::i32 ? -1e9F : std::numeric_limits<float>::quiet_NaN();
    launch(kernel);
  }
  return made;
}

void RankFront::label_whole(const Operand& operand, Label label) {
  Storage* storage = storages_.find(operand.ref.storage, operand.ref.generation);
  if (storage && operand.size() == storage->count) storage->label = label;
}

void RankFront::free(const Ref& ref, Location at) {
  Storage* storage = storages_.find(ref.storage, ref.generation);
  if (!storage) return;
  if (!storage->in_flight.empty()) {
    // The memory stays until the operation is over; that somebody would have freed it is the program's error.
    const InFlight& mark = storage->in_flight.front();
    storage->dropped = true;
    if (options_.checks) {
      defer(Misuse::race,
            fmt::format("race: rank {} dropped a tensor {} while {} of {} is still in flight with it.\n"
                        "Wait first, or hand it over: `…_async(t, …).keep(std::move(t))`.",
                        rank_, origin(storage->at), mark.operation, to_text(mark.at)),
            at.line != 0 ? at : mark.at);
    }
    return;
  }
  ledger_.remove(storage->kind, storage->bytes());
  trace_.memory(now_, ledger_.live_by_kind());
  device_->release(storage->data, storage->bytes());
  storages_.erase(ref.storage);
}

void RankFront::charge(const char* name, const Call& call, Cost cost, Label label) {
  ++counters_.operations;
  counters_.flops += cost.flops;
  const Nanos begin = now_;
  const Nanos time = costs_.operation(cost);
  now_ += time;
  counters_.busy[static_cast<std::size_t>(Lane::compute)] += time;
  if (layer_depth_ > 0) layer_flops_ += cost.flops;
  add_event(EventKind::operation, name, call, label, begin, cost.flops);
}

void RankFront::begin_layer_call() {
  if (++layer_depth_ > 1) return;
  layer_begin_ = now_;
  layer_flops_ = Flops(0);
}

void RankFront::end_layer_call(EventKind kind, const char* name, const Call& call, Label label) {
  if (--layer_depth_ > 0) return;
  const Cluster& cluster = costs_.cluster();
  if (cluster.uses_table) {
    Nanos time;
    switch (kind) {
      case EventKind::forward: time = cluster.table.forward; break;
      case EventKind::backward: time = cluster.table.backward; break;
      case EventKind::loss: time = cluster.table.loss; break;
      case EventKind::update: time = cluster.table.update; break;
      default: break;
    }
    now_ += time;
    counters_.busy[static_cast<std::size_t>(Lane::compute)] += time;
  }
  add_event(kind, name, call, label, layer_begin_, layer_flops_);
}

void RankFront::add_event(EventKind kind, const char* name, const Call& call, Label label, Nanos begin, Flops flops) {
  if (!trace_.enabled()) return;
  Event event;
  event.kind = kind;
  event.depth = static_cast<std::uint8_t>(layer_depth_);
  event.name = trace_.name(name);
  event.label = label;
  event.at = call.at;
  event.order = order_;
  event.begin = begin;
  event.posted = begin;
  event.end = now_;
  event.flops = flops;
  event.live_after = ledger_.live();
  trace_.add(event);
}

void RankFront::advance_to(Nanos time) {
  if (time > now_) now_ = time;
}

void RankFront::begin_measuring(Location at) {
  counters_ = {};
  now_ = Nanos(0);
  ledger_.reset_peak(at);
  saved_->reset_peak();
  groups_->restart_clock();
  trace_.restart(now_, ledger_.live_by_kind());
  kept_.reset();
}

void RankFront::end_measuring() {
  RankReport report;
  report.counters = counted();
  report.trace = trace_.take();
  kept_ = std::move(report);
}

Counters RankFront::counted() {
  Counters counters = counters_;
  ledger_.write(counters);
  counters.saved_peak = saved_->peak();
  counters.end = now_;
  return counters;
}

RankReport RankFront::take_report() {
  if (!kept_) end_measuring();
  kept_->published = std::move(published_);
  return std::move(*kept_);
}

}  // namespace shardlings::front
