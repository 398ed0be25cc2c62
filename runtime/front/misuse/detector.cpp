#include "front/misuse/detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/parts.h"
#include "base/text.h"
#include "front/misuse/awaited.h"
#include "front/misuse/operation_text.h"

namespace shardlings::front {
namespace {

constexpr std::size_t kListed = 32;  // ranks of which each has its line
constexpr const char* kHangAdvice =
    "\nThis is no mistake of the program: all ranks have made the same call. Look at the GPUs and the links between "
    "them, or run with --backend cuda or cpu.";

Failure failure_at(FailureKind kind, int rank, Location at, Nanos time, std::string message) {
  return {kind, rank, std::move(message), std::string(base_name(at.file)), at.line, time};
}

Nanos latest_post(const ToldOperation& operation) {
  Nanos latest;
  for (const CallRecord& record : operation.records) latest = std::max(latest, record.posted);
  return latest;
}

std::optional<Failure> failed_rank(const Statuses& ranks) {
  std::optional<Failure> first;
  for (const RankStatus& status : ranks) {
    if (!status.failure) continue;
    if (!first || std::tie(status.failure->time, status.failure->rank) < std::tie(first->time, first->rank)) {
      first = status.failure;
    }
  }
  return first;
}

// A rank whose call differs from the majority's, for "where": with a tie, the last one. Of a gather or scatter whose
// sizes differ, one whose part is not what it should be; of a split, one that gives its group another name.
int odd_member(const ToldOperation& operation, const std::string& what) {
  if (what == "sizes" && is_rooted(operation.records)) return member_with_wrong_part(operation.records);
  if (what == "names") return member_with_other_name(operation.records);
  std::map<std::string, int> votes;
  for (int m = 0; m < operation.members(); ++m) ++votes[call_of(operation, m)];
  int odd = operation.members() - 1;
  for (int m = operation.members() - 1; m >= 0; --m) {
    if (votes[call_of(operation, m)] < votes[call_of(operation, odd)]) odd = m;
  }
  return odd;
}

// "Of the root's 10 elements, part(10, 1) belongs to rank 1: 3 elements."
std::string owed_text(const ToldOperation& operation, int member) {
  const Count count = agreed_signature(operation.records).count;
  return fmt::format("Of the root's {0} elements, part({0}, {1}) is that of {2}: {3} elements.", count, member,
                     ranks_text({operation.rank_of(member)}), part_of(count, operation.members(), member).size());
}

// As where ranks compute a size from their own part of something: no two parts differ by more than one element, and so
// many times the number of members if each rank takes all parts to be as long as its own.
bool sizes_are_of_unequal_parts(const ToldOperation& operation) {
  const auto [least, most] =
      std::minmax_element(operation.records.begin(), operation.records.end(),
                          [](const auto& a, const auto& b) { return a.signature.count < b.signature.count; });
  const Count difference = most->signature.count - least->signature.count, members = operation.members();
  return difference == 1 || (difference == members && most->signature.count % members == 0);
}

bool has_an_empty_end(const ToldOperation& operation) {
  return std::any_of(operation.records.begin(), operation.records.end(),
                     [](const auto& record) { return record.signature.count == 0; });
}

bool is_of_rows(const ToldOperation& operation) {
  return operation.message && operation.records[0].row > 0 && operation.records[kReceiver].row > 0;
}

std::string size_advice(const ToldOperation& operation) {
  if (is_of_rows(operation)) {
    return "\nFor all ranks a and b of the group, sends[b] on rank a must equal receives[a] on rank b.";
  }
  const std::string rule = operation.message
                               ? "\nSend and receive must agree on the number of elements."
                               : "\nThe ranks make the same call with different sizes: the size of the whole is the "
                                 "same on all of them.";
  if (operation.message && has_an_empty_end(operation)) {
    return rule +
           " One end has no elements, the other has some. Was the message of an empty part left out, so that the calls "
           "do "
           "not belong together, or was a size computed from this rank's own part?";
  }
  if (operation.message && operation.records[kReceiver].from_any) {
    return rule +
           " A receive from any rank takes the earliest message, whatever its size: all that are sent to it must be "
           "equally long, or what comes first must say what follows it.";
  }
  if (sizes_are_of_unequal_parts(operation)) {
    return rule +
           " Parts are unequal where the number of elements cannot be divided evenly. Was a size computed from this "
           "rank's own part, as if all parts were as long, or was the part taken of another group?";
  }
  return rule +
         " Do the calls belong together, or has one rank called for another tensor, in another order? Sizes that are "
         "computed from a rank's own part differ, too, where parts are unequal.";
}

const char* mismatch_advice(const ToldOperation& operation, const std::string& what) {
  if (operation.message) return "\nSend and receive must agree on the number of elements and the type.";
  return what == "names" ? "\nAll ranks that split gives the same color must give their group the same name."
                         : "\nAll ranks of a group must make the same calls in the same order, with equal sizes, "
                           "types, roots and reduction operators.";
}

std::optional<Failure> mismatch(const std::vector<const ToldOperation*>& mismatches) {
  if (mismatches.empty()) return std::nullopt;
  // Of several at one time the same must be named in every run: so by the group's first member, and that rank's number
  // of it. No two groups have both in common.
  const auto key = [](const ToldOperation* m) {
    return std::tuple(latest_post(*m), m->group_first, m->group_number, m->message, m->number, m->from, m->to);
  };
  const ToldOperation& first =
      **std::min_element(mismatches.begin(), mismatches.end(),
                         [&](const ToldOperation* a, const ToldOperation* b) { return key(a) < key(b); });
  const std::string what = disagreement(first.records);
  const int odd = odd_member(first, what);
  const CallRecord& record = first.records[static_cast<std::size_t>(odd)];
  std::string message;
  if (first.message) {
    message = fmt::format(
        "mismatch: {} differ between the two ends of a message (number {} from rank {} to rank {} in group {}).", what,
        first.number, first.rank_of(0), first.rank_of(1), first.group);
  } else {
    message = fmt::format("mismatch: {} differ in call number {} of group {}.", what, first.number, first.group);
  }
  const bool rooted = is_rooted(first.records);
  message += calls_text(first);
  message += what == "sizes" && !rooted ? size_advice(first) : mismatch_advice(first, what);
  if (what == "sizes" && rooted) message += "\n" + owed_text(first, odd);
  return failure_at(FailureKind::mismatch, first.rank_of(odd), record.at, latest_post(first), std::move(message));
}

// A member on whose lane an earlier operation holds this one up; -1 if none does.
int held_up_on(const ToldOperation& operation) {
  for (int m = 0; m < operation.members(); ++m) {
    if (operation.queued_behind[static_cast<std::size_t>(m)]) return m;
  }
  return -1;
}

// The operation whose missing ranks hold this one up: itself, or one before it on a member's lane. Where lanes wait for
// one another in a circle there is none, and any of the circle is returned.
const ToldOperation& culprit(const ToldOperation& operation) {
  const ToldOperation* at = &operation;
  std::set<const ToldOperation*> seen;
  while (missing_ranks(*at).empty() && seen.insert(at).second) {
    const int member = held_up_on(*at);
    if (member < 0) break;
    at = at->queued_behind[static_cast<std::size_t>(member)];
  }
  return *at;
}

// ", started at puzzle.cpp:31": of an operation that is waited for at another line than where it was started.
std::string start_text(const RankStatus& status) {
  const Location start = status.blocked_in->records[static_cast<std::size_t>(status.member)].at;
  const bool elsewhere = start.line > 0 && to_text(start) != to_text(status.at);
  return elsewhere ? ", started at " + to_text(start) : "";
}

// It has returned from the learner's function, and waits for the others in the harness, whose calls no learner knows.
bool is_behind_the_run(const Statuses& ranks, int rank) {
  const RankStatus& status = ranks[static_cast<std::size_t>(rank)];
  return status.blocked_in != nullptr && status.blocked_in->agreement && base_name(status.at.file) == "harness.cpp";
}

bool has_returned(const Statuses& ranks, int rank) {
  return has_finished(ranks, rank) || is_behind_the_run(ranks, rank);
}

std::string waiting_line(const Statuses& ranks, int rank) {
  const RankStatus& status = ranks[static_cast<std::size_t>(rank)];
  const ToldOperation& operation = *status.blocked_in;
  if (is_behind_the_run(ranks, rank)) {
    return fmt::format("\n  rank {} has returned from your function, and waits behind it for {}", rank,
                       ranks_text(missing_ranks(operation)));
  }
  if (operation.from_any) {
    return fmt::format("\n  rank {} waits at {} in {} (group {}) for a message from {}{}", rank, to_text(status.at),
                       call_of(operation, status.member), operation.group, operation.members() > 2 ? "any of " : "",
                       ranks_text(missing_ranks(operation)));
  }
  if (operation.agreement) {
    return fmt::format("\n  rank {} waits at {} in survivors for {}", rank, to_text(status.at),
                       ranks_text(missing_ranks(operation)));
  }
  std::string text =
      fmt::format("\n  rank {} waits at {} in {}{} (group {}, call {})", rank, to_text(status.at),
                  call_of(operation, status.member), start_text(status), operation.group, operation.number);
  const std::vector<int> missing = missing_ranks(operation);
  if (!missing.empty()) return text + fmt::format(" for {}", ranks_text(missing));
  const int member = held_up_on(operation);
  if (member < 0) return text;
  const ToldOperation& before = *operation.queued_behind[static_cast<std::size_t>(member)];
  text += fmt::format(
      ", which on rank {} is queued behind {} (group {}, call {})", operation.rank_of(member),
      back::name_of(
          before.records[static_cast<std::size_t>(before.member_of(operation.rank_of(member)))].signature.kind),
      before.group, before.number);
  const std::vector<int> absent = missing_ranks(culprit(before));
  return absent.empty() ? text : text + fmt::format(" for {}", ranks_text(absent));
}

// What ranks have in common that wait for the like: line, kind of call, name of the group and number of the call.
std::string kind_of_wait(const RankStatus& status) {
  const ToldOperation& operation = *status.blocked_in;
  const CallRecord& record = operation.records[static_cast<std::size_t>(status.member)];
  const std::string call =
      operation.message ? message_verb(record, status.member) : std::string(back::name_of(record.signature.kind));
  return fmt::format("{} {} {} {}", to_text(status.at), call, operation.group, operation.number);
}

// A line for each rank, or where there are many for the first rank of each kind.
std::string waiting_lines(const Statuses& ranks, const std::vector<int>& blocked) {
  std::string text;
  if (blocked.size() <= kListed) {
    for (const int rank : blocked) text += waiting_line(ranks, rank);
    return text;
  }
  std::vector<std::vector<int>> kinds;
  std::map<std::string, std::size_t> known;
  for (const int rank : blocked) {
    const auto [kind, is_new] = known.emplace(kind_of_wait(ranks[static_cast<std::size_t>(rank)]), kinds.size());
    if (is_new) kinds.emplace_back();
    kinds[kind->second].push_back(rank);
  }
  for (std::size_t i = 0; i < std::min(kinds.size(), kMostLines); ++i) {
    text += waiting_line(ranks, kinds[i].front());
    const std::vector<int> others(kinds[i].begin() + 1, kinds[i].end());
    if (!others.empty()) text += fmt::format("; likewise {}", ranks_text(others));
  }
  if (kinds.size() > kMostLines) text += fmt::format("\n  and ranks at {} other calls", kinds.size() - kMostLines);
  return text;
}

std::string cycle_text(const std::vector<int>& ring) {
  std::string text = "\n  cycle: ";
  const std::size_t shown = ring.size() <= kListed ? ring.size() : kMostLines;
  for (std::size_t i = 0; i < shown; ++i) text += fmt::format("rank {} -> ", ring[i]);
  if (shown < ring.size()) text += fmt::format("{} ranks more -> ", ring.size() - shown);
  return text + fmt::format("rank {}", ring.front());
}

std::vector<int> blocked_ranks(const Statuses& ranks) {
  std::vector<int> blocked;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].blocked_in) blocked.push_back(static_cast<int>(r));
  }
  return blocked;
}

