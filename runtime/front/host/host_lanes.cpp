#include "front/host/host_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/verbs.h"
#include "back/kernels/kernel_ids.h"
#include "base/text.h"
#include "front/pending/pending_table.h"

namespace shardlings::front {

using back::DeviceLane;
using detail::Call;
using detail::Reply;

namespace {

DeviceLane device_lane(Lane lane) {
  switch (lane) {
    case Lane::to_host: return DeviceLane::to_host;
    case Lane::to_device: return DeviceLane::to_device;
    default: return DeviceLane::host;
  }
}

Lane lane_between(Memory from, Memory to) {
  if (from == to) return Lane::host;
  return to == Memory::host ? Lane::to_host : Lane::to_device;
}

}  // namespace

/// One copy, one thing that the host's processor does, or one access to the store.
class HostLanes::HostOperation final : public PendingOperation {
 public:
  HostOperation(RankContext& rank, RankMemory& memory) : rank_(rank), memory_(memory) {}

  Times settle(Location at) override;
  bool settled() const override { return times_.has_value(); }
  bool can_settle() const override {
    return settled() || ((!follows || (follows->settled() && !follows->revoked)) && (!behind || behind->settled()));
  }
  void revoke() override;
  back::DeviceEvent event() override { return done_; }
  void pass_time(Location at) override;
  void trace_in_flight() override;
  const char* name() const override { return name_of(verb); }
  std::string describe() const override { return fmt::format("{} ({})", name(), text); }

  detail::Verb verb{};
  std::string text;  ///< what it works on: "8 f32 to the host"
  Lane lane = Lane::host;
  back::Kernel kernel;
  std::function<void(Times)> effect;  ///< of an access to the store, instead of a kernel
  Nanos duration;
  Bytes bytes;
  Flops flops;
  Label label;
  back::DeviceEvent called = 0;               ///< all computation before the call
  std::shared_ptr<PendingOperation> follows;  ///< until settled: what it comes after
  std::shared_ptr<HostOperation> behind;      ///< until settled: the one before it on its lane

 private:
  void take_effect(Times times);
  void launch();
  Event traced() const;

