#include "support/forked_control.h"

#include "shardlings/error.h"

namespace shardlings::support {

using back::DataHandle;
using front::CallRecord;
using front::Failure;
using front::GroupInfo;
using front::Membership;
using front::Outcome;
using front::Ticket;

ForkedControl::ForkedControl(Channel& server, std::shared_ptr<SharedArena> arena, back::Fabric& fabric,
                             const Membership& world)
    : server_(server), arena_(std::move(arena)), fabric_(fabric), engine_(back::make_threads_engine()) {
  infos_.push_back(*world.group);
  groups_.push_back({&infos_.back(), world.member});
}

Reader ForkedControl::ask(const Writer& message) {
  server_.send(message);
  std::optional<Reader> answer = server_.receive();
  if (!answer) throw Aborted("the server of this rank is gone", {});
  return std::move(*answer);
}

Reader ForkedControl::ask_patiently(const Writer& message, Location at) {
  Reader answer = ask(message);
  switch (answer.get<Waited>()) {
    case Waited::well: break;
    case Waited::aborted: throw Aborted("the run has failed; see its report", at);
    case Waited::revoked: throw front::Revoked{answer.get<front::Revocation>()};
  }
  return answer;
}

Reader ForkedControl::ask_for(Request request, const Ticket& ticket, Location at) {
  Writer message;
  message << request << joined_.at(ticket.operation).at_server << ticket.member << at;
  return ask_patiently(message, at);
}

Membership ForkedControl::add(const GroupInfo& group, std::int32_t member) {
  infos_.push_back(group);
  groups_.push_back({&infos_.back(), member});
  return groups_.back();
}

Ticket ForkedControl::add(Joined joined, int members, int member) {
  joined.mover = std::make_unique<front::Mover>(fabric_.make_exchange(), *engine_);
  joined.mover->begin(members);
  const Ticket ticket{++last_, member, joined.mover.get()};
  joined_.emplace(ticket.operation, std::move(joined));
  return ticket;
}

Ticket ForkedControl::join(int, std::uint32_t group) {
  const Membership& in = groups_.at(group);
  Joined joined;
  joined.group = group;
  return add(std::move(joined), static_cast<int>(in.group->members->size()), in.member);
}

Ticket ForkedControl::join_message(int, std::uint32_t group, int from, int to) {
  Joined joined;
  joined.group = group;
  joined.message = true;
  joined.from = from;
  joined.to = to;
  return add(std::move(joined), 2, groups_.at(group).member == from ? 0 : 1);
}

void ForkedControl::post(int, const Ticket& ticket, const CallRecord& record, DataHandle data) {
  Joined& joined = joined_.at(ticket.operation);
  Writer message;
  message << (joined.message ? Request::post_message : Request::post) << joined.group;
  if (joined.message) message << joined.from << joined.to;
  message << record << data;
  joined.at_server = ask(message).get<std::uint64_t>();
}

Outcome ForkedControl::wait(int, const Ticket& ticket, Location at) {
  Reader answer = ask_for(Request::wait, ticket, at);
  Outcome outcome;
  answer >> outcome.start >> outcome.end >> outcome.label >> outcome.signature;
  std::vector<DataHandle>& handles = joined_.at(ticket.operation).handles;
  handles = answer.get<std::vector<DataHandle>>();
  outcome.handles = handles;
  return outcome;
}

front::SplitOutcome ForkedControl::wait_split(int, const Ticket& ticket, Location at) {
  Reader answer = ask_for(Request::wait_split, ticket, at);
  joined_.erase(ticket.operation);
  front::SplitOutcome outcome;
  answer >> outcome.start >> outcome.end;
  if (const auto made = answer.get<std::optional<GroupInfo>>()) {
    outcome.made = add(*made, answer.get<std::int32_t>());
  }
  return outcome;
}

int ForkedControl::wait_for_any(int, std::uint32_t group, const CallRecord& record, Location at) {
  Writer message;
  message << Request::wait_for_any << group << record << at;
  return ask_patiently(message, at).get<int>();
}

void ForkedControl::wait_to_look(int, Nanos time, Location at) {
  Writer message;
  message << Request::wait_to_look << time << at;
  ask_patiently(message, at);
}

front::Agreement ForkedControl::agree(int, Nanos posted, Count says, Location at) {
  Writer message;
  message << Request::agree << posted << says << at;
  Reader answer = ask_patiently(message, at);
  front::Agreement agreement;
  answer >> agreement.time;
  agreement.said = std::make_shared<const std::vector<Count>>(answer.get<std::vector<Count>>());
  if (const auto made = answer.get<std::optional<GroupInfo>>()) {
    agreement.made = add(*made, answer.get<std::int32_t>());
  }
  return agreement;
}

void ForkedControl::die(int, Nanos died) {
  Writer message;
  message << Request::die << died;
  ask(message);
}

front::Revocation ForkedControl::revocation() {
  Writer message;
  message << Request::revocation;
  return ask(message).get<front::Revocation>();
}

bool ForkedControl::is_agreed(int, const Ticket& ticket) {
  Writer message;
  message << Request::is_agreed << joined_.at(ticket.operation).at_server << ticket.member;
  return ask(message).get<bool>();
}

void ForkedControl::clear_lanes(int) {
  Writer message;
  message << Request::clear_lanes;
  ask(message);
}

// The server has left when it answered the wait.
void ForkedControl::leave(int, const Ticket& ticket) {
  joined_.erase(ticket.operation);
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

Reader ForkedStore::ask(const Writer& message) {
  server_.send(message);
  std::optional<Reader> answer = server_.receive();
  if (!answer) throw Aborted("the server of this rank is gone", {});
  return std::move(*answer);
}

void ForkedStore::give(const front::ItemName& name, const front::Content& content) {
  Writer message;
  message << Request::store_give << name << content;
  ask(message);
}

void ForkedStore::begin() {
  Writer message;
  message << Request::store_begin;
  ask(message);
}

void ForkedStore::write(const front::ItemWrite& write) {
  Writer message;
  message << Request::store_write << write;
  ask(message);
}

void ForkedStore::rename(const front::FolderRename& rename) {
  Writer message;
  message << Request::store_rename << rename;
  ask(message);
}

void ForkedStore::bury(int, Nanos died) {
  Writer message;
  message << Request::store_bury << died;
  ask(message);
}

front::ItemState ForkedStore::look(Nanos time, const front::ItemName& name) {
  Writer message;
  message << Request::store_look << time << name;
  return ask(message).get<front::ItemState>();
}

bool ForkedStore::has_folder(Nanos time, const std::string& folder) {
  Writer message;
  message << Request::store_has_folder << time << folder;
  return ask(message).get<bool>();
}

}  // namespace shardlings::support
