/// \file
/// One rank's jail, from the side of its harness.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "boundary/archive.h"
#include "boundary/mailbox.h"

namespace shardlings::boundary {

/// How a process ended, as waitpid() says it.
using WaitStatus = int;

struct Returned {
  bool threw = false;
  std::string bytes;
};

/// Used by its rank's thread, but for abandon().
class JailedRank {
 public:
  /// `on_end` is told how the jail has ended when a call waits in vain for it; it does not return. `source` is the base
  /// name of the learner's file, in which the jail's calls stand; empty if that is not known.
  JailedRank(void* memory, std::function<void(WaitStatus)> on_end, std::string source = "")
      : mailbox_(memory, Side::broker), on_end_(std::move(on_end)), source_(std::move(source)) {}
  JailedRank(const JailedRank&) = delete;
  JailedRank& operator=(const JailedRank&) = delete;

  /// That of the rank whose harness runs on this thread. Throws std::logic_error if there is none.
  SHARDLINGS_API static JailedRank& of_this_thread();

  /// Calls a function of the learner's, and answers what it asks the port meanwhile. Throws MachineFault if its program
  /// could not be started.
  SHARDLINGS_API Returned invoke(std::string_view message);
  SHARDLINGS_API Receiver receiver(const Returned& returned);
  KnownModels& known_models() { return known_models_; }
  std::deque<std::string>& files() { return files_; }

  /// From another thread: the jail is no more.
  void abandon(WaitStatus status);
  /// The same: its program could not be started, for the reason that the errno tells.
  void cannot_start(int error);
  CrashNote& crash() { return mailbox_.crash(); }

 private:
  friend class OnThisThread;
  friend class LetsCallsIn;
  void answer_call();
  void clear_place(detail::PackedLocation& at);
  bool is_source(detail::TextId file);
  bool is_text(detail::TextId file) const;
  detail::TextId without_place(detail::TextId sentence, detail::PackedLocation place) const;
  detail::Call refused(const detail::Call& call) const;

  Mailbox mailbox_;
  std::function<void(WaitStatus)> on_end_;
  std::string source_;
  std::unordered_map<detail::TextId, bool> is_source_;  ///< of the names of files that its calls have named
  std::atomic<bool> gone_{false};
  std::atomic<WaitStatus> status_{0};
  std::atomic<int> start_error_{0};
  detail::Port* port_ = nullptr;
  bool lets_calls_in_ = false;  ///< beside what is measured, too
  int refusals_ = 0;            ///< calls one after another that were answered with an error
  KnownModels known_models_;
  std::deque<std::string> files_;  ///< of errors
};

/// While it lives, the calls of this thread's harness go to that jail, whose own calls go to the rank's port.
class OnThisThread {
 public:
  OnThisThread(JailedRank& jail, Rank& rank);
  ~OnThisThread();
  OnThisThread(const OnThisThread&) = delete;
  OnThisThread& operator=(const OnThisThread&) = delete;
};

/// While it lives, the calls of this thread's jail are let in beside the measured run, too. Does nothing where the
/// learner's code is in this process, since nothing is refused there.
class SHARDLINGS_API LetsCallsIn {
 public:
  LetsCallsIn();
  ~LetsCallsIn();
  LetsCallsIn(const LetsCallsIn&) = delete;
  LetsCallsIn& operator=(const LetsCallsIn&) = delete;
};

}  // namespace shardlings::boundary