  RankContext& rank_;
  RankMemory& memory_;
  std::optional<Times> times_;
  back::DeviceEvent done_ = 0;
  back::Marks marks_;
};

Times HostLanes::HostOperation::settle(Location at) {
  if (times_) return *times_;
  Nanos start = posted;
  if (behind) start = std::max(start, behind->settle(at).end);
  if (follows) start = std::max(start, follows->settle(at).end);
  const Times times{start, start + duration};
  try {
    lane == Lane::store ? take_effect(times) : launch();
  } catch (...) {
    revoke();
    throw;
  }
  behind.reset();
  follows.reset();
  times_ = times;
  return *times_;
}

// The lane is free at once for what stands behind it.
void HostLanes::HostOperation::revoke() {
  times_ = Times{posted, posted};
  behind.reset();
  follows.reset();
  effect = {};
}

void HostLanes::HostOperation::take_effect(Times times) {
  if (follows) rank_.device().wait(DeviceLane::compute, follows->event());
  std::exchange(effect, {})(times);
}

void HostLanes::HostOperation::launch() {
  back::Device& device = rank_.device();
  const DeviceLane on = device_lane(lane);
  device.wait(on, called);
  if (follows) device.wait(on, follows->event());
  marks_.begin = device.mark(on);
  device.launch(kernel, on);
  marks_.end = device.mark(on);
  done_ = device.record(on);
  if (verb == detail::Verb::copy) memory_.label_whole(uses.front().operand, label);
}

void HostLanes::HostOperation::pass_time(Location at) {
  rank_.device().wait(DeviceLane::compute, done_);
  const Nanos now = rank_.now();
  Counters& counters = rank_.counters();
  counters.busy[static_cast<std::size_t>(lane)] += duration;
  Nanos& waited = lane == Lane::store ? counters.waited_for_store : counters.waited_for_host;
  waited += std::max(Nanos(0), times_->end - now);
  rank_.stand_still_until(times_->end);
  if (!rank_.trace().enabled()) return;
  Event event = traced();
  event.begin = times_->start;
  event.end = times_->end;
  rank_.trace().add(event, marks_);
  if (times_->end > now) rank_.trace().add(waiting(event, now, at));
}

void HostLanes::HostOperation::trace_in_flight() {
  Event event = traced();
  event.begin = times_ ? times_->start : posted;
  event.end = times_ ? times_->end : rank_.now();
  rank_.trace().add(event);
}

/// All but its times.
Event HostLanes::HostOperation::traced() const {
  Event event;
  event.kind = verb == detail::Verb::copy || lane == Lane::store ? EventKind::copy : EventKind::update;
  event.lane = lane;
  event.name = rank_.trace().name(name());
  event.label = label;
  event.at = this->at;
  event.order = order;
  event.posted = posted;
  event.bytes = bytes;
  event.flops = flops;
  event.live_after = rank_.live();
  return event;
}

std::shared_ptr<HostLanes::HostOperation> HostLanes::begin(const Call& call, Lane lane, const back::Kernel& kernel) {
  auto operation = std::make_shared<HostOperation>(rank_, memory_);
  operation->verb = call.verb;
  operation->lane = lane;
  operation->kernel = kernel;
  operation->at = rank_.place(call);
  operation->order = rank_.calls().order();
  operation->posted = rank_.now();
  operation->after = call.id;  // 0 but for a call that may come after others
  return operation;
}

Reply HostLanes::start(const Call& call, std::shared_ptr<HostOperation> operation) {
  if (operation->lane != Lane::store) ++rank_.counters().operations;
  rank_.counters().flops += operation->flops;
  std::shared_ptr<HostOperation>& last = last_[static_cast<std::size_t>(operation->lane)];
  operation->follows = pending_.find(call.id);
  operation->behind = last;
  operation->called = rank_.device().record(DeviceLane::compute);
  if (operation->can_settle()) operation->settle(operation->at);
  last = operation;  // not of a call that has failed
  return pending_.start(call, std::move(operation));
}

Reply HostLanes::copy(const Call& call) {
  const char* name = call.blocking != 0 ? "copy" : "copy_async";
  const std::vector<std::uint64_t> before = pending_.chain(call.id);
  const Operand to = memory_.find(call, {0, true, before, call.blocking == 0});
  const Operand from = memory_.find(call, {1, false, before, call.blocking == 0});
  if (!to || !from) rank_.invalid(call, fmt::format("{}: {} is empty", name, to ? "from" : "to"));
  if (to.dtype() != from.dtype() || to.size() != from.size()) {
    rank_.invalid(
        call, fmt::format("{}: {} elements of {} cannot become {} of {}: sizes and types must agree", name, from.size(),
                          shardlings::name_of(from.dtype()), to.size(), shardlings::name_of(to.dtype())));
  }
  if (overlap(to, from)) rank_.invalid(call, fmt::format("{}: `to` and `from` overlap", name));
  back::Kernel kernel;
  kernel.id = back::KernelId::copy;
  kernel.out[0] = to.data;
  kernel.in[0] = from.data;
  kernel.n[0] = from.bytes().value();
  const auto operation = begin(call, lane_between(from.memory, to.memory), kernel);
  operation->uses = {{to, true}, {from, false}};
  operation->label = from.label;
  const Bytes weight = rank_.costs().weight(from.size(), from.dtype(), from.kind);
  operation->bytes = weight;
  operation->text =
      fmt::format("{} {} {} the {}", from.size(), shardlings::name_of(from.dtype()),
                  from.memory == to.memory ? "inside" : "to", to.memory == Memory::host ? "host" : "device");
  if (operation->lane == Lane::host) {
    operation->duration = rank_.costs().host_work(2 * weight);
  } else {
    const HostLink link = to.memory == Memory::host ? HostLink::to_host : HostLink::to_device;
    operation->duration = rank_.costs().host_copy(weight, link);
    Copies& copies = rank_.counters().copies[static_cast<std::size_t>(link)];
    ++copies.calls;
    copies.bytes += weight;
  }
  return start(call, operation);
}

Reply HostLanes::compute(const Call& call, const HostJob& job) {
  const auto operation = begin(call, Lane::host, job.kernel);
  operation->uses = job.uses;
  operation->label = job.label;
  operation->flops = job.cost.flops;
  operation->duration = rank_.costs().host_work(job.cost.traffic);
  operation->text = fmt::format("{} {} on the host", job.uses.front().operand.size(),
                                shardlings::name_of(job.uses.front().operand.dtype()));
  return start(call, operation);
}

// What others see of the store at a time must have been entered by then. An access that waited for other ranks would be
// entered when this rank waits for it, whatever others have been told meanwhile. (What a lane has is settled.)
void HostLanes::check_comes_after(const Call& call) const {
  const auto before = pending_.find(call.id);
  if (!before || (before->settled() && !before->revoked)) return;
  const std::string what = fmt::format("{} of {}", before->describe(), to_text(before->at));
  if (before->revoked) {
    const Location at = rank_.place(call);
    throw PeerFailed(fmt::format("{}: rank {}: {} would come after {}, which was revoked when a rank had died",
                                 to_text(at), rank_.id(), name_of(call.verb), what)
                         .c_str(),
                     at);
  }
  rank_.invalid(call, fmt::format("{}: it would come after {}, which waits for other ranks: wait() for that first, "
                                  "and then call this",
                                  name_of(call.verb), what));
}

Reply HostLanes::access(const Call& call, StoreJob job) {
  const auto operation = begin(call, Lane::store, {});
  operation->uses = std::move(job.uses);
  operation->label = job.label;
  operation->bytes = job.bytes;
  operation->duration = job.duration;
  operation->text = std::move(job.text);
  operation->effect = std::move(job.effect);
  return start(call, operation);
}

void HostLanes::restart_clock() {
  last_ = {};
}

}  // namespace shardlings::front
