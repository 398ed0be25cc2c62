#include "front/remote/remote_control.h"

#include "front/group/splitting.h"
#include "shardlings/error.h"

namespace shardlings::front {

using remote::Answer;
using remote::Reader;
using remote::Request;
using remote::Writer;

namespace {

constexpr int kServer = 0;  // the process
/// A rank polls so often before it tells that it waits: mostly the others' posts are on their way, and the server has
/// less to do.
constexpr int kPolls = 20;

}  // namespace

RemoteControl::RemoteControl(back::Progress& progress, back::Fabric& fabric, int ranks, const Cluster& cluster,
                             Range own, BlackBox* black_box)
    : progress_(progress),
      fabric_(fabric),
      engine_(back::make_threads_engine()),
      own_(own),
      black_box_(black_box),
      ranks_(static_cast<std::size_t>(own.size())) {
  const GroupInfo world = world_of(ranks, CostModel(cluster));
  for (Count rank = own.begin; rank < own.end; ++rank) {
    OfRank& of = ranks_[static_cast<std::size_t>(rank - own.begin)];
    of.infos.push_back(world);
    of.groups.push_back({&of.infos.back(), static_cast<std::int32_t>(rank)});
    note(static_cast<int>(rank), RankState::running);
  }
  progress_.on(back::Channel::ranks, [this](int, std::string_view message) { hear(message); });
}

RemoteControl::~RemoteControl() {
  progress_.on(back::Channel::ranks, {});
}

Membership RemoteControl::world(int rank) {
  return own(rank).groups.front();
}

RemoteControl::Joined& RemoteControl::joined_of(const Ticket& ticket) {
  return *reinterpret_cast<Joined*>(ticket.operation);
}

std::unique_ptr<RemoteControl::Joined> RemoteControl::new_joined(std::uint32_t group) {
  auto joined = std::make_unique<Joined>(fabric_.make_exchange(), *engine_);
  joined->group = group;
  return joined;
}

Ticket RemoteControl::add(int rank, std::unique_ptr<Joined> joined, int members, int member) {
  joined->mover.begin(members);
  const Ticket ticket{reinterpret_cast<std::uint64_t>(joined.get()), member, &joined->mover};
  progress_.locked([&] {
    joined->number = ++own(rank).last;
    own(rank).joined.emplace(joined->number, std::move(joined));
  });
  return ticket;
}

Ticket RemoteControl::join(int rank, std::uint32_t group) {
  const Membership& in = own(rank).groups[group];
  return add(rank, new_joined(group), static_cast<int>(in.group->members->size()), in.member);
}

Ticket RemoteControl::join_message(int rank, std::uint32_t group, int from, int to) {
  auto joined = new_joined(group);
  joined->message = true;
  joined->from = from;
  joined->to = to;
  return add(rank, std::move(joined), 2, own(rank).groups[group].member == from ? 0 : 1);
}

Writer RemoteControl::request(Request what, int rank) const {
  Writer message;
  message << what << rank;
  return message;
}

void RemoteControl::note(int rank, RankState state) const {
  if (black_box_ != nullptr) black_box_->entries[rank].state.store(static_cast<std::uint32_t>(state));
}

void RemoteControl::tell(const Writer& message) {
  progress_.locked([&] { progress_.send(kServer, back::Channel::server, message.bytes()); });
}

void RemoteControl::post(int rank, const Ticket& ticket, const CallRecord& record, back::DataHandle data) {
  const Joined& joined = joined_of(ticket);
  Writer message = request(joined.message ? Request::post_message : Request::post, rank);
  message << joined.number << joined.group;
  if (joined.message) message << joined.from << joined.to;
  message << record << data;
  tell(message);
}

// Whoever waits gives up only when nothing of this process is under way any more: the memory of its tensors is in use
// until then. All processes of an operation's members hear of it before they hear that the run has failed, so it does
// come to its end.
template <class IsThere>
void RemoteControl::await(int rank, const Writer& message, Location at, WaitsFor what, IsThere is_there) {
  const std::uint32_t before = revocation().number;
  const auto is_revoked = [&] { return what == WaitsFor::others && revocation_.number != before; };
  note(rank, RankState::blocked);
  tell(message);
  progress_.wait_until(
      [&] { return is_there() || is_revoked() || (aborted() && progress_.transport().under_way() == 0); });
  note(rank, RankState::running);
  if (progress_.locked(is_there)) return;
  if (progress_.locked(is_revoked)) throw Revoked{revocation()};
  throw Aborted("the run has failed; see its report", at);
}

Outcome RemoteControl::wait(int rank, const Ticket& ticket, Location at) {
  const Joined& joined = joined_of(ticket);
  const auto is_there = [&] { return joined.outcome.has_value(); };
  if (!progress_.wait_briefly(is_there, kPolls)) {
    Writer message = request(Request::wait, rank);
    message << joined.number << at;
    await(rank, message, at, WaitsFor::others, is_there);
  }
  return progress_.locked([&] { return *joined.outcome; });
}

SplitOutcome RemoteControl::wait_split(int rank, const Ticket& ticket, Location at) {
  Writer message = request(Request::wait_split, rank);
  message << joined_of(ticket).number << at;
  await(rank, message, at, WaitsFor::others, [&] { return own(rank).split.has_value(); });
  leave(rank, ticket);
  return progress_.locked([&] { return *std::exchange(own(rank).split, std::nullopt); });
}

int RemoteControl::wait_for_any(int rank, std::uint32_t group, const CallRecord& record, Location at) {
  Writer message = request(Request::wait_for_any, rank);
  message << group << record << at;
  await(rank, message, at, WaitsFor::others, [&] { return own(rank).sender.has_value(); });
  return progress_.locked([&] { return *std::exchange(own(rank).sender, std::nullopt); });
}

void RemoteControl::wait_to_look(int rank, Nanos time, Location at) {
  Writer message = request(Request::wait_to_look, rank);
  message << time << at;
  await(rank, message, at, WaitsFor::its_turn, [&] { return own(rank).may_look; });
  progress_.locked([&] { own(rank).may_look = false; });
}

Agreement RemoteControl::agree(int rank, Nanos posted, Count says, Location at) {
  Writer message = request(Request::agree, rank);
  message << posted << says << at;
  await(rank, message, at, WaitsFor::its_turn, [&] { return own(rank).agreement.has_value(); });
  return progress_.locked([&] { return *std::exchange(own(rank).agreement, std::nullopt); });
}

void RemoteControl::die(int rank, Nanos died) {
  note(rank, RankState::dead);
  Writer message = request(Request::die, rank);
  message << died;
  tell(message);
}

Revocation RemoteControl::revocation() {
  return progress_.locked([&] { return revocation_; });
}

bool RemoteControl::is_agreed(int, const Ticket& ticket) {
  return progress_.locked([&] { return joined_of(ticket).outcome.has_value(); });
}

void RemoteControl::clear_lanes(int rank) {
  tell(request(Request::clear_lanes, rank));
}

void RemoteControl::leave(int rank, const Ticket& ticket) {
  progress_.locked([&] { own(rank).joined.erase(joined_of(ticket).number); });
}

std::optional<Outcome> RemoteControl::known(const Ticket& ticket) const {
  return joined_of(ticket).outcome;
}

void RemoteControl::restart_clock(int rank) {
  tell(request(Request::restart_clock, rank));
}

void RemoteControl::finish(int rank, const std::optional<Failure>& failure, const std::string& last_call,
                           Location last) {
  note(rank, failure ? RankState::failed : RankState::finished);
  Writer message = request(Request::finish, rank);
  message << failure << last_call << last;
  tell(message);
}

void RemoteControl::await_end() {
  progress_.wait_until([&] { return over_ && progress_.transport().under_way() == 0; });
}

RemoteControl::OfRank& RemoteControl::addressee(Reader& message) {
  const int rank = message.get<int>();
  return ranks_[static_cast<std::size_t>(
      remote::checked_index(rank - static_cast<int>(own_.begin), static_cast<int>(ranks_.size())))];
}

void RemoteControl::hear(std::string_view bytes) {
  Reader message(bytes);
  switch (message.get<Answer>()) {
    case Answer::agreed: return hear_outcome(message);
    case Answer::split: return hear_split(message);
    case Answer::any: {
      OfRank& of = addressee(message);
      of.sender = message.get<int>();
      return;
    }
    case Answer::look: addressee(message).may_look = true; return;
    case Answer::agreement: return hear_agreement(message);
    case Answer::revoked: message >> revocation_; return;
    case Answer::aborted: aborted_ = true; return;
    case Answer::over:
      over_ = true;
      failed_ = message.get<bool>();
      return;
  }
}

// Its data are on their way from here on, whatever the rank does.
void RemoteControl::hear_outcome(Reader& message) {
  OfRank& of = addressee(message);
  const auto found = of.joined.find(message.get<std::uint64_t>());
  if (found == of.joined.end()) return;
  Joined& joined = *found->second;
  Outcome outcome{};
  read_outcome(message, outcome, joined.handles);
  joined.mover.launch(outcome.signature, outcome.handles);
  joined.outcome = outcome;
}

void RemoteControl::hear_split(Reader& message) {
  OfRank& of = addressee(message);
  SplitOutcome outcome;
  message >> outcome.start >> outcome.end;
  outcome.made = read_group(of, message);
  of.split = outcome;
}

std::optional<Membership> RemoteControl::read_group(OfRank& of, Reader& message) {
  if (!message.get<bool>()) return std::nullopt;
  of.infos.push_back(message.get<GroupInfo>());
  of.groups.push_back({&of.infos.back(), message.get<std::int32_t>()});
  return of.groups.back();
}

void RemoteControl::hear_agreement(Reader& message) {
  OfRank& of = addressee(message);
  Agreement agreement;
  message >> agreement.time;
  agreement.said = std::make_shared<const std::vector<Count>>(message.get<std::vector<Count>>());
  agreement.made = read_group(of, message);
  of.agreement = agreement;
}

}  // namespace shardlings::front
