#include "front/host/host_desk.h"

#include <fmt/format.h>

#include <algorithm>

#include "back/kernels/kernel_ids.h"
#include "base/text.h"
#include "front/handlers.h"
#include "front/work/work_table.h"

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

/// One copy, or one thing that the host's processor does.
class HostDesk::HostWork final : public Pending {
 public:
  explicit HostWork(RankFront& front) : front_(front) {}

  Times settle(Location at) override;
  bool settled() const override { return times_.has_value(); }
  bool can_settle() const { return (!follows || follows->settled()) && (!behind || behind->settled()); }
  back::DeviceEvent event() override { return done_; }
  void pass_time(Location at) override;
  void trace_in_flight() override;
  const char* name() const override { return name_of(verb); }
  std::string describe() const override { return fmt::format("{} ({})", name(), text); }

  detail::Verb verb{};
  std::string text;  ///< what it works on: "8 f32 to the host"
  Lane lane = Lane::host;
  back::Kernel kernel;
  Nanos duration;
  Bytes bytes;
  Flops flops;
  Label label;
  back::DeviceEvent called = 0;      ///< all computation before the call
  std::shared_ptr<Pending> follows;  ///< until settled: what it comes after
  std::shared_ptr<HostWork> behind;  ///< until settled: the one before it on its lane

 private:
  void launch();
  Event traced() const;

  RankFront& front_;
  std::optional<Times> times_;
  back::DeviceEvent done_ = 0;
  back::Marks marks_;
};

Times HostDesk::HostWork::settle(Location at) {
  if (times_) return *times_;
  Nanos start = posted;
  if (behind) start = std::max(start, behind->settle(at).end);
  if (follows) start = std::max(start, follows->settle(at).end);
  launch();
  behind.reset();
  follows.reset();
  times_ = Times{start, start + duration};
  return *times_;
}

void HostDesk::HostWork::launch() {
  back::Device& device = front_.device();
  const DeviceLane on = device_lane(lane);
  device.wait(on, called);
  if (follows) device.wait(on, follows->event());
  marks_.begin = device.mark(on);
  device.launch(kernel, on);
  marks_.end = device.mark(on);
  done_ = device.record(on);
  if (verb == detail::Verb::copy) front_.label_whole(uses.front().operand, label);
}

void HostDesk::HostWork::pass_time(Location at) {
  front_.device().wait(DeviceLane::compute, done_);
  const Nanos now = front_.now();
  Counters& counters = front_.counters();
  counters.busy[static_cast<std::size_t>(lane)] += duration;
  counters.waited_for_host += std::max(Nanos(0), times_->end - now);
  front_.advance_to(times_->end);
  if (!front_.trace().enabled()) return;
  Event event = traced();
  event.begin = times_->start;
  event.end = times_->end;
  front_.trace().add(event, marks_);
  if (times_->end > now) front_.trace().add(waiting(event, now, at));
}

void HostDesk::HostWork::trace_in_flight() {
  Event event = traced();
  event.begin = times_ ? times_->start : posted;
  event.end = times_ ? times_->end : front_.now();
  front_.trace().add(event);
}

/// All but its times.
Event HostDesk::HostWork::traced() const {
  Event event;
  event.kind = verb == detail::Verb::copy ? EventKind::copy : EventKind::update;
  event.lane = lane;
  event.name = front_.trace().name(name());
  event.label = label;
  event.at = this->at;
  event.order = order;
  event.posted = posted;
  event.bytes = bytes;
  event.flops = flops;
  event.live_after = front_.live();
  return event;
}

std::shared_ptr<HostDesk::HostWork> HostDesk::begin(const Call& call, Lane lane, const back::Kernel& kernel) {
  auto work = std::make_shared<HostWork>(front_);
  work->verb = call.verb;
  work->lane = lane;
  work->kernel = kernel;
  work->at = front_.place(call);
  work->order = front_.order();
  work->posted = front_.now();
  work->after = call.id;
  return work;
}

Reply HostDesk::start(const Call& call, std::shared_ptr<HostWork> work) {
  ++front_.counters().operations;
  front_.counters().flops += work->flops;
  std::shared_ptr<HostWork>& last = last_[static_cast<std::size_t>(work->lane)];
  work->follows = front_.works().find(call.id);
  work->behind = last;
  work->called = front_.device().record(DeviceLane::compute);
  last = work;
  if (work->can_settle()) work->settle(work->at);
  return front_.works().start(call, std::move(work));
}

Reply HostDesk::copy(const Call& call) {
  const char* name = call.blocking != 0 ? "copy" : "copy_async";
  const std::vector<std::uint64_t> before = front_.works().chain(call.id);
  const Operand to = front_.memory().find(call, {0, true, before, call.blocking == 0});
  const Operand from = front_.memory().find(call, {1, false, before, call.blocking == 0});
  if (!to || !from) front_.invalid(call, fmt::format("{}: {} is empty", name, to ? "from" : "to"));
  if (to.dtype() != from.dtype() || to.size() != from.size()) {
    front_.invalid(
        call, fmt::format("{}: {} elements of {} cannot become {} of {}: sizes and types must agree", name, from.size(),
                          shardlings::name_of(from.dtype()), to.size(), shardlings::name_of(to.dtype())));
  }
  if (overlap(to, from)) front_.invalid(call, fmt::format("{}: `to` and `from` overlap", name));
  back::Kernel kernel;
  kernel.id = back::KernelId::copy;
  kernel.out[0] = to.data;
  kernel.in[0] = from.data;
  kernel.n[0] = from.bytes().value();
  const auto work = begin(call, lane_between(from.memory, to.memory), kernel);
  work->uses = {{to, true}, {from, false}};
  work->label = from.label;
  work->bytes = from.bytes();
  work->text = fmt::format("{} {} {} the {}", from.size(), shardlings::name_of(from.dtype()),
                           from.memory == to.memory ? "inside" : "to", to.memory == Memory::host ? "host" : "device");
  if (work->lane == Lane::host) {
    work->duration = front_.costs().host_work(2 * from.bytes());
  } else {
    const HostLink link = to.memory == Memory::host ? HostLink::to_host : HostLink::to_device;
    work->duration = front_.costs().host_copy(from.bytes(), link);
    Copies& copies = front_.counters().copies[static_cast<std::size_t>(link)];
    ++copies.calls;
    copies.bytes += from.bytes();
  }
  return start(call, work);
}

Reply HostDesk::compute(const Call& call, const HostJob& job) {
  const auto work = begin(call, Lane::host, job.kernel);
  work->uses = job.uses;
  work->label = job.label;
  work->flops = job.cost.flops;
  work->duration = front_.costs().host_work(job.cost.traffic);
  work->text = fmt::format("{} {} on the host", job.uses.front().operand.size(),
                           shardlings::name_of(job.uses.front().operand.dtype()));
  return start(call, work);
}

void HostDesk::restart_clock() {
  last_ = {};
}

}  // namespace shardlings::front