const char* advice_on_desertion(const ToldOperation& operation) {
  if (operation.from_any) return "\nA rank must receive as many messages as the others send to it, and no more.";
  return operation.message
             ? "\nEvery message needs both of its ranks: what one sends the other must receive, as often and in order."
             : "\nEvery rank of a group must take part in each of its calls, as often and in the same order.";
}

std::optional<Failure> desertion(const Statuses& ranks) {
  for (int waiter : blocked_ranks(ranks)) {
    const RankStatus& status = ranks[static_cast<std::size_t>(waiter)];
    if (is_behind_the_run(ranks, waiter)) continue;
    for (int absent : awaited(ranks, culprit(*status.blocked_in))) {
      if (!has_returned(ranks, absent)) continue;
      std::string message = returned_text(ranks, absent, culprit(*status.blocked_in));
      message += waiting_lines(ranks, blocked_ranks(ranks));
      message += advice_on_desertion(culprit(*status.blocked_in));
      return failure_at(FailureKind::desertion, waiter, status.at,
                        status.blocked_in->records[static_cast<std::size_t>(status.member)].posted, std::move(message));
    }
  }
  return std::nullopt;
}

// Follows "waits for" from the lowest blocked rank until a rank comes again; the part from there on is the cycle.
std::vector<int> cycle(const Statuses& ranks) {
  std::vector<int> path;
  int at = blocked_ranks(ranks).front();
  for (;;) {
    const auto seen = std::find(path.begin(), path.end(), at);
    if (seen != path.end()) return {seen, path.end()};
    path.push_back(at);
    const RankStatus& status = ranks[static_cast<std::size_t>(at)];
    if (!status.blocked_in) return {};
    const std::vector<int> missing = awaited(ranks, culprit(*status.blocked_in));
    if (missing.empty()) return {};
    at = missing.front();
  }
}

