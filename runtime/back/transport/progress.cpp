#include "back/transport/progress.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <new>
#include <stdexcept>

#include "base/machine_fault.h"

namespace shardlings::back {
namespace {

/// Between two looks of the thread beside the ranks.
constexpr auto kPumpPause = std::chrono::milliseconds(1);
/// Who waits polls so long before it sleeps, and then for longer and longer.
constexpr std::chrono::microseconds kSpin(100);
constexpr std::chrono::microseconds kShortest(20);
constexpr std::chrono::microseconds kLongest(500);

std::size_t index(Channel channel) {
  return static_cast<std::size_t>(channel);
}

Fault fault_of(const std::exception& error, const std::string& what) {
  Fault fault;
  fault.what = fmt::format("{}: {}", what, error.what());
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) fault.no_memory = memory_limits_here();
  return fault;
}

}  // namespace

Progress::Progress(std::unique_ptr<Transport> transport)
    : transport_(std::move(transport)), pump_([this] { pump(); }) {}

Progress::~Progress() {
  {
    const MutexLock guard(lock_);
    stops_ = true;
  }
  stop_.notify_all();
  pump_.join();
}

void Progress::listen(Channel channel, Handler handler) {
  handlers_[index(channel)] = std::move(handler);
  std::deque<Message>& unheard = unheard_[index(channel)];
  while (handlers_[index(channel)] && !unheard.empty()) {
    const Message message = std::move(unheard.front());
    unheard.pop_front();
    deliver_or_note(message.from, static_cast<char>(channel) + message.text);
  }
}

std::string Progress::next(Channel channel) {
  std::deque<Message>& unheard = unheard_[index(channel)];
  wait_until([&] { return !unheard.empty(); });
  return locked([&] {
    std::string text = std::move(unheard.front().text);
    unheard.pop_front();
    return text;
  });
}

// What a transport cannot carry says nothing of who has called.
void Progress::send(int to, Channel channel, std::string_view message) try {
  buffer_.assign(1, static_cast<char>(channel));
  buffer_.append(message);
  transport_->send(to, buffer_);
} catch (const std::runtime_error& error) {
  throw MachineFault(error.what());
}

void Progress::on_fault(std::function<void(const Fault& fault)> told) {
  const MutexLock guard(lock_);
  told_of_fault_ = std::move(told);
  if (told_of_fault_ && fault_) note_fault(*std::exchange(fault_, {}));
}

void Progress::note_fault(const Fault& fault) {
  const auto told = told_of_fault_;  // a copy: it may ask for nothing more
  if (told) return told(fault);
  if (!fault_) fault_ = fault;
}

void Progress::deliver(int from, std::string_view text) {
  const std::size_t channel = text.empty() ? kChannels : static_cast<unsigned char>(text.front());
  if (channel >= kChannels) throw std::runtime_error("a message is for nobody");
  text.remove_prefix(1);
  const Handler told = handlers_[channel];  // a copy: it may give up its channel
  if (told) return told(from, text);
  unheard_[channel].push_back({from, std::string(text)});
}

void Progress::deliver_or_note(int from, std::string_view text) {
  try {
    deliver(from, text);
  } catch (const std::exception& error) {
    note_fault(fault_of(error, fmt::format("what process {} has said cannot be handled here", from)));
  }
}

bool Progress::poll_transport() {
  try {
    return transport_->poll();
  } catch (const std::exception& error) {
    note_fault(fault_of(error, "data cannot be moved"));
    return true;
  }
}

bool Progress::poll() {
  bool got_on = poll_transport();
  int from = 0;
  for (std::string text; transport_->receive(from, text);) {
    deliver_or_note(from, text);
    got_on = true;
  }
  return got_on;
}

// Who spins on a core that others want waits for its turn after each yield; who sleeps gets one soon.
void Progress::rest(Time since) {
  const auto idle = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - since);
  if (idle < kSpin) {
    sched_yield();
    return;
  }
  transport_->pause(std::clamp(idle / 4, kShortest, kLongest));
}

void Progress::pump() {
  const MutexLock guard(lock_);
  while (!stop_.wait_for(lock_, kPumpPause, [this] { return stops_; })) poll();
}

}  // namespace shardlings::back
