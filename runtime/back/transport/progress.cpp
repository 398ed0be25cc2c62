#include "back/transport/progress.h"

#include <sched.h>

#include <algorithm>

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
    const Handler told = handlers_[index(channel)];
    told(message.from, message.text);
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

void Progress::send(int to, Channel channel, std::string_view message) {
  buffer_.assign(1, static_cast<char>(channel));
  buffer_.append(message);
  transport_->send(to, buffer_);
}

void Progress::deliver(int from, std::string_view text) {
  const auto channel = static_cast<std::size_t>(text.front());
  text.remove_prefix(1);
  const Handler told = handlers_[channel];  // a copy: it may give up its channel
  if (told) return told(from, text);
  unheard_[channel].push_back({from, std::string(text)});
}

bool Progress::poll() {
  bool got_on = transport_->poll();
  int from = 0;
  for (std::string text; transport_->receive(from, text);) {
    deliver(from, text);
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
