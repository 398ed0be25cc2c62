#include "back/fabric/between_processes/exchange.h"

#include <algorithm>
#include <cstring>

#include "back/fabric/reduce.h"
#include "base/dtype.h"

namespace shardlings::back::between_processes {
namespace {

/// A handle is the process, then the number of the member's exchange there.
constexpr int kSerialBits = 40;
/// Tags tell so many exchanges of a process apart that are under way, and so many members of a process.
constexpr std::uint64_t kExchanges = 4096;
constexpr int kLocalMembers = 64;
constexpr int kPhases = 2;
static_assert(static_cast<int>(kExchanges) * kLocalMembers * kPhases <= Transport::kTags);

/// Elements that are combined at once: all inputs of a piece stay in the nearer caches.
constexpr Count kPiece = 8192;
constexpr std::size_t kWidest = 4;  // bytes of an element

std::size_t to_bytes(Count n, DType dtype) {
  return static_cast<std::size_t>(n * size_of(dtype));
}

}  // namespace

void ProcessExchange::begin(int) {
  phase_ = Phase::idle;
}

DataHandle ProcessExchange::post(int member, const Signature&, const Buffers& buffers) {
  member_ = member;
  buffers_ = buffers;
  serial_ = progress_.next_serial();
  return (static_cast<std::uint64_t>(progress_.process()) << kSerialBits) | serial_;
}

bool ProcessExchange::launch(const Signature& signature, std::span<const DataHandle> handles) {
  signature_ = signature;
  handles_.assign(handles.begin(), handles.end());
  phase_ = Phase::first;
  add();  // until all are started
  start_first();
  remove();
  return phase_ == Phase::done;
}

void ProcessExchange::ended() {
  if (phase_ == Phase::first) {
    phase_ = Phase::second;
    add();
    start_second();
    return remove();
  }
  phase_ = Phase::done;
}

HelpResult ProcessExchange::help(int) {
  progress_.wait_until([this] { return phase_ == Phase::done; });
  return HelpResult::complete;
}

bool ProcessExchange::reduces() const {
  return signature_.kind == Collective::all_reduce || signature_.kind == Collective::reduce ||
         signature_.kind == Collective::reduce_scatter;
}

int ProcessExchange::process_of(int member) const {
  return static_cast<int>(handles_[static_cast<std::size_t>(member)] >> kSerialBits);
}

int ProcessExchange::tag(int from, int to) const {
  const auto among = std::count_if(handles_.begin(), handles_.begin() + from, [&](DataHandle other) {
    return static_cast<int>(other >> kSerialBits) == process_of(from);
  });
  const auto exchange = static_cast<int>(handles_[static_cast<std::size_t>(to)] % kExchanges);
  const int phase = phase_ == Phase::first ? 0 : 1;
  return (exchange * kLocalMembers + static_cast<int>(among) % kLocalMembers) * kPhases + phase;
}

const char* ProcessExchange::in(Count element) const {
  return static_cast<const char*>(buffers_.in) + to_bytes(element, signature_.dtype);
}

char* ProcessExchange::out(Count element) const {
  return static_cast<char*>(buffers_.out) + to_bytes(element, signature_.dtype);
}

void ProcessExchange::send_from(int member, const void* data, Count n) {
  if (n == 0 || member == member_) return;
  add();
  progress_.transport().start_send(process_of(member), tag(member_, member), data, to_bytes(n, signature_.dtype),
                                   *this);
}

void ProcessExchange::send(int member, Range range) {
  send_from(member, in(range.begin), range.size());
}

void ProcessExchange::receive(int member, void* data, Count n) {
  if (n == 0 || member == member_) return;
  add();
  progress_.transport().start_receive(process_of(member), tag(member, member_), data, to_bytes(n, signature_.dtype),
                                      *this);
}

void ProcessExchange::start_first() {
  const Range whole{0, signature_.count}, mine = part(member_);
  switch (signature_.kind) {
    case Collective::all_reduce:
    case Collective::reduce:
    case Collective::reduce_scatter: return send_parts();
    case Collective::all_gather: return collect();
    case Collective::all_to_all: return exchange_all();
    case Collective::gather:
      if (is_root()) return collect();
      return send(signature_.root, {0, mine.size()});
    case Collective::broadcast:
      if (!is_root()) return receive(signature_.root, out(0), whole.size());
      for (int member = 0; member < signature_.members; ++member) send(member, whole);
      return;
    case Collective::scatter:
      if (!is_root()) return receive(signature_.root, out(0), mine.size());
      if (mine.size() > 0) std::memmove(out(0), in(mine.begin), to_bytes(mine.size(), signature_.dtype));
      for (int member = 0; member < signature_.members; ++member) send(member, part(member));
      return;
    case Collective::send_recv:
      if (member_ == 0) return send(1, whole);
      return receive(0, out(0), whole.size());
    case Collective::barrier:
    case Collective::split: return;
  }
}

/// Everybody's part comes together here; of an all-gather the others get this one's, too.
void ProcessExchange::collect() {
  const Range mine = part(member_);
  for (int member = 0; member < signature_.members; ++member) {
    receive(member, out(part(member).begin), part(member).size());
    if (signature_.kind == Collective::all_gather) send(member, {0, mine.size()});
  }
  if (mine.size() > 0) std::memmove(out(mine.begin), in(0), to_bytes(mine.size(), signature_.dtype));
}

/// From everybody the part that is this member's, in the order of the senders.
void ProcessExchange::exchange_all() {
  const Range mine = part(member_);
  for (int member = 0; member < signature_.members; ++member) {
    receive(member, out(member * mine.size()), mine.size());
    send(member, part(member));
  }
  if (mine.size() > 0)
    std::memmove(out(member_ * mine.size()), in(mine.begin), to_bytes(mine.size(), signature_.dtype));
}

void ProcessExchange::send_parts() {
  const std::size_t stride = to_bytes(part(member_).size(), signature_.dtype);
  inputs_.resize(stride * static_cast<std::size_t>(signature_.members));
  for (int member = 0; member < signature_.members; ++member) {
    receive(member, inputs_.data() + static_cast<std::size_t>(member) * stride, part(member_).size());
    send(member, part(member));
  }
}

void ProcessExchange::start_second() {
  if (!reduces()) return;
  combine();
  if (signature_.kind == Collective::reduce_scatter) return;
  const Count n = part(member_).size();
  const bool gets_all = signature_.kind == Collective::all_reduce || is_root();
  for (int member = 0; member < signature_.members; ++member) {
    if (gets_all) receive(member, out(part(member).begin), part(member).size());
    const bool wants = signature_.kind == Collective::all_reduce || member == signature_.root;
    if (wants) send_from(member, gets_all ? static_cast<const void*>(out(part(member_).begin)) : sum_.data(), n);
  }
}

/// This member's part of all inputs, in rank order. A piece goes to its place when it is whole, since that may be where
/// its own input lies.
void ProcessExchange::combine() {
  const Range mine = part(member_);
  const std::size_t stride = to_bytes(mine.size(), signature_.dtype);
  const bool is_kept = signature_.kind == Collective::reduce && !is_root();
  if (is_kept) sum_.resize(stride);
  char* result = is_kept ? reinterpret_cast<char*>(sum_.data())
                         : out(signature_.kind == Collective::reduce_scatter ? 0 : mine.begin);
  std::vector<const void*> sources(static_cast<std::size_t>(signature_.members));
  alignas(64) std::byte piece[static_cast<std::size_t>(kPiece) * kWidest];
  for (Count begin = 0; begin < mine.size(); begin += kPiece) {
    const Count n = std::min(kPiece, mine.size() - begin);
    for (std::size_t member = 0; member < sources.size(); ++member) {
      sources[member] = static_cast<int>(member) == member_
                            ? static_cast<const void*>(in(mine.begin + begin))
                            : inputs_.data() + member * stride + to_bytes(begin, signature_.dtype);
    }
    reduce_ordered(signature_.dtype, signature_.reduce, sources.data(), signature_.members, n, piece);
    std::memcpy(result + to_bytes(begin, signature_.dtype), piece, to_bytes(n, signature_.dtype));
  }
}

}  // namespace shardlings::back::between_processes
