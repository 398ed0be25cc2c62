#include "front/group/deaths.h"

#include <algorithm>

namespace shardlings::front {
namespace {

bool is_gone(const LiveStatus& status) {
  return status.told.state == RankState::dead || status.told.state == RankState::finished;
}

bool agrees(const LiveStatus& status) {
  return status.blocked_in != nullptr && status.blocked_in->asks == Asks::agreement;
}

}  // namespace

bool waits_for_others(const LiveStatus& status) {
  if (status.blocked_in == nullptr) return false;
  return status.blocked_in->asks == Asks::members || status.blocked_in->asks == Asks::any_sender;
}

bool all_agree(const std::vector<LiveStatus>& ranks) {
  return std::any_of(ranks.begin(), ranks.end(), agrees) &&
         std::all_of(ranks.begin(), ranks.end(), [](const LiveStatus& rank) { return is_gone(rank) || agrees(rank); });
}

bool Deaths::is_dead(int rank) const {
  return std::any_of(all_.begin(), all_.end(), [&](const PeerDeath& death) { return death.rank == rank; });
}

std::optional<PeerDeath> Deaths::earliest_new() const {
  const auto begin = all_.begin() + static_cast<std::ptrdiff_t>(acknowledged_);
  const auto first = std::min_element(begin, all_.end(), [](const PeerDeath& a, const PeerDeath& b) {
    return std::pair(a.died, a.rank) < std::pair(b.died, b.rank);
  });
  if (first == all_.end()) return std::nullopt;
  return *first;
}

Nanos Deaths::all_known() const {
  Nanos latest;
  for (std::size_t i = acknowledged_; i < all_.size(); ++i) latest = std::max(latest, all_[i].known);
  return latest;
}

bool Deaths::doom_anybody(const std::vector<LiveStatus>& ranks) const {
  if (acknowledged_ == all_.size()) return false;
  const bool agreeing = std::any_of(ranks.begin(), ranks.end(), agrees);
  std::set<const Meeting*> seen;
  return std::any_of(ranks.begin(), ranks.end(), [&](const LiveStatus& status) {
    return waits_for_others(status) && (agreeing || dooms(status.blocked_in, seen));
  });
}

// Over what is queued behind what in a loop: a lane may have hundreds of operations.
bool Deaths::dooms(const Meeting* meeting, std::set<const Meeting*>& seen) const {
  if (meeting->asks == Asks::any_sender) {
    return std::any_of(meeting->group->members->begin(), meeting->group->members->end(),
                       [&](int rank) { return is_dead(rank); });
  }
  std::vector<const Meeting*> open{meeting};
  while (!open.empty()) {
    const Meeting* at = open.back();
    open.pop_back();
    if (!seen.insert(at).second) continue;
    for (int m = 0; m < at->members(); ++m) {
      const auto place = static_cast<std::size_t>(m);
      if (at->posted[place] == 0) {
        if (is_dead(at->rank_of(m))) return true;
        continue;
      }
      const Meeting* before = at->predecessors[place];
      if (before != nullptr && !before->resolved.load(std::memory_order_acquire)) open.push_back(before);
    }
  }
  return false;
}

}  // namespace shardlings::front
