#include "front/misuse/awaited.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "front/misuse/operation_text.h"

namespace shardlings::front {
namespace {

std::vector<int> only(const std::vector<int>& ranks, auto which) {
  std::vector<int> some;
  std::copy_if(ranks.begin(), ranks.end(), std::back_inserter(some), which);
  return some;
}

std::string last_call_line(const Statuses& ranks, int rank) {
  const RankStatus& gone = ranks[static_cast<std::size_t>(rank)];
  if (gone.state != RankState::finished) return "";  // it waits behind the learner's function, and has a line for that
  return fmt::format(
      "\n  rank {} returned {}", rank,
      gone.last_call.empty() ? "without a call" : fmt::format("after {} at {}", gone.last_call, to_text(gone.last)));
}

}  // namespace

bool has_finished(const Statuses& ranks, int rank) {
  return ranks[static_cast<std::size_t>(rank)].state == RankState::finished;
}

std::vector<int> missing_ranks(const ToldOperation& operation) {
  std::vector<int> missing;
  for (int m = 0; m < operation.members(); ++m) {
    if (!operation.posted[static_cast<std::size_t>(m)]) missing.push_back(operation.rank_of(m));
  }
  return missing;
}

std::vector<int> awaited(const Statuses& ranks, const ToldOperation& operation) {
  std::vector<int> missing = missing_ranks(operation);
  if (!operation.from_any) return missing;
  std::vector<int> senders = only(missing, [&](int rank) {
    const ToldOperation* blocked_in = ranks[static_cast<std::size_t>(rank)].blocked_in;
    return !has_finished(ranks, rank) && (blocked_in == nullptr || !blocked_in->from_any);
  });
  if (!senders.empty()) return senders;
  std::vector<int> gone = only(missing, [&](int rank) { return has_finished(ranks, rank); });
  return gone.empty() ? missing : gone;
}

std::string returned_text(const Statuses& ranks, int absent, const ToldOperation& operation) {
  const std::vector<int> gone = only(missing_ranks(operation), [&](int rank) { return has_finished(ranks, rank); });
  if (!operation.from_any || gone.size() == 1) {
    return fmt::format("desertion: rank {} has returned while others wait for it.{}", absent,
                       last_call_line(ranks, absent));
  }
  std::string text = fmt::format("desertion: {} have returned while rank {} waits for a message from any of them.",
                                 ranks_text(gone), operation.rank_of(0));
  for (std::size_t i = 0; i < std::min(gone.size(), kMostLines); ++i) text += last_call_line(ranks, gone[i]);
  if (gone.size() > kMostLines) text += fmt::format("\n  and {} ranks more", gone.size() - kMostLines);
  return text;
}

}  // namespace shardlings::front
