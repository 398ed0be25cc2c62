#include "front/rank_front.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "front/group/control.h"
#include "front/group/desk.h"
#include "front/handlers.h"
#include "front/host/host_desk.h"
#include "front/model/model_table.h"
#include "front/model/saved_table.h"
#include "front/work/work_table.h"

namespace shardlings::front {

using detail::Call;
using detail::Ref;
using detail::Reply;

namespace {

// Of a layer's input: (s, b, h), or token ids (s, b). Without such a dimension it counts as one.
Count sequences_of(const Ref& x) {
  const bool has_sequences = x.shape.rank() == 3 || (x.shape.rank() == 2 && x.dtype == DType::i32);
  return has_sequences ? x.shape[1] : 1;
}

}  // namespace

RankFront::RankFront(const RankOptions& options, int rank, std::unique_ptr<back::Device> device, Control& control)
    : doors_(*this),
      options_(options),
      rank_(rank),
      control_(control),
      device_(std::move(device)),
      costs_(options.cluster),
      trace_(options.trace),
      memory_(std::make_unique<MemoryDesk>(*this)),
      saved_(std::make_unique<SavedTable>()),
      models_(std::make_unique<ModelTable>()),
      works_(std::make_unique<WorkTable>(*this)),
      groups_(std::make_unique<GroupDesk>(*this, control)),
      host_(std::make_unique<HostDesk>(*this)) {
  if (trace_.enabled()) device_->start_measuring();
}

RankFront::~RankFront() {
  saved_.reset();  // its tensors drop themselves, which must not happen after their memory is gone
}

RankFront& RankFront::behind(detail::Port& port) {
  return Doors::behind(port).front();
}

Reply RankFront::handle(const Call& call) {
  const detail::VerbSpec& spec = detail::spec_of(call.verb);
  if (spec.released) return handle_released(call);
  if (!spec.uncounted) ++order_;
  note(call);
  if (control_.aborted()) throw Aborted("the run has already failed on another rank", place(call));
  if (!deferred_.empty()) throw_deferred();
  return handler_of(call.verb)(*this, call);
}

// Nobody hears an answer: what went wrong has to wait for the next call.
Reply RankFront::handle_released(const Call& call) {
  try {
    return handler_of(call.verb)(*this, call);
  } catch (const std::exception&) {
    deferred_.push_back(std::current_exception());
    return {};
  }
}

const char* RankFront::called(const Call& call) const {
  return layer_depth_ > 0 ? layer_call_ : name_of(call);
}

// The harness's own calls have no place in the source, and are nothing that a learner knows of.
void RankFront::note(const Call& call) {
  if (call.at.line == 0) return;
  if (layer_depth_ == 0) ++calls_;
  last_call_ = called(call);
  last_place_ = place(call);
  if (!options_.black_box) return;
  BlackBoxEntry& entry = options_.black_box->entries[rank_];
  entry.order = calls_;
  entry.line = call.at.line;
  entry.time = now_.value();
  std::strncpy(entry.verb, last_call_, BlackBoxEntry::kText - 1);
  if (noted_file_ != call.at.file) {  // the same one in nearly every call
    noted_file_ = call.at.file;
    const auto name = base_name(last_place_.file);
    std::memset(entry.file, 0, sizeof entry.file);
    std::memcpy(entry.file, name.data(), std::min<std::size_t>(name.size(), BlackBoxEntry::kText - 1));
  }
}

// What came before the learner's function is of no interest in a report about it.
void RankFront::forget_notes() {
  calls_ = 0;
  last_call_ = "";
  last_place_ = {};
  if (!options_.black_box) return;
  BlackBoxEntry& entry = options_.black_box->entries[rank_];
  entry.order = 0;
  entry.line = 0;
  entry.verb[0] = '\0';
}

void RankFront::defer(Misuse misuse, const std::string& sentence, Location at) {
  deferred_.push_back(std::make_exception_ptr(MisuseError(misuse, sentence.c_str(), at)));
}

void RankFront::throw_deferred() {
  const std::exception_ptr first = deferred_.front();
  deferred_.clear();
  std::rethrow_exception(first);
}

void RankFront::check_end() {
  if (!deferred_.empty()) throw_deferred();
  works_->check_end();
}

void RankFront::invalid(const Call& call, const std::string& sentence) {
  const Location at = place(call);
  throw InvalidArgument(fmt::format("{}: rank {}: {}", to_text(at), rank_, sentence).c_str(), at);
}

bool RankFront::aborted() const {
  return control_.aborted();
}

Operand RankFront::on_device(const Call& call, const Lookup& lookup) {
  const Operand found = memory_->find(call, lookup);
  if (found.memory == Memory::device) return found;
  invalid(call, fmt::format("{}: tensor argument {} is in the host's memory, which only copy, copy_async, adam and "
                            "adam_async can use. Copy it to the device first",
                            called(call), lookup.index + 1));
}

void RankFront::charge(const char* name, const Call& call, Cost cost, Label label) {
  ++counters_.operations;
  counters_.flops += cost.flops;
  const Nanos begin = now_;
  const Nanos time = costs_.operation(cost);
  now_ += time;
  counters_.busy[static_cast<std::size_t>(Lane::compute)] += time;
  if (layer_depth_ > 0) layer_flops_ += cost.flops;
  add_event(EventKind::operation, name, call, label, begin, cost.flops, marks_);
}

void RankFront::begin_layer_call(const Call& call) {
  if (++layer_depth_ > 1) return;
  layer_call_ = name_of(call);
  layer_begin_ = now_;
  layer_flops_ = Flops(0);
  layer_marks_.begin = device_->mark(back::DeviceLane::compute);
}

void RankFront::end_layer_call(EventKind kind, const char* name, const Call& call, Label label) {
  if (--layer_depth_ > 0) return;
  const Cluster& cluster = costs_.cluster();
  if (cluster.uses_table) {
    const std::int64_t sequences = cluster.table.per_sequence ? sequences_of(call.tensor[1]) : 1;
    Nanos time;
    switch (kind) {
      case EventKind::forward: time = sequences * cluster.table.forward; break;
      case EventKind::backward: time = sequences * cluster.table.backward; break;
      case EventKind::loss: time = cluster.table.loss; break;
      case EventKind::update: time = cluster.table.update; break;
      default: break;
    }
    now_ += time;
    counters_.busy[static_cast<std::size_t>(Lane::compute)] += time;
  }
  add_event(kind, name, call, label, layer_begin_, layer_flops_, layer_marks_);
}

void RankFront::add_event(EventKind kind, const char* name, const Call& call, Label label, Nanos begin, Flops flops,
                          back::Marks& marks) {
  if (marks.begin != 0) marks.end = device_->mark(back::DeviceLane::compute);
  const back::Marks measured = std::exchange(marks, {});
  if (!trace_.enabled()) return;
  Event event;
  event.kind = kind;
  event.depth = static_cast<std::uint8_t>(layer_depth_);
  event.name = trace_.name(name);
  event.label = label;
  event.at = place(call);
  event.order = order_;
  event.begin = begin;
  event.posted = begin;
  event.end = now_;
  event.flops = flops;
  event.live_after = live();
  trace_.add(event, measured);
}

void RankFront::advance_to(Nanos time) {
  if (time > now_) now_ = time;
}

void RankFront::begin_measuring(Location at) {
  counters_ = {};
  now_ = Nanos(0);
  saved_->reset_peak();
  groups_->restart_clock();
  host_->restart_clock();
  trace_.restart();
  if (trace_.enabled()) device_->start_measuring();
  marks_ = {};
  layer_marks_ = {};
  memory_->restart(at);
  kept_.reset();
  forget_notes();
}

void RankFront::end_measuring() {
  RankReport report;
  report.counters = counted();
  trace_.resolve(*device_);
  report.trace = trace_.take();
  report.trace.files = texts_.all();
  kept_ = std::move(report);
}

Counters RankFront::counted() {
  Counters counters = counters_;
  memory_->write(counters);
  counters.saved_peak = saved_->peak();
  counters.end = now_;
  return counters;
}

RankReport RankFront::take_report() {
  if (!kept_) end_measuring();
  kept_->published = std::move(published_);
  return std::move(*kept_);
}

void RankFront::add_in_flight(RankTrace& trace) {
  trace_.put_back(std::move(trace));
  works_->trace_in_flight();
  trace = trace_.take();
}

}  // namespace shardlings::front
