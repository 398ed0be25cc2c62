/// \file
/// Memory that a jail and its broker share, in which they answer each other by turns.
///
/// The jail can write anything at any time into any byte of it. So the broker copies what it reads before it looks at
/// it, believes no length, and checks what it finds against what it asked for; a jail that breaks the turns hurts only
/// itself.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "boundary/crash_note.h"

namespace shardlings::boundary {

enum class Side : std::uint32_t { broker, jail };

/// What a message is about. What its bytes are is in archive.h and carried.h.
enum class Topic : std::uint32_t {
  // to the jail
  invoke,  ///< call this function of the learner's with these arguments
  reply,   ///< what a call has brought
  text_id,
  text,
  // to the broker
  call,        ///< an entry of the table of verbs
  define,      ///< which number has this text?
  text_of,     ///< which text has this number?
  error_text,  ///< what does the error of the last reply say?
  returned,    ///< the learner's function has returned: its result, and what it may have changed
  threw,       ///< it has thrown: what, and what it may have changed
  too_large    ///< it has returned or thrown, and what it leaves has so many bytes, more than a mailbox takes
};

/// The descriptor of its mailbox in a jail, which has no others but standard input (empty), output and error.
inline constexpr int kMailboxDescriptor = 3;

/// One side of a mailbox. Used by one thread.
class Mailbox {
 public:
  static constexpr std::size_t kBytes = std::size_t{1} << 20U;  ///< of memory, a multiple of the page size
  static constexpr std::size_t kMost = kBytes - 1024;           ///< bytes of a message

  /// `memory` is shared and, at the first use of either side, zero.
  Mailbox(void* memory, Side side) : shared_(static_cast<Shared*>(memory)), side_(side) {}

  /// Leaves a message and the turn to the other side. Throws std::length_error for a message that is too long.
  void post(Topic topic, std::string_view bytes);
  /// The same of a plain value, which is read by read_plain().
  template <class T>
  void post_plain(Topic topic, const T& value) {
    post(topic, {reinterpret_cast<const char*>(&value), sizeof value});
  }
  /// Waits for the turn. False if the other side is gone: see abandon().
  bool await();
  /// Of the message that is there; the broker has to check what it gets.
  Topic topic() const { return static_cast<Topic>(shared_->topic); }
  std::string bytes() const;
  /// As many bytes as T has, or as there are.
  template <class T>
  T plain() const {
    T value;
    copy(&value, sizeof value);
    return value;
  }
  /// From any thread of the broker: the jail is no more.
  void abandon();

  CrashNote& crash() { return shared_->crash; }

 private:
  struct Shared {
    std::atomic<std::uint32_t> turn;  ///< a Side, or kGone. At first the broker's, who says what to do
    std::atomic<std::uint32_t> asleep[2];
    std::uint32_t topic;
    std::uint32_t size;
    CrashNote crash;
  };
  static constexpr std::uint32_t kGone = 2;
  static constexpr std::size_t kBody = kBytes - kMost;  ///< where messages begin
  static_assert(sizeof(Shared) <= kBody);

  char* body() const { return reinterpret_cast<char*>(shared_) + kBody; }
  void copy(void* to, std::size_t size) const;
  Side other() const { return side_ == Side::jail ? Side::broker : Side::jail; }
  std::uint32_t turn() const { return shared_->turn.load(std::memory_order_acquire); }

  Shared* shared_;
  Side side_;
};

}  // namespace shardlings::boundary
