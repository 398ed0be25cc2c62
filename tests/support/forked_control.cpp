#include "support/forked_control.h"

#include "shardlings/error.h"

namespace shardlings::support {

using front::CallRecord;
using front::Failure;
using front::GroupInfo;
using front::Outcome;
using front::Ticket;

Reader ForkedControl::ask(const Writer& message) {
  server_.send(message);
  std::optional<Reader> answer = server_.receive();
  if (!answer) throw Aborted("the server of this rank is gone", {});
  return std::move(*answer);
}

Ticket ForkedControl::start(Writer message, int member, const CallRecord& record, const back::Buffers& buffers) {
  Started started;
  started.exchange = fabric_.make_exchange();
  started.member = member;
  started.exchange->begin(record.plan.members);
  message << record << started.exchange->post(member, record.plan, buffers);
  const auto ticket = ask(message).get<Ticket>();
  started_.insert_or_assign(ticket, std::move(started));
  return ticket;
}

Ticket ForkedControl::post(int, std::uint32_t group, int member, const CallRecord& record,
                           const back::Buffers& buffers) {
  Writer message;
  message << Request::post << group << member;
  return start(std::move(message), member, record, buffers);
}

Ticket ForkedControl::post_message(int, std::uint32_t group, int from, int to, bool sends, const CallRecord& record,
                                   const back::Buffers& buffers) {
  Writer message;
  message << Request::post_message << group << from << to << sends;
  return start(std::move(message), sends ? 0 : 1, record, buffers);
}

Outcome ForkedControl::wait(int, Ticket ticket, Location at) {
  Writer message;
  message << Request::wait << ticket << at;
  Reader answer = ask(message);
  if (!answer.get<bool>()) throw Aborted("the run has failed; see its report", at);
  const auto outcome = answer.get<Outcome>();
  const auto plan = answer.get<back::Plan>();
  const auto cookies = answer.get<std::vector<std::uint64_t>>();
  const Started started = std::move(started_.at(ticket));
  started_.erase(ticket);
  if (!started.exchange->launch(plan, cookies)) {
    while (started.exchange->help(started.member) != back::Progress::complete) {
    }
  }
  started.exchange->finish(started.member);
  return outcome;
}

void ForkedControl::abandon(int, Ticket ticket) noexcept {
  try {
    Writer message;
    message << Request::abandon << ticket;
    ask(message);
  } catch (const std::exception&) {
    // The server is gone, and with it the ticket.
  }
}

front::SplitOutcome ForkedControl::wait_split(int, Ticket ticket, Location at) {
  Writer message;
  message << Request::wait_split << ticket << at;
  Reader answer = ask(message);
  if (!answer.get<bool>()) throw Aborted("the run has failed; see its report", at);
  started_.erase(ticket);
  const auto time = answer.get<Outcome>();
  return {time, answer.get<std::optional<GroupInfo>>()};
}

void ForkedControl::restart_clock(int) {
  Writer message;
  message << Request::restart_clock;
  ask(message);
}

void ForkedControl::finish(int, const std::optional<Failure>& failure, const std::string& last_call, Location last) {
  Writer message;
  message << Request::finish << failure << last_call << last;
  ask(message);
}

}  // namespace shardlings::support
