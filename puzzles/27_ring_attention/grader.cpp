// Judges attention over divided sequences: numbers of one device, the bytes of a ring, what is alive at once, and a
// time in which messages travel while ranks compute.

#include "grading/judge/grader.h"

#include <algorithm>
#include <utility>

#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/ring_attention.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/standstill.h"
#include "grading/formulas/tensor_parallel.h"
#include "grading/judge/least_of_products.h"
#include "grading/judge/most_of_products.h"
#include "grading/judge/predictions.h"
#include "grading/reference/grouped_attention.h"
#include "model/operation_flops.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::Event;
using front::EventKind;

namespace {

using Numbers = std::vector<double>;

/// The rank that has this position.
int rank_of(const RingAttention& ring, Count position) {
  int rank = 0;
  while (position >= ring.positions(rank).end) ++rank;
  return rank;
}

Count place_in_part(const RingAttention& ring, Count position) {
  return position - ring.positions(rank_of(ring, position)).begin;
}

Numbers sum_of(Numbers a, const Numbers& b) {
  if (a.size() != b.size()) return {};
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

// ---- What known mistakes would have computed ----

/// Only pairs that are seen as they should be, and whose ranks are so.
template <class Among>
Sees causal_among(const RingAttention& ring, Among among) {
  return [&ring, among](Count query, Count key) {
    return causal(query, key) && among(rank_of(ring, query), rank_of(ring, key));
  };
}

/// Keys at the positions of the rank that has them if keys go round the other way.
Sees seen_by_wrong_owner(const RingAttention& ring) {
  return [&ring](Count query, Count key) {
    const int me = rank_of(ring, query), step = (me - rank_of(ring, key) + ring.ranks) % ring.ranks;
    return ring.positions((me + step) % ring.ranks).begin + place_in_part(ring, key) <= query;
  };
}

/// The attention over each rank's keys by itself, added up: y and gradients.
GroupedNumbers parts_added(const RingAttention& ring, const GroupedInputs& in) {
  GroupedNumbers sum;
  for (int owner = 0; owner < ring.ranks; ++owner) {
    const GroupedNumbers part =
        grouped_attention(in, causal_among(ring, [owner](int, int of_key) { return of_key == owner; }));
    if (owner == 0) {
      sum = part;
      continue;
    }
    sum.y = sum_of(std::move(sum.y), part.y);
    sum.grad_q = sum_of(std::move(sum.grad_q), part.grad_q);
  }
  return sum;
}

bool diagnose_y(CheckContext& check, const RingAttention& ring, const GroupedInputs& in, const Numbers& found) {
  const auto y_of = [&](const Sees& sees) { return grouped_attention(in, sees).y; };
  const auto local = [&](Count query, Count key) { return place_in_part(ring, key) <= place_in_part(ring, query); };
  const auto up_to_own = [&](Count query, Count key) { return rank_of(ring, key) <= rank_of(ring, query); };
  const int c = ring.ranks;
  return diagnose_as(
      check, found,
      {{"own_keys_only", y_of(causal_among(ring, [](int me, int owner) { return me == owner; }))},
       {"keys_missing", y_of(causal_among(ring, [c](int me, int owner) { return owner != (me + 1) % c; }))},
       {"own_keys_missing", y_of(causal_among(ring, [](int me, int owner) { return me != owner; }))},
       {"positions_ignored", y_of(local)},
       {"positions_ignored", y_of([&](Count query, Count key) { return local(query, key) && up_to_own(query, key); })},
       {"positions_ignored",
        y_of([&](Count query, Count key) { return place_in_part(ring, key) <= query && up_to_own(query, key); })},
       {"all_keys_seen", y_of([](Count, Count) { return true; })},
       {"all_keys_seen", y_of(up_to_own)},
       {"wrong_owner", y_of(seen_by_wrong_owner(ring))},
       {"parts_added_up", parts_added(ring, in).y}});
}

/// Gradients of keys and, behind them, of values, of which only these ranks' queries have added to these ranks' keys.
template <class Adds>
Numbers summed_by(const RingAttention& ring, const GroupedInputs& in, Adds adds) {
  GroupedNumbers of = grouped_attention(
      in, causal, [&ring, adds](Count query, Count key) { return adds(rank_of(ring, query), rank_of(ring, key)); });
  of.grad_k.insert(of.grad_k.end(), of.grad_v.begin(), of.grad_v.end());
  return of.grad_k;
}

/// What belongs to the next rank's keys, in the place of each rank's own. Nothing if those are not as many.
Numbers of_next_rank(const RingAttention& ring, const Numbers& grads) {
  if (ring.sequence % ring.ranks != 0) return {};
  Numbers moved = grads;
  const auto half = static_cast<std::ptrdiff_t>(grads.size() / 2), part = half / ring.ranks;
  std::rotate(moved.begin(), moved.begin() + part, moved.begin() + half);
  std::rotate(moved.begin() + half, moved.begin() + half + part, moved.end());
  return moved;
}

void diagnose_gradients(CheckContext& check, const RingAttention& ring, const GroupedInputs& in) {
  const auto values = [&](const char* name) {
    const Output* output = check.output(name);
    return output == nullptr ? Numbers{} : Numbers(output->values.begin(), output->values.end());
  };
  const auto same_rank = [&](Count query, Count key) { return rank_of(ring, query) == rank_of(ring, key); };
  const GroupedNumbers own_only = grouped_attention(in, causal, same_rank);
  // Over a single key a softmax has no gradient. So where each rank has one position, keys of others that were taken
  // for the whole leave the same grad_q as keys that were never looked at: grad_v tells them apart.
  const bool one_each = ring.positions(0).size() == 1;
  const bool only_own =
      alike({values("grad_q")}, {own_only.grad_q}) && (!one_each || alike({values("grad_v")}, {own_only.grad_v}));
  if (only_own) return check.diagnose("own_keys_only_in_backward");
  if (diagnose_as(check, values("grad_q"), {{"part_taken_for_whole", parts_added(ring, in).grad_q}})) return;
  Numbers found = values("grad_k");
  const Numbers of_values = values("grad_v");
  found.insert(found.end(), of_values.begin(), of_values.end());
  const int c = ring.ranks;
  const Numbers at_home = summed_by(ring, in, [](int me, int owner) { return me == owner; });
  const Numbers of_others = summed_by(ring, in, [](int me, int owner) { return me != owner; });
  const auto own_and_last = [c](int me, int owner) { return me == owner || me == (owner + c - 1) % c; };
  diagnose_as(check, found,
              {{"gradients_not_sent", at_home},
               {"gradient_replaced", summed_by(ring, in, own_and_last)},
               {"own_gradient_lost", of_others},
               {"own_gradient_twice", sum_of(sum_of(of_others, at_home), at_home)},
               {"one_hop_short", sum_of(at_home, of_next_rank(ring, of_others))}});
}

// ---- Traces ----

constexpr const char* kForward = "partial_attention";
constexpr const char* kBackward = "partial_attention_backward_add";

/// Calls of the attention, forward or backward, in program order.
std::vector<Event> attentions(const CheckContext& check, int rank, bool back) {
  std::vector<Event> found;
  for (const Event& event : check.events(rank, EventKind::operation)) {
    if (check.trace(rank).names.at(event.name) == (back ? kBackward : kForward)) found.push_back(event);
  }
  return found;
}

/// The last rank sees the keys of all ranks, so it computes in each step: it is the one to look at.
int last_rank(const CheckContext& check) {
  return check.ranks() - 1;
}

/// What the last rank has sent in forward, or in backward: up to its last call of attention's forward, or behind it.
std::vector<Event> messages(const CheckContext& check, bool back) {
  const std::vector<Event> forward = attentions(check, last_rank(check), false);
  std::vector<Event> found;
  for (const Event& event : check.events(last_rank(check), EventKind::send)) {
    const bool behind = forward.empty() || event.order > forward.back().order;
    if (behind == back) found.push_back(event);
  }
  return found;
}

void diagnose_bytes(CheckContext& check, const RingAttention& ring) {
  const auto planned = static_cast<std::size_t>(ring.ranks - 1), steps = planned + 1;
  const std::size_t forward = messages(check, false).size(), back = messages(check, true).size();
  // With 2 ranks a second round is one message more, too: how often the keys were looked at tells them apart.
  const std::size_t looked_at = attentions(check, last_rank(check), false).size();
  if (forward == 2 * planned && looked_at == 2 * steps) return check.diagnose("forward_again");
  if (forward == planned + 1 && looked_at == steps) return check.diagnose("keys_sent_home");
  if (forward != planned || back != 2 * planned + 1 || planned == 1) return;
  // All messages are equally long. Before its first call in backward a rank has sent its keys at most, and before the
  // second one keys once more: a third message is its own summand, which has left its home.
  const std::vector<Event> calls = attentions(check, last_rank(check), true);
  const auto sent_before = [&](std::size_t call) {
    const std::vector<Event> sent = messages(check, true);
    return std::count_if(sent.begin(), sent.end(), [&](const Event& of) { return of.order < calls[call].order; });
  };
  if (calls.size() > 1 && sent_before(0) <= 1 && sent_before(1) == 3) check.diagnose("gradients_round_trip");
}

void diagnose_memory(CheckContext& check, const RingAttention& ring) {
  const int rank = last_rank(check);
  for (const Collective kind : {Collective::all_gather, Collective::broadcast}) {
    if (!collectives(check, rank, kind).empty()) return check.diagnose("gathered_at_once");
  }
  const std::vector<Event> forward = attentions(check, rank, false), back = attentions(check, rank, true);
  if (forward.empty()) return;
  const std::vector<Event> receives = check.events(rank, EventKind::recv);
  const auto early = std::count_if(receives.begin(), receives.end(),
                                   [&](const Event& event) { return event.order < forward.front().order; });
  if (early > 1) return check.diagnose("received_too_early");
  // From the second step on (in backward the third one) as much is alive in each, until nothing more comes, but for
  // keys that are one position longer. The last rank's are the shortest.
  const auto grows = [&](const std::vector<Event>& calls, std::size_t from) {
    return calls.size() > from + 1 && calls[from + 1].live_after >= calls[from].live_after + ring.keys(rank);
  };
  // By more than keys it grows if partial results stay. Where those are no larger, nothing tells the two apart.
  const Bytes keys = ring.keys(rank), longest = ring.keys(0);
  const Bytes partial(kBytesOfF32 * ring.positions(rank).size() * ring.cost.batch *
                      (ring.cost.width + ring.cost.heads));
  if (grows(forward, 1)) {
    const Bytes growth = forward[2].live_after - forward[1].live_after;
    if (growth <= longest && (partial < keys || partial > longest)) check.diagnose("keys_kept");
    return;
  }
  if (grows(back, 2)) check.diagnose("kept_in_backward");
}

void diagnose_time(CheckContext& check, const RingAttention& ring) {
  const std::vector<Event> computed = check.events(last_rank(check), EventKind::operation);
  const std::vector<Event> forward = messages(check, false), back = messages(check, true);
  if (ring.ranks == 1) return;
  const bool forward_hidden = overlaps(forward, computed), backward_hidden = overlaps(back, computed);
  if (!forward_hidden && !backward_hidden) return check.diagnose("nothing_hidden");
  if (!forward_hidden) return check.diagnose("keys_waited_for");
  if (!ring.backward) return;
  if (!backward_hidden) return check.diagnose("backward_not_hidden");
  const auto is_exposed = [&](const Event& message) { return !overlaps({message}, computed); };
  // Keys and sums are equally long. Before its second call in backward a rank has no sum to send: these are keys.
  const std::vector<Event> calls = attentions(check, last_rank(check), true);
  const auto sure = std::find_if(back.begin(), back.end(), [&](const Event& message) {
    return calls.size() > 1 && message.order > calls[1].order;
  });
  if (std::any_of(back.begin(), sure, is_exposed)) return check.diagnose("keys_waited_for_in_backward");
  if (std::count_if(sure, back.end(), is_exposed) > 1) check.diagnose("gradients_waited_for");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const RingAttention ring(check.kase());
  const GroupedInputs in = grouped_inputs(ring.kase, ring.backward);
  const GroupedReference right = grouped_reference(in, causal);
  if (!check.equal("y", right.exact.y, right.tolerance.y)) {
    const Output* found = check.output("y");
    if (found != nullptr && ring.ranks > 1) diagnose_y(check, ring, in, {found->values.begin(), found->values.end()});
    return;
  }
  if (!check.equal("lse", right.exact.lse, right.tolerance.lse)) return check.diagnose("lse_wrong");
  if (!ring.backward) return;
  const bool held = check.equal("grad_q", right.exact.grad_q, right.tolerance.grad_q) &&
                    check.equal("grad_k", right.exact.grad_k, right.tolerance.grad_k) &&
                    check.equal("grad_v", right.exact.grad_v, right.tolerance.grad_v);
  if (!held && ring.ranks > 1) diagnose_gradients(check, ring, in);
}

SHARDLINGS_CHECK(communication) {
  const RingAttention ring(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const bool held = check.at_most("sent by " + check.name_of(rank), check.counters(rank).bytes_sent(), ring.sent(),
                                    check.place_of_last(rank, EventKind::send));
    if (!held) return diagnose_bytes(check, ring);
  }
}

SHARDLINGS_CHECK(memory) {
  const RingAttention ring(check.kase());
  if (!nothing_on_host(check)) return;
  if (!check.peaks_at_most(ring.peak())) diagnose_memory(check, ring);
}

SHARDLINGS_CHECK(time) {
  const RingAttention ring(check.kase());
  const int rank = check.slowest_rank();
  const Standstill longest = longest_standstill(check, rank, Nanos(0), check.end_time(rank));
  // Others may wait for the last rank, which has most to do: if it waits itself for more than a hop, that is the cause.
  const int last = last_rank(check);
  const Standstill own = longest_standstill(check, last, Nanos(0), check.end_time(last));
  const wire::Place where = own.time > ring.hop(0) ? own.place : longest.place;
  if (check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank), ring.time(), where)) return;
  diagnose_time(check, ring);
}

