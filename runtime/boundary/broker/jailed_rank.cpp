#include "boundary/broker/jailed_rank.h"

#include <fmt/format.h>

#include <stdexcept>

#include "api/port_server.h"
#include "api/verbs.h"
#include "base/machine_fault.h"
#include "base/text.h"

namespace shardlings::boundary {

using detail::PortServer;

namespace {

// A harness calls the learner's functions by their bare names, as they are written in the lesson. Which rank a call is
// of says the thread that it comes from: each rank has one.
thread_local JailedRank* t_jail = nullptr;

constexpr std::string_view kHarness = "harness.cpp";
constexpr int kMostRefusals = 10'000;  ///< one after another
constexpr std::int32_t kNowhere = -1;  ///< the line of a learner's call that stands nowhere

[[noreturn]] void throw_damaged() {
  throw std::runtime_error(
      "what the program and its runtime tell each other is damaged: something wrote over that memory. An index outside "
      "of its std::vector is the usual reason");
}

[[noreturn]] void throw_too_large(std::uint64_t bytes) {
  throw InvalidArgument(fmt::format("what the learner's function returns, and leaves in its arguments, takes {} bytes, "
                                    "and {} can come back: some std::vector has a wrong size",
                                    bytes, Mailbox::kMost)
                            .c_str(),
                        {});
}

}  // namespace

OnThisThread::OnThisThread(JailedRank& jail, Rank& rank) {
  jail.port_ = detail::Access::port(rank);
  t_jail = &jail;
}

OnThisThread::~OnThisThread() {
  t_jail = nullptr;
}

LetsCallsIn::LetsCallsIn() {
  if (t_jail != nullptr) t_jail->lets_calls_in_ = true;
}

LetsCallsIn::~LetsCallsIn() {
  if (t_jail != nullptr) t_jail->lets_calls_in_ = false;
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
      case Topic::too_large: throw_too_large(mailbox_.plain<std::uint64_t>());
      default: throw_damaged();
    }
  }
}

// What a call says of its place is the jail's to make up. Only places in the learner's file are let in; line 0 would
// say that the harness has called, which no budget counts.
void JailedRank::clear_place(detail::PackedLocation& at) {
  if (at.line <= 0 || !is_source(at.file)) at = {is_text(at.file) ? 0 : at.file, kNowhere};
}

// A number that no text has is not kept, since there are too many, and stays what it is: that call is refused.
bool JailedRank::is_text(detail::TextId file) const {
  return file == 0 || !PortServer::text_of(*port_, file).empty();
}

bool JailedRank::is_source(detail::TextId file) {
  if (const auto known = is_source_.find(file); known != is_source_.end()) return known->second;
  const std::string name = PortServer::text_of(*port_, file);
  const std::string_view base = base_name(name);
  const bool is = source_.empty() ? !base.empty() && base != kHarness : base == source_;
  if (!name.empty()) is_source_.emplace(file, is);
  return is;
}

/// The sentence of a wrong call begins with the place that the jail has told.
detail::TextId JailedRank::without_place(detail::TextId sentence, detail::PackedLocation place) const {
  const std::string file = PortServer::text_of(*port_, place.file), text = PortServer::text_of(*port_, sentence);
  const std::string told = to_text(Location{file.c_str(), place.line});
  return text.starts_with(told + ": ") ? PortServer::define(*port_, "somewhere" + text.substr(told.size())) : sentence;
}

/// A call in its place that is answered with an error.
detail::Call JailedRank::refused(const detail::Call& call) const {
  detail::Call wrong;
  wrong.verb = detail::Verb::refuse;
  wrong.at = call.at;
  wrong.text = PortServer::define(*port_,
                                  "this function is asked for an answer, beside the run that is counted and "
                                  "timed: it may not call the runtime");
  return wrong;
}

void JailedRank::answer_call() {
  auto call = mailbox_.plain<detail::Call>();
  const bool is_verb = static_cast<int>(call.verb) < detail::kVerbs;
  const bool is_released = is_verb && detail::spec_of(call.verb).released;
  const detail::PackedLocation told = call.at;
  if (!is_released) clear_place(call.at);
  if (is_verb && call.verb == detail::Verb::refuse && call.at.line == kNowhere) {
    call.text = without_place(call.text, told);
  }
  const bool counts = is_released || lets_calls_in_ || port_->harness()->measures();
  const detail::Reply reply = PortServer::answer(*port_, counts ? call : refused(call));
  refusals_ = reply.error == detail::ErrorKind::none ? 0 : refusals_ + 1;
  // It catches every error and calls again, of which it would never tire: the error that it has caught is what is
  // wrong.
  if (refusals_ > kMostRefusals) PortServer::raise(*port_, reply);
  mailbox_.post_plain(Topic::reply, reply);
}

}  // namespace shardlings::boundary
