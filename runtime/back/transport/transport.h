/// \file
/// How the processes of a run reach one another: messages of the control plane, and the bytes of tensors.
///
/// Nothing here blocks, and one thread at a time calls it: whose turn it is, is the business of Progress (progress.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

namespace shardlings::back {

/// Transfers that end together.
class Transfers {
 public:
  virtual ~Transfers() = default;
  /// The last of them has ended. More may be started by now.
  virtual void ended() = 0;
  /// One more is under way.
  void add() { ++left_; }
  /// One of them has ended.
  void remove() {
    if (--left_ == 0) ended();
  }

 private:
  int left_ = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;

  /// This process among those of the run, from 0.
  virtual int process() const = 0;
  virtual int processes() const = 0;

  /// Sends a message, to this process too. Those of one process to another arrive in their order. `message` is copied.
  virtual void send(int to, std::string_view message) = 0;
  /// The next message that has come in; false if there is none.
  virtual bool receive(int& from, std::string& message) = 0;

  /// Tags of data are below this.
  static constexpr int kTags = 1 << 19;
  /// \name Bytes from one process to another, or to itself
  /// What is sent meets what is received by process and tag; of several that are alike, in the order of their starts.
  /// Both sides know the size. The memory stays there until the transfer has ended, of which `of` is told in poll().
  /// @{
  virtual void start_send(int to, int tag, const void* data, std::size_t size, Transfers& of) = 0;
  virtual void start_receive(int from, int tag, void* data, std::size_t size, Transfers& of) = 0;
  /// @}
  /// Sleeps for so long, or until something comes in, where that can be known. For any thread, at any time.
  virtual void pause(std::chrono::microseconds time) { std::this_thread::sleep_for(time); }
  /// Gets on with what was started. True if something has ended or come in.
  virtual bool poll() = 0;
  /// Transfers that have not ended. One with a process that is not there any more need never end: where a transport
  /// sees that, it ends them itself, and says so (Channel::gone).
  virtual std::size_t under_way() const = 0;
};

}  // namespace shardlings::back
