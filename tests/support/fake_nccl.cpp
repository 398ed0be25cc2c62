#include "support/fake_nccl.h"

#include <fmt/format.h>

#include <bit>
#include <condition_variable>
#include <cstring>
#include <map>

#include "base/dtype.h"
#include "support/fake_gpu_lane.h"

namespace shardlings::support {

using back::nccl::Issue;
using What = FakeNccl::Call::What;

/// What all members of a communicator do together; each on its own queue.
struct FakeNccl::Meeting {
  std::mutex lock;
  std::condition_variable changed;
  std::vector<std::vector<Call>> calls;
  std::size_t arrived = 0;
  bool done = false;
  bool hangs = false;
};

/// One member's end of a communicator. As in NCCL, what was asked for last may take a moment.
struct FakeNccl::End {
  std::atomic<int> busy{2};
};

namespace {

/// The point of a queue that was recorded last.
struct FakeEvent {
  std::shared_ptr<LaneProgress> progress;
  std::uint64_t done = 0;
};

FakeLane& lane(void* queue) {
  return *static_cast<FakeLane*>(queue);
}
FakeEvent& event_at(void* event) {
  return *static_cast<FakeEvent*>(event);
}

float number_at(const std::byte* bytes, DType dtype) {
  if (dtype == DType::bf16) {
    std::uint16_t half = 0;
    std::memcpy(&half, bytes, sizeof half);
    return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16U);
  }
  float value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

void put_number(std::byte* bytes, float value, DType dtype) {
  if (dtype != DType::bf16) {
    std::memcpy(bytes, &value, sizeof value);
    return;
  }
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto half = static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16U) & 1U)) >> 16U);
  std::memcpy(bytes, &half, sizeof half);
}

template <class T>
T combined(T a, T b, ReduceOp op) {
  if (op == ReduceOp::max) return std::max(a, b);
  return op == ReduceOp::min ? std::min(a, b) : static_cast<T>(a + b);
}

bool same_call(const FakeNccl::Call& a, const FakeNccl::Call& b) {
  return a.what == b.what && a.count == b.count && a.dtype == b.dtype && a.op == b.op && a.peer == b.peer;
}

bool is_message(const FakeNccl::Call& call) {
  return call.what == What::send || call.what == What::recv;
}

}  // namespace

FakeNccl::~FakeNccl() = default;

void FakeNccl::fault(const std::string& sentence) {
  const std::lock_guard guard(lock_);
  faults_.push_back(sentence);
}

void FakeNccl::fail(const std::string& error) {
  const std::lock_guard guard(lock_);
  error_ = error;
}

std::vector<std::string> FakeNccl::faults() const {
  const std::lock_guard guard(lock_);
  return faults_;
}

FakeNccl::Queue FakeNccl::make_queue(int) {
  ++alive_;
  return new FakeLane;
}
void FakeNccl::free_queue(int, Queue queue) noexcept {
  --alive_;
  delete static_cast<FakeLane*>(queue);
}
FakeNccl::Event FakeNccl::make_event(int) {
  ++alive_;
  return new FakeEvent;
}
void FakeNccl::free_event(int, Event event) noexcept {
  --alive_;
  delete static_cast<FakeEvent*>(event);
}

void FakeNccl::record(int, Event event, Queue queue) {
  event_at(event) = {lane(queue).progress(), lane(queue).enqueued()};
}

void FakeNccl::wait(int, Queue queue, Event event) {
  const FakeEvent recorded = event_at(event);
  if (!recorded.progress) return;  // never recorded: nothing to wait for, as in CUDA
  lane(queue).enqueue([recorded] { recorded.progress->await(recorded.done); });
}

bool FakeNccl::reached(Event event) {
  const FakeEvent& recorded = event_at(event);
  return !recorded.progress || recorded.progress->reached(recorded.done);
}

std::vector<FakeNccl::Comm> FakeNccl::make_ends(std::size_t members) {
  std::vector<Comm> ends;
  for (std::size_t i = 0; i < members; ++i) ends.push_back(new End);
  alive_ += static_cast<int>(members);
  return ends;
}

std::vector<FakeNccl::Comm> FakeNccl::make_root(int gpus) {
  return make_ends(static_cast<std::size_t>(gpus));
}