/// Of all queries with all keys that they see, forward and backward.
SHARDLINGS_LEAST_OF_PRODUCTS(check) {
  const RingAttention ring(check.kase());
  const Count pairs = ring.pairs({0, ring.sequence});
  const Formula<Flops> forward = named("forward of all pairs", ring.cost.flops(pairs));
  return ring.backward ? forward + named("backward", ring.cost.backward_flops(pairs)) : forward;
}

/// Each of a rank's positions is merged with the keys of every rank; twice, as a pass made again has a check of its
/// own.
SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {
  const RingAttention ring(check.kase());
  const Count of_rank = ring.positions(rank).size() * ring.cost.batch * ring.cost.width;
  return {{Product::merge_attention, Flops(2 * model::kMergeFlops * ring.ranks * of_rank)}};
}

SHARDLINGS_PREDICTIONS("4 ranks") {
  const RingAttention ring(predict.kase());
  const Formula<Count> c = ring.c();
  const Formula<Bytes> block = ring.block();
  const Formula<Bytes> wide = named("2 b s/c h of 4 bytes", ring.cost.width / ring.cost.key_width * block.value());
  predict
      .sent("sent", 0,
            "How many bytes does each rank send, forward and backward together, if keys and sums go all the way round?",
            ring.sent())
      .unlike(2 * (folded(c - 1) * block),
              "Gradients of keys and values travel, too: their sum is needed where they belong.")
      .unlike(3 * (folded(c - 1) * block) + block,
              "Nobody has to send its own keys' gradient round the whole ring: its own contribution can stay at home.")
      .unlike(3 * (folded(c - 1) * wide), "There are fewer heads of keys than of queries: keys are u wide, not h.");
  const Formula<Bytes> all_keys = named("keys and values of all ranks", ring.ranks * ring.keys(0));
  predict
      .peak("peak", ring.ranks - 1,
            "How many bytes does the last rank hold at its peak, if nothing is waited for too early?", ring.peak())
      .unlike(ring.given() + 2 * all_keys, "No rank has to hold the keys of all ranks, or gradients of them.")
      .unlike(ring.given() + 2 * named("kv of a rank", ring.keys(0)),
              "In backward, gradients come, are added to, and leave, beside the keys.");
  const Nanos busiest = ring.computing(false) + ring.computing(true);
  Nanos all{};
  for (int rank = 0; rank < ring.ranks; ++rank) {
    for (int of = 0; of < ring.ranks; ++of) all += ring.work(rank, of, false) + ring.work(rank, of, true);
  }
  predict.end("time", "When does the run end?", ring.time())
      .unlike(named("operations", busiest) + named("all messages", 3 * (ring.ranks - 1) * ring.hop(0)),
              "While a message travels, the rank can compute with what it has.")
      .unlike(named("mean of the ranks' operations", Nanos(all.value() / ring.ranks)) + named("one hop", ring.hop(0)),
              "The first rank sees the keys of its own positions alone, the last rank those of all.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 ranks") {
  constexpr Count kRanks = 8;
  const Formula<Count> all = named("c (c - 1)", kRanks * (kRanks - 1));
  predict.answer(3)
      .count("hops", "How many hops of keys does the forward of 8 ranks need, if none is wasted?",
             named("c (c - 1) / 2", kRanks * (kRanks - 1) / 2), "hops")
      .unlike(all, "Ranks before r never see the keys of rank r: these need not travel on to them.")
      .unlike(all - (kRanks - 1), "Those to rank 0 are left out. Which other ranks get keys that they do not need?");
}
