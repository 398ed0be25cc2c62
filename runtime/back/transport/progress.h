/// \file
/// Who drives a process's transport: one thread at a time, under one lock. Whoever waits for another process polls; a
/// thread beside the ranks polls now and then, so that all goes on while they compute.
///
/// The field calls this a progress engine.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "back/transport/transport.h"
#include "base/memory_limits.h"
#include "base/mutex.h"

namespace shardlings::back {

/// For whom a message is.
enum class Channel : std::uint8_t {
  server,   ///< what ranks tell the control plane
  ranks,    ///< what it answers
  world,    ///< reports, and the end of a run
  sharing,  ///< what process 0 gives to all
  store,    ///< what ranks ask of the store
  items,    ///< what it answers
  spoken,   ///< what is said beside tensors: see spoken.h
  gone      ///< that one is not any more, by transports that see it: see process_world.h
};
inline constexpr std::size_t kChannels = 8;

/// Why a process cannot go on.
struct Fault {
  std::string what;
  /// std::bad_alloc was thrown where these limits are in force: the program may have used up what there is.
  std::optional<MemoryLimits> no_memory{};
};

class Progress {
 public:
  explicit Progress(std::unique_ptr<Transport> transport);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  int process() const { return transport_->process(); }
  int processes() const { return transport_->processes(); }

  /// Told of each message of a channel, under the lock. Messages that came before anybody asked are told now; an empty
  /// function: nobody asks any more.
  using Handler = std::function<void(int from, std::string_view message)>;
  void on(Channel channel, Handler handler) {
    const MutexLock guard(lock_);
    listen(channel, std::move(handler));
  }
  /// Waits for the next message of a channel that nobody is told of, from whichever process.
  std::string next(Channel channel);
  /// Told, under the lock, of what was thrown while a message was handled or data were moved: that concerns no call of
  /// the thread that has happened to poll. Such a fault that nobody was told of yet, the first one, is told now. An
  /// empty function: nobody asks any more.
  void on_fault(std::function<void(const Fault& fault)> told);

  /// Runs `work` under the lock.
  template <class Work>
  auto locked(Work&& work) {
    const MutexLock guard(lock_);
    return work();
  }
  /// Returns when `condition`, which is asked under the lock, holds. Polls meanwhile: first as fast as it can, giving
  /// way to others, then with pauses that grow to half a millisecond.
  template <class Condition>
  void wait_until(Condition&& condition) {
    for (Time since = Clock::now(); !try_once(condition, since);) rest(since);
  }
  /// The same, but gives up after so many polls. True if the condition holds.
  template <class Condition>
  bool wait_briefly(Condition&& condition, int polls) {
    Time since = Clock::now();
    for (int i = 0; i < polls; ++i) {
      if (try_once(condition, since)) return true;
    }
    return false;
  }

  /// \name For who holds the lock
  /// @{
  void send(int to, Channel channel, std::string_view message);
  /// As on(). A handler may call it for its own channel: then it is told nothing more.
  void listen(Channel channel, Handler handler);
  Transport& transport() { return *transport_; }
  /// @}

  /// A number that no exchange of this process has had. For everybody.
  std::uint64_t next_serial() { return ++serial_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;
  struct Message {
    int from = 0;
    std::string text;
  };
  /// `since`: when it last got on.
  template <class Condition>
  bool try_once(Condition& condition, Time& since) {
    const MutexLock guard(lock_);
    if (condition()) return true;
    if (poll()) since = Clock::now();
    return condition();
  }
  void rest(Time since);
  bool poll();
  bool poll_transport();
  void deliver_or_note(int from, std::string_view text);
  void note_fault(const Fault& fault);
  void deliver(int from, std::string_view text);
  void pump();

  std::unique_ptr<Transport> transport_;
  Mutex lock_;
  std::array<Handler, kChannels> handlers_;
  std::array<std::deque<Message>, kChannels> unheard_;
  std::function<void(const Fault& fault)> told_of_fault_;
  std::optional<Fault> fault_;  ///< that nobody was told of
  std::atomic<std::uint64_t> serial_{0};
  std::string buffer_;
  bool stops_ = false;
  std::condition_variable_any stop_;
  std::thread pump_;
};

}  // namespace shardlings::back