// In a send that returns only when it is received. One that was started with _async is waited for elsewhere, and what
// comes first there is another thing.
bool is_blocked_in_send(const Statuses& ranks, int rank) {
  const RankStatus& status = ranks[static_cast<std::size_t>(rank)];
  const CallRecord& record = status.blocked_in->records[static_cast<std::size_t>(status.member)];
  return status.blocked_in->message && !status.blocked_in->from_any && status.member != kReceiver && !record.is_async;
}

// It is about the ranks of the cycle: others that wait for one of these, say in a barrier, do nothing wrong. Lanes that
// wait for one another have no cycle of ranks.
const char* advice(const Statuses& ranks, const std::vector<int>& ring) {
  const std::vector<int> stuck = ring.empty() ? blocked_ranks(ranks) : ring;
  for (const int rank : stuck) {
    const ToldOperation& operation = *ranks[static_cast<std::size_t>(rank)].blocked_in;
    if (!operation.message && missing_ranks(operation).empty()) {
      return "\nA link runs collectives one after another, as one NCCL stream does: start those of all groups in the "
             "same order on every rank.";
    }
  }
  for (const int rank : stuck) {
    if (!ranks[static_cast<std::size_t>(rank)].blocked_in->message) {
      return "\nEvery rank of a group must make the same calls in the same order.";
    }
  }
  if (std::all_of(stuck.begin(), stuck.end(), [&](int rank) { return is_blocked_in_send(ranks, rank); })) {
    return "\nA send is complete only when its receive is posted. Let some ranks receive first, use send_recv, or "
           "start "
           "one of the two with _async.";
  }
  return "\nEach rank of the cycle waits for a call that the next one makes only later in its code, or never. Look for "
         "it there: if it comes later, one of the two has to come earlier; if there is none, add it, or take away what "
         "waits for it.";
}