std::vector<FakeNccl::Comm> FakeNccl::split(std::span<const Comm> root, std::span<const int> members, int) {
  for (const int member : members) {
    if (member < 0 || static_cast<std::size_t>(member) >= root.size()) fault("split of a GPU that is not in the root");
  }
  for (const Comm end : root) static_cast<End*>(end)->busy = 1;
  ++splits_;
  return make_ends(members.size());
}

void FakeNccl::issue(std::span<const Issue> issues) {
  ++operations_;
  const auto meeting = std::make_shared<Meeting>();
  meeting->hangs = hang_next_.exchange(false);
  for (const Issue& issue : issues) {
    auto* end = static_cast<End*>(issue.comm);
    if (end->busy > 0) fault("a call on a communicator that is still busy");
    end->busy = 1;
    meeting->calls.emplace_back(issue.calls.begin(), issue.calls.end());
  }
  {
    const std::lock_guard guard(lock_);
    meetings_.push_back(meeting);
  }
  for (std::size_t member = 0; member < issues.size(); ++member) {
    lane(issues[member].queue).enqueue([this, meeting, member] { run(*meeting, member); });
  }
}

FakeNccl::State FakeNccl::state(Comm comm, std::string& error) {
  {
    const std::lock_guard guard(lock_);
    if (!error_.empty()) {
      error = error_;
      return State::failed;
    }
  }
  auto* end = static_cast<End*>(comm);
  if (end->busy == 0) return State::ready;
  --end->busy;
  return State::in_progress;
}

void FakeNccl::abort(Comm comm) noexcept {
  aborted_ = true;
  const std::lock_guard guard(lock_);
  for (const auto& meeting : meetings_) {
    const std::lock_guard inside(meeting->lock);
    meeting->done = true;
    meeting->changed.notify_all();
  }
  delete static_cast<End*>(comm);
  --alive_;
}

void FakeNccl::destroy(std::span<const Comm> ends) noexcept {
  for (const Comm end : ends) delete static_cast<End*>(end);
  alive_ -= static_cast<int>(ends.size());
}

/// On a queue's thread: nobody goes on before all are there.
void FakeNccl::run(Meeting& meeting, std::size_t) {
  std::unique_lock guard(meeting.lock);
  if (++meeting.arrived == meeting.calls.size() && !meeting.hangs && !meeting.done) {
    perform(meeting);
    meeting.done = true;
    meeting.changed.notify_all();
  }
  meeting.changed.wait(guard, [&] { return meeting.done; });
}

void FakeNccl::perform(const Meeting& meeting) {
  const auto& calls = meeting.calls;
  std::vector<std::vector<Call>> collectives(calls.size());
  for (std::size_t m = 0; m < calls.size(); ++m) {
    for (const Call& call : calls[m]) {
      if (!is_message(call)) collectives[m].push_back(call);
    }
  }
  for (std::size_t m = 1; m < collectives.size(); ++m) {
    if (!std::equal(collectives[0].begin(), collectives[0].end(), collectives[m].begin(), collectives[m].end(),
                    same_call)) {
      fault("the members of a communicator make different calls");
      return;
    }
  }
  for (std::size_t i = 0; i < collectives[0].size(); ++i) perform(collectives, i);
  deliver(calls);
}

/// The call of that number of all members.
void FakeNccl::perform(const std::vector<std::vector<Call>>& calls, std::size_t index) {
  std::vector<Call> of;
  for (const auto& member : calls) of.push_back(member[index]);
  const Call& any = of[0];
  const auto root = static_cast<std::size_t>(any.peer);
  const std::int64_t part = bytes_of(any.count, any.dtype).value();
  std::vector<std::vector<std::byte>> results;
  switch (any.what) {
    case What::all_reduce:
    case What::reduce: {
      std::vector<std::byte> sum(static_cast<std::size_t>(part));
      reduce(of, 0, any.count, sum.data());
      for (std::size_t m = 0; m < of.size(); ++m) {
        if (any.what == What::all_reduce || m == root) write(of[m].out, sum);
      }
      break;
    }
    case What::reduce_scatter:
      for (std::size_t m = 0; m < of.size(); ++m) {
        results.emplace_back(static_cast<std::size_t>(part));
        reduce(of, static_cast<std::int64_t>(m) * part, any.count, results.back().data());
      }
      for (std::size_t m = 0; m < of.size(); ++m) write(of[m].out, results[m]);
      break;
    case What::all_gather:
      for (const Call& call : of) results.push_back(bytes_at(call.in, part));
      for (const Call& call : of) {
        for (std::size_t m = 0; m < of.size(); ++m) {
          write(static_cast<std::byte*>(call.out) + static_cast<std::int64_t>(m) * part, results[m]);
        }
      }
      break;
    case What::broadcast:
      results.push_back(bytes_at(of[root].in, part));
      for (const Call& call : of) write(call.out, results[0]);
      break;
    case What::send:
    case What::recv: break;
  }
}

