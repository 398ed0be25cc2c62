#include "boundary/broker/jailed_rank.h"

#include <stdexcept>

#include "api/port_server.h"
#include "base/machine_fault.h"

namespace shardlings::boundary {

using detail::PortServer;

namespace {

// A harness calls the learner's functions by their bare names, as they are written in the lesson. Which rank a call is
// of says the thread that it comes from: each rank has one.
thread_local JailedRank* t_jail = nullptr;

[[noreturn]] void throw_damaged() {
  throw std::runtime_error(
      "what the program and its runtime tell each other is damaged: something wrote over that memory. An index outside "
      "of its std::vector is the usual reason");
}

}  // namespace

OnThisThread::OnThisThread(JailedRank& jail, Rank& rank) {
  jail.port_ = detail::Access::port(rank);
  t_jail = &jail;
}

OnThisThread::~OnThisThread() {
  t_jail = nullptr;
}

JailedRank& JailedRank::of_this_thread() {
  if (t_jail == nullptr)
    throw std::logic_error("the learner's functions are not in this process, and there is no jail");
  return *t_jail;
}

void JailedRank::abandon(WaitStatus status) {
  if (gone_.exchange(true)) return;  // the first word counts: what comes later is of the process that kept it
  status_ = status;
  mailbox_.abandon();
}

void JailedRank::cannot_start(int error) {
  start_error_ = error;
  abandon(0);
}

Receiver JailedRank::receiver(const Returned& returned) {
  return {returned.bytes, port_, *port_->harness()};
}

Returned JailedRank::invoke(std::string_view message) {
  mailbox_.post(Topic::invoke, message);
  while (true) {
    if (!mailbox_.await()) {
      if (start_error_ != 0) throw MachineFault(with_advice("a jail could not be started", start_error_));
      // No process has ended: the jail has written over the word that says whose turn it is.
      if (!gone_) throw_damaged();
      on_end_(status_);
    }
    switch (mailbox_.topic()) {
      case Topic::call: answer_call(); break;
      case Topic::define: mailbox_.post_plain(Topic::text_id, PortServer::define(*port_, mailbox_.bytes())); break;
      case Topic::text_of:
        mailbox_.post(Topic::text, PortServer::text_of(*port_, mailbox_.plain<detail::TextId>()));
        break;
      case Topic::error_text: mailbox_.post(Topic::text, PortServer::error_text(*port_)); break;
      case Topic::returned: return {false, mailbox_.bytes()};
      case Topic::threw: return {true, mailbox_.bytes()};
      default: throw_damaged();
    }
  }
}

void JailedRank::answer_call() {
  mailbox_.post_plain(Topic::reply, PortServer::answer(*port_, mailbox_.plain<detail::Call>()));
}

}  // namespace shardlings::boundary
