#include "front/remote/control_server.h"

#include <fmt/format.h>

#include "front/remote/relay.h"
#include "shardlings/error.h"

namespace shardlings::front {

using remote::Answer;
using remote::Reader;
using remote::Request;
using remote::Writer;

namespace {

Writer answer_for(Answer what, int rank) {
  Writer message;
  message << what << rank;
  return message;
}

std::size_t index(int rank) {
  return static_cast<std::size_t>(rank);
}

}  // namespace

ControlServer::ControlServer(back::Progress& progress, const Setting& setting)
    : progress_(progress),
      setting_(setting),
      engine_(std::make_unique<RelayEngine>()),
      fabric_(std::make_unique<RelayFabric>()),
      control_(std::make_unique<SharedControl>(setting.ranks, *setting.cluster, *engine_, *fabric_, setting.black_box,
                                               setting.checks)),
      tickets_(index(setting.ranks)),
      waiting_(index(setting.ranks)),
      finished_(index(setting.ranks)),
      gone_(index(progress.processes())),
      left_(setting.ranks) {
  if (setting.detection) control_->expect_deaths(*setting.detection);
  progress_.on(back::Channel::server, [this](int, std::string_view message) { hear(message); });
}

ControlServer::~ControlServer() {
  progress_.on(back::Channel::server, {});
}

void ControlServer::hear(std::string_view bytes) {
  Reader message(bytes);
  const auto what = message.get<Request>();
  const int rank = remote::checked_index(message.get<int>(), setting_.ranks);
  if (finished_[index(rank)]) return;  // of a process that was given up
  switch (what) {
    case Request::post: post(rank, message, false); break;
    case Request::post_message: post(rank, message, true); break;
    case Request::wait: wait(rank, message); break;
    case Request::wait_split: wait_split(rank, message); break;
    case Request::wait_for_any: wait_for_any(rank, message); break;
    case Request::wait_to_look: wait_to_look(rank, message); break;
    case Request::agree: agree(rank, message); break;
    case Request::die: die(rank, message); break;
    case Request::clear_lanes: control_->clear_lanes(rank); break;
    case Request::restart_clock: control_->restart_clock(rank); break;
    case Request::finish: finish(rank, message); break;
  }
  answer_all();
}

void ControlServer::post(int rank, Reader& message, bool is_message) {
  const auto number = message.get<std::uint64_t>();
  const auto group = message.get<std::uint32_t>();
  const int from = is_message ? message.get<int>() : 0, to = is_message ? message.get<int>() : 0;
  const Ticket ticket = is_message ? control_->join_message(rank, group, from, to) : control_->join(rank, group);
  const auto record = message.get<CallRecord>();
  tickets_[index(rank)].emplace(number, ticket);
  fabric_->set_poster({rank, number, ticket});
  ticket.mover->post(ticket.member, record.signature, {});
  control_->post(rank, ticket, record, message.get<back::DataHandle>());
}

// If the operation is agreed by now, the rank has been told.
void ControlServer::wait(int rank, Reader& message) {
  const auto found = tickets_[index(rank)].find(message.get<std::uint64_t>());
  if (found != tickets_[index(rank)].end()) control_->blocks(rank, found->second, message.get<Location>());
}

void ControlServer::wait_split(int rank, Reader& message) {
  const auto number = message.get<std::uint64_t>();
  const Ticket ticket = tickets_[index(rank)].at(number);
  waiting_[index(rank)] = Waiting{Answer::split, ticket, message.get<Location>(), number};
}

void ControlServer::wait_for_any(int rank, Reader& message) {
  const auto group = message.get<std::uint32_t>();
  const auto record = message.get<CallRecord>();
  const auto at = message.get<Location>();
  waiting_[index(rank)] = Waiting{Answer::any, control_->begin_any(rank, group, record), at};
}

void ControlServer::wait_to_look(int rank, Reader& message) {
  const auto time = message.get<Nanos>();
  const auto at = message.get<Location>();
  waiting_[index(rank)] = Waiting{Answer::look, control_->begin_look(rank, time, at), at};
}

void ControlServer::agree(int rank, Reader& message) {
  const auto posted = message.get<Nanos>();
  const auto says = message.get<Count>();
  const auto at = message.get<Location>();
  waiting_[index(rank)] = Waiting{Answer::agreement, control_->begin_agree(rank, posted, says, at), at};
}

// What it has posted stays posted.
void ControlServer::die(int rank, Reader& message) {
  finished_[index(rank)] = true;
  waiting_[index(rank)].reset();
  --left_;
  control_->die(rank, message.get<Nanos>());
}

void ControlServer::finish(int rank, Reader& message) {
  const auto failure = message.get<std::optional<Failure>>();
  const auto last_call = message.get<std::string>();
  finish(rank, failure, last_call, message.get<Location>());
}

void ControlServer::finish(int rank, const std::optional<Failure>& failure, const std::string& last_call,
                           Location last) {
  finished_[index(rank)] = true;
  waiting_[index(rank)].reset();
  --left_;
  control_->finish(rank, failure, last_call, last);
}

void ControlServer::fail(const back::Fault& fault) {
  Failure failure;
  failure.message = fault.what;
  failure.no_memory = fault.no_memory;
  control_->fail(failure);
  answer_all();
}

void ControlServer::process_gone(int process, const std::string& why) {
  gone_.at(index(process)) = true;
  for (int rank = 0; rank < setting_.ranks; ++rank) {
    if (setting_.process_of(rank) != process || finished_[index(rank)]) continue;
    Failure failure;
    failure.rank = rank;
    failure.message = fmt::format("the process of rank {} {}", rank, why);
    finish(rank, failure, "something", {});
  }
  answer_all();
}

void ControlServer::send(int rank, const Writer& message) {
  const int process = setting_.process_of(rank);
  if (!is_gone(process)) progress_.send(process, back::Channel::ranks, message.bytes());
}

void ControlServer::answer_all() {
  send_agreed();
  send_answers();
  send_revocation();
  send_end();
}

void ControlServer::send_agreed() {
  for (const std::vector<RelayMember>& members : fabric_->take_agreed()) {
    for (const RelayMember& member : members) {
      Writer message = answer_for(Answer::agreed, member.rank);
      message << member.number << control_->wait(member.rank, member.ticket, {});
      send(member.rank, message);
    }
    for (const RelayMember& member : members) {
      control_->leave(member.rank, member.ticket);
      tickets_[index(member.rank)].erase(member.number);
    }
  }
}

// Whoever blocks last may let somebody else go on, who was asked about before: then all are asked about again.
void ControlServer::send_answers() {
  for (bool again = true; again; again = engine_->take_woken()) {
    for (int rank = 0; rank < setting_.ranks; ++rank) {
      std::optional<Waiting>& waiting = waiting_[index(rank)];
      if (!waiting || fabric_->aborted() || control_->blocks(rank, waiting->ticket, waiting->at)) continue;
      if (fabric_->aborted()) continue;
      send_answer(rank, *std::exchange(waiting, std::nullopt));
    }
  }
}

// Who goes on knows of all deaths before; and that is the answer to who waited for others when somebody died.
void ControlServer::send_answer(int rank, const Waiting& waiting) {
  send_revocation();
  try {
    send(rank, answer_to(rank, waiting));
  } catch (const Revoked&) {
    return;
  }
}

Writer ControlServer::answer_to(int rank, const Waiting& waiting) {
  Writer message = answer_for(waiting.answer, rank);
  const auto put = [&](const std::optional<Membership>& made) {
    message << made.has_value();
    if (made) message << *made->group << made->member;
  };
  if (waiting.answer == Answer::split) {
    const SplitOutcome outcome = control_->wait_split(rank, waiting.ticket, waiting.at);
    tickets_[index(rank)].erase(waiting.number);
    message << outcome.start << outcome.end;
    put(outcome.made);
  } else if (waiting.answer == Answer::any) {
    message << control_->end_any(rank, waiting.ticket, waiting.at);
  } else if (waiting.answer == Answer::look) {
    control_->end_look(rank, waiting.ticket, waiting.at);
  } else {
    const Agreement agreement = control_->end_agree(rank, waiting.ticket, waiting.at);
    message << agreement.time << *agreement.said;
    put(agreement.made);
  }
  return message;
}

void ControlServer::send_revocation() {
  const Revocation now = control_->revocation();
  if (std::exchange(revocations_, now.number) == now.number) return;
  Writer message;
  message << Answer::revoked << now;
  send_to_all(message);
}

void ControlServer::send_to_all(const Writer& message) {
  for (int process = 0; process < progress_.processes(); ++process) {
    if (!is_gone(process)) progress_.send(process, back::Channel::ranks, message.bytes());
  }
}

void ControlServer::send_end() {
  if (fabric_->aborted() && !std::exchange(has_told_of_abort_, true)) {
    Writer message;
    message << Answer::aborted;
    send_to_all(message);
  }
  if (left_ == 0 && !std::exchange(has_told_of_end_, true)) {
    Writer message;
    message << Answer::over << control_->failure().has_value();
    send_to_all(message);
  }
}

}  // namespace shardlings::front