/// Messages: those from one member to another meet in the order of the calls.
void FakeNccl::deliver(const std::vector<std::vector<Call>>& calls) {
  std::map<std::pair<int, int>, std::vector<const Call*>> sends, receives;
  for (std::size_t m = 0; m < calls.size(); ++m) {
    const int me = static_cast<int>(m);
    for (const Call& call : calls[m]) {
      if (call.what == What::send) sends[{me, call.peer}].push_back(&call);
      if (call.what == What::recv) receives[{call.peer, me}].push_back(&call);
    }
  }
  for (const auto& [pair, list] : sends) {
    if (receives[pair].size() != list.size()) {
      fault(fmt::format("{} sends from {} to {} meet {} receives", list.size(), pair.first, pair.second,
                        receives[pair].size()));
      return;
    }
  }
  if (sends.size() != receives.size()) fault("a receive that nobody sends to");
  std::vector<std::pair<const Call*, std::vector<std::byte>>> letters;
  for (const auto& [pair, list] : sends) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const Call* to = receives[pair][i];
      if (to->count != list[i]->count || to->dtype != list[i]->dtype) fault("the ends of a message disagree");
      letters.emplace_back(to, bytes_at(list[i]->in, bytes_of(list[i]->count, list[i]->dtype).value()));
    }
  }
  for (const auto& [to, bytes] : letters) write(to->out, bytes);
}

/// In the members' order, rounded once: more than NCCL promises, so that results can be compared bit by bit.
void FakeNccl::reduce(const std::vector<Call>& calls, std::int64_t first, Count count, void* out) {
  const DType dtype = calls[0].dtype;
  const std::int64_t size = size_of(dtype);
  std::vector<std::vector<std::byte>> inputs;
  for (const Call& call : calls) {
    inputs.push_back(bytes_at(static_cast<const std::byte*>(call.in) + first, count * size));
  }
  auto* to = static_cast<std::byte*>(out);
  for (Count k = 0; k < count; ++k) {
    if (dtype == DType::e8m0) {  // as unsigned bytes, of which NCCL knows the largest
      std::byte total{0};
      for (const auto& input : inputs) total = std::max(total, input[static_cast<std::size_t>(k)]);
      to[k] = total;
    } else if (dtype == DType::i32) {
      std::int32_t total = 0;
      for (std::size_t m = 0; m < inputs.size(); ++m) {
        std::int32_t value = 0;
        std::memcpy(&value, inputs[m].data() + k * size, sizeof value);
        total = m == 0 ? value : combined(total, value, calls[0].op);
      }
      std::memcpy(to + k * size, &total, sizeof total);
    } else {
      float total = number_at(inputs[0].data() + k * size, dtype);
      for (std::size_t m = 1; m < inputs.size(); ++m) {
        total = combined(total, number_at(inputs[m].data() + k * size, dtype), calls[0].op);
      }
      put_number(to + k * size, total, dtype);
    }
  }
}

std::vector<std::byte> FakeNccl::bytes_at(const void* address, std::int64_t size) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  if (!gpus_.read(address, bytes)) fault("NCCL reads what is not allocated");
  return bytes;
}

void FakeNccl::write(void* address, const std::vector<std::byte>& bytes) {
  if (!gpus_.write(address, bytes)) fault("NCCL writes what is not allocated");
}

}  // namespace shardlings::support