Failure deadlock(const Statuses& ranks) {
  const std::vector<int> blocked = blocked_ranks(ranks);
  const std::vector<int> ring = cycle(ranks);
  std::vector<int> guilty = ring.empty() ? blocked : ring;
  std::sort(guilty.begin(), guilty.end());
  std::string message = fmt::format("deadlock: {} wait for one another, and nobody can go on.", ranks_text(guilty));
  message += waiting_lines(ranks, blocked);
  if (!ring.empty()) message += cycle_text(ring);
  message += advice(ranks, ring);
  const int first = blocked.front();
  const RankStatus& status = ranks[static_cast<std::size_t>(first)];
  const auto member = static_cast<std::size_t>(status.member);
  return failure_at(FailureKind::deadlock, first, status.at, status.blocked_in->records[member].posted,
                    std::move(message));
}

}  // namespace

int ToldOperation::member_of(int rank) const {
  const auto found = std::find(ranks.begin(), ranks.end(), rank);
  return found == ranks.end() ? -1 : static_cast<int>(found - ranks.begin());
}

Failure hang(const std::string& why) {
  return failure_at(FailureKind::hang, -1, {}, {}, "hang: communication has failed: " + why + kHangAdvice);
}

Failure hang(const ToldOperation& operation, const std::string& why) {
  return failure_at(FailureKind::hang, operation.rank_of(0), operation.records.front().at, latest_post(operation),
                    fmt::format("hang: call number {} of group {} was started and does not come to its end: {}.{}{}",
                                operation.number, operation.group, why, calls_text(operation), kHangAdvice));
}

std::optional<Failure> detect(const Situation& situation) {
  const Statuses& ranks = situation.ranks;
  if (auto failure = failed_rank(ranks)) return failure;
  if (auto failure = mismatch(situation.mismatches)) return failure;
  if (blocked_ranks(ranks).empty()) return std::nullopt;
  if (auto failure = desertion(ranks)) return failure;
  return deadlock(ranks);
}

}  // namespace shardlings::front
