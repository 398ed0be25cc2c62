#include "front/group/live_situation.h"

#include <unordered_map>

namespace shardlings::front {
namespace {

/// Each meeting once, however many wait in it or behind it.
class Told {
 public:
  explicit Told(Situation& situation) : situation_(situation) {}

  // Over what is queued behind what in a loop: a lane may have hundreds of operations.
  const ToldOperation* operator()(const Meeting* first) {
    const ToldOperation* result = add(first);
    while (!open_.empty()) {
      const auto [meeting, operation] = open_.back();
      open_.pop_back();
      for (std::size_t m = 0; m < meeting->predecessors.size(); ++m) {
        const Meeting* before = operation->posted[m] ? meeting->predecessors[m] : nullptr;
        if (before && !before->resolved.load(std::memory_order_acquire)) operation->queued_behind[m] = add(before);
      }
    }
    return result;
  }

 private:
  ToldOperation* add(const Meeting* meeting) {
    const auto [found, is_new] = known_.try_emplace(meeting, nullptr);
    if (is_new) {
      found->second = &situation_.operations.emplace_back(told(*meeting));
      open_.emplace_back(meeting, found->second);
    }
    return found->second;
  }

  Situation& situation_;
  std::unordered_map<const Meeting*, ToldOperation*> known_;
  std::vector<std::pair<const Meeting*, ToldOperation*>> open_;  ///< whose predecessors have not been looked at
};

}  // namespace

namespace {

void add_possible_senders(ToldOperation& operation, const Meeting& receive) {
  operation.from_any = true;
  for (const int rank : *receive.group->members) {
    if (rank != receive.rank_of(0)) operation.ranks.push_back(rank);
  }
  operation.records.resize(operation.ranks.size());
  operation.posted.resize(operation.ranks.size(), false);
}

// Of the group's calls those that the harness has made do not count: all members have made the same ones.
std::uint64_t number_of(const Meeting& meeting) {
  for (std::size_t m = 0; m < meeting.records.size(); ++m) {
    if (meeting.posted[m] != 0) return meeting.number - meeting.records[m].not_learners;
  }
  return meeting.number;
}

}  // namespace

ToldOperation told(const Meeting& meeting) {
  ToldOperation operation;
  operation.group = meeting.group->name;
  operation.group_first = meeting.group->members->front();
  operation.group_number = meeting.group->number;
  operation.number = number_of(meeting);
  operation.message = meeting.message;
  operation.from = meeting.from;
  operation.to = meeting.to;
  for (int member = 0; member < meeting.members(); ++member) operation.ranks.push_back(meeting.rank_of(member));
  operation.records = meeting.records;
  operation.posted.assign(meeting.posted.begin(), meeting.posted.end());
  if (meeting.inbox != nullptr) add_possible_senders(operation, meeting);
  operation.agreement = meeting.asks == Asks::agreement;
  operation.queued_behind.assign(operation.ranks.size(), nullptr);
  return operation;
}

namespace {

// It needs all ranks that neither are dead nor have returned; those that are there already have called.
void add_awaited(ToldOperation& operation, const std::vector<LiveStatus>& ranks) {
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const RankState state = ranks[r].told.state;
    const bool agrees = ranks[r].blocked_in != nullptr && ranks[r].blocked_in->asks == Asks::agreement;
    if (agrees || state == RankState::dead || state == RankState::finished) continue;
    operation.ranks.push_back(static_cast<int>(r));
    operation.posted.push_back(false);
    operation.records.emplace_back();
    operation.queued_behind.push_back(nullptr);
  }
}

}  // namespace

Situation told(const std::vector<LiveStatus>& ranks, const std::vector<const Meeting*>& mismatches) {
  Situation situation;
  Told tell(situation);
  for (const LiveStatus& live : ranks) {
    situation.ranks.push_back(live.told);
    if (live.blocked_in) situation.ranks.back().blocked_in = tell(live.blocked_in);
  }
  for (ToldOperation& operation : situation.operations) {
    if (operation.agreement) add_awaited(operation, ranks);
  }
  for (const Meeting* meeting : mismatches) situation.mismatches.push_back(tell(meeting));
  return situation;
}

}  // namespace shardlings::front
