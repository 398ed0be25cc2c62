#include "grading/formulas/pipeline_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/pipeline_trace.h"
#include "grading/formulas/shared_diagnosis.h"
#include "grading/reference/trainer.h"

namespace shardlings::grading::formulas {
namespace {

using front::Event;
using front::EventKind;

consteval SharedId in_training(std::string_view id) {
  return {"check_training", id};
}
consteval SharedId in_messages(std::string_view id) {
  return {"check_messages", id};
}

/// Gradients come from the rank after this one, and where that is also the one before, in a group of their own.
bool carries_gradient(const judge::CheckContext& check, const Pipeline& pipeline, int rank, const Event& event) {
  const int after = (rank + 1) % pipeline.p, before = (rank + pipeline.p - 1) % pipeline.p;
  if (event.peer != after) return false;
  return pipeline.v == 1 || after != before ||
         check.trace(rank).groups.at(static_cast<std::size_t>(event.group)) == "up";
}

/// A gradient that arrived for one micro-batch, and the backward that was its turn, of another one.
bool find_mispaired(judge::CheckContext& check, const Pipeline& pipeline) {
  for (int rank = 0; rank < pipeline.p; ++rank) {
    std::vector<int> arrived;
    for (const Event& event : check.events(rank, EventKind::recv)) {
      if (carries_gradient(check, pipeline, rank, event)) arrived.push_back(event.label.micro);
    }
    std::size_t next = 0;
    for (const FoundSlot& found : slots_found(check, pipeline, rank)) {
      if (found.slot.forward || pipeline.is_last(rank, found.slot.chunk)) continue;
      if (next == arrived.size()) break;
      const int micro = arrived[next++];
      if (micro < 0 || micro == found.slot.micro) continue;
      check.detail(fmt::format("on {} the gradient of micro-batch {} arrives, and micro-batch {} goes backward ({})",
                               check.name_of(rank), micro, found.slot.micro, to_text(found.first.at)));
      return true;
    }
  }
  return false;
}

/// Gradient of micro-batch i alone, as its part of a step of `tokens` tokens.
reference::Layers micro_gradient(const cases::Case& kase, int i, Count tokens) {
  const reference::Layers weights = reference::initial_weights<double>(kase);
  reference::Layers grads = scaled(weights, 0);
  reference::train_micro(kase, cases::micro_of(kase, 0, i), tokens, weights, grads);
  return grads;
}

/// The ratio of what was found to what is right, if it is that of a mistake: one that changes nothing here is none.
bool is_ratio(const std::optional<double>& found, double of_mistake) {
  return !near(of_mistake, 1) && near(found, of_mistake);
}

/// Divided by m times the tokens of one micro-batch, where micro-batches have different numbers of them.
bool counts_one_for_all(const cases::Case& kase, const std::optional<double>& ratio) {
  const auto tokens = static_cast<double>(cases::tokens_of_step(kase)), m = static_cast<double>(kase.micro_batches);
  for (int i = 0; i < kase.micro_batches; ++i) {
    const auto own = static_cast<double>(cases::micro_of(kase, 0, i).tokens);
    if (own > 0 && is_ratio(ratio, tokens / (m * own)) && !near(ratio, m) && !near(ratio, 1 / m)) return true;
  }
  return false;
}

/// Mistakes about how the micro-batches are put together.
SharedId mistake_in_gradients(const cases::Case& kase, const reference::Layers& right, const reference::Layers& found) {
  const std::optional<double> ratio = constant_ratio(found, right);
  const auto tokens = static_cast<double>(cases::tokens_of_step(kase));
  if (is_ratio(ratio, 1.0 / kase.micro_batches)) return in_training("divided_by_m");
  if (is_ratio(ratio, tokens / static_cast<double>(kase.micro_batches * kase.batch * kase.model.sequence))) {
    return in_training("padding_counted");
  }
  if (counts_one_for_all(kase, ratio)) return in_training("tokens_of_one");
  reference::Layers means = scaled(right, 0);
  for (int i = 0; i < kase.micro_batches; ++i) {
    const reference::Layers part = micro_gradient(kase, i, cases::tokens_of_step(kase));
    if (alike(found, combine(right, -1, part)) && !alike(found, right)) return in_training("micro_batch_skipped");
    means = combine(means, tokens / static_cast<double>(cases::micro_of(kase, 0, i).tokens), part);
  }
  return alike(found, means) && !alike(means, right) ? in_training("sum_of_means") : SharedId();
}

void diagnose_gradients(judge::CheckContext& check, const Pipeline& pipeline) {
  if (check.is_nearly_right()) return;
  if (find_mispaired(check, pipeline)) return check.diagnose(in_training("wrong_micro_batch"));
  const SharedId mistake =
      mistake_in_gradients(check.kase(), check.reference().grads, found_layers(check.result(), "grads"));
  if (!mistake.empty()) check.diagnose(mistake);
}

/// The collectives that a rank has called, but for barriers.
std::string collectives_of(const judge::CheckContext& check, int rank) {
  std::string names;
  for (const Event& event : check.events(rank, EventKind::collective)) {
    const std::string& name = check.trace(rank).names.at(event.name);
    if (name == "barrier" || name == "split" || names.find(name) != std::string::npos) continue;
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

/// The first slot after which more is alive than the order needs, and what the course of that says.
void diagnose_memory(judge::CheckContext& check, const Pipeline& pipeline, int rank, Mail mail) {
  const std::vector<FoundSlot> found = slots_found(check, pipeline, rank);
  const std::vector<std::int64_t> excess = excess_after_slots(check, pipeline, rank, mail);
  const auto first = std::find_if(excess.begin(), excess.end(), [](std::int64_t bytes) { return bytes > 0; });
  if (first == excess.end()) return;
  const FoundSlot& slot = found[static_cast<std::size_t>(first - excess.begin())];
  check.detail(fmt::format("after {} of micro-batch {} ({}) {} holds {} more than it needs",
                           slot.slot.forward ? "forward" : "backward", slot.slot.micro, to_text(slot.last.at),
                           check.name_of(rank), to_text(Bytes(*first))));
  static_assert(says_all_of("check_memory", "reason_of_excess"));
  const SharedId reason = reason_of_excess(pipeline, rank, order_found(check, pipeline, rank), excess);
  if (!reason.empty()) check.diagnose(reason);
}

/// Nothing is left after a slot backward that the order does not need any more, also where the peak is lower than that.
bool check_used_up(judge::CheckContext& check, const Pipeline& pipeline, int rank, Mail mail) {
  const std::vector<FoundSlot> found = slots_found(check, pipeline, rank);
  const std::vector<std::int64_t> excess = excess_after_slots(check, pipeline, rank, mail);
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (found[k].slot.forward || excess[k] <= 0) continue;
    const Bytes alive = found[k].last.live_after;
    check.fail(fmt::format("alive on {} after backward of micro-batch {}: at most {}, what is needed later",
                           check.name_of(rank), found[k].slot.micro, to_text(alive - Bytes(excess[k]))),
               to_text(alive), judge::place_of(found[k].last));
    return false;
  }
  return true;
}

/// Nothing waits in the host's memory for its turn.
bool check_copies(judge::CheckContext& check, int rank) {
  const std::vector<Event> copies = check.events(rank, EventKind::copy);
  if (copies.empty()) return true;
  check.fail("no copy between the device's memory and the host's",
             fmt::format("{} copies on {}", copies.size(), check.name_of(rank)), judge::place_of(copies.front()));
  check.diagnose(SharedId("check_memory", "parked_on_host"));
  return false;
}

/// The first call that works on a layer and a micro-batch which an earlier one has worked on; else the last call.
wire::Place place_of_second(const judge::CheckContext& check, int rank, EventKind kind) {
  std::set<std::pair<int, int>> seen;
  for (const Event& event : check.events(rank, kind)) {
    if (!seen.emplace(event.label.layer, event.label.micro).second) return judge::place_of(event);
  }
  return check.place_of_last(rank, kind);
}

/// What a rank's calls of one kind should be.
bool check_calls_of(judge::CheckContext& check, const Pipeline& pipeline, int rank, EventKind kind,
                    std::int64_t found) {
  const std::string what = kind == EventKind::forward ? "forward" : "backward";
  return check.exactly(fmt::format("{} calls of {}", what, check.name_of(rank)), found,
                       judge::named("m", pipeline.m) * judge::named("layers", pipeline.num_layers_of(rank)), "calls",
                       place_of_second(check, rank, kind));
}

/// The bytes of all messages of a rank in one direction.
std::vector<std::int64_t> loads_of(const Pipeline& pipeline, int rank, bool down) {
  std::vector<std::int64_t> loads;
  for (int chunk = 0; chunk < pipeline.v; ++chunk) {
    const Range own = pipeline.layers_of(rank, chunk);
    const auto layer = [&](Count l) { return pipeline.layers[static_cast<std::size_t>(l)]; };
    if (down && !pipeline.is_last(rank, chunk)) loads.push_back(layer(own.end - 1).output);
    if (!down && !pipeline.is_first(rank, chunk)) loads.push_back(layer(own.begin).input_gradient);
  }
  return loads;
}

/// The first message that is neither an output nor a gradient of the rank's stages, or else the last one.
wire::Place place_of_odd_message(const judge::CheckContext& check, const Pipeline& pipeline, int rank) {
  const std::vector<std::int64_t> outputs = loads_of(pipeline, rank, true), grads = loads_of(pipeline, rank, false);
  const std::vector<Event> sends = check.events(rank, EventKind::send);
  const auto odd = std::find_if(sends.begin(), sends.end(), [&](const Event& send) {
    return std::count(outputs.begin(), outputs.end(), send.bytes.value()) +
               std::count(grads.begin(), grads.end(), send.bytes.value()) ==
           0;
  });
  return odd == sends.end() ? check.place_of_last(rank, EventKind::send) : judge::place_of(*odd);
}

/// One message for each micro-batch, boundary and direction.
bool check_number_of_messages(judge::CheckContext& check, const Pipeline& pipeline, int rank) {
  const auto sends = static_cast<Count>(check.events(rank, EventKind::send).size());
  const auto boundaries =
      static_cast<Count>(loads_of(pipeline, rank, true).size() + loads_of(pipeline, rank, false).size());
  const bool held = check.exactly("messages sent by " + check.name_of(rank), sends,
                                  judge::named("m", pipeline.m) * judge::named("boundaries", boundaries), "messages",
                                  place_of_odd_message(check, pipeline, rank));
  if (held || sends < pipeline.m * boundaries) return held;
  const Bytes expected = message_bytes(pipeline, rank).value(), sent = check.counters(rank).bytes_sent();
  if (sent == expected) check.diagnose(in_messages("message_in_parts"));
  if (sent > expected) check.diagnose(in_messages("too_many_messages"));
  return false;
}

}  // namespace

Order order_found(const judge::CheckContext& check, const Pipeline& pipeline, int rank) {
  Order order;
  for (const FoundSlot& found : slots_found(check, pipeline, rank)) order.push_back(found.slot);
  return order;
}

void check_training(judge::CheckContext& check, const Pipeline& pipeline) {
  const reference::Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance)) {
    return diagnose_gradients(check, pipeline);
  }
  std::vector<double> shares(static_cast<std::size_t>(pipeline.p), 0);
  shares.back() = expected.loss;
  if (check.equal("loss by rank", shares, expected.loss_tolerance)) return;
  const wire::Output* found = check.output("loss by rank");
  if (!found || found->values.size() != shares.size()) return;
  const bool right_where_it_belongs = std::abs(found->values.back() - expected.loss) <= expected.loss_tolerance;
  if (pipeline.p > 1 && right_where_it_belongs) check.diagnose(in_training("loss_on_others"));
}

void check_calls(judge::CheckContext& check, const Pipeline& pipeline) {
  for (int rank = 0; rank < pipeline.p; ++rank) {
    const front::Counters& counters = check.counters(rank);
    if (check_calls_of(check, pipeline, rank, EventKind::forward, counters.layer_forwards) &&
        check_calls_of(check, pipeline, rank, EventKind::backward, counters.layer_backwards)) {
      continue;
    }
    if (counters.layer_forwards > pipeline.m * pipeline.num_layers_of(rank)) {
      check.diagnose(SharedId("check_calls", "forward_twice"));
    }
    return;
  }
}

bool works_twice(const judge::CheckContext& check, const Pipeline& pipeline) {
  for (int rank = 0; rank < pipeline.p; ++rank) {
    if (check.counters(rank).layer_forwards > pipeline.m * pipeline.num_layers_of(rank)) return true;
  }
  return false;
}

bool check_time(judge::CheckContext& check, const Pipeline& pipeline, const std::function<Order(int)>& order,
                Mail mail) {
  const int rank = check.slowest_rank();
  const judge::Formula<Nanos> budget = step_time(check.kase(), pipeline);
  const bool held = check.end_time(rank) <= budget.value();
  const std::optional<Delay> delay = held ? std::nullopt : first_delay(check, pipeline, order, mail);
  if (check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank), budget,
                    delay ? delay->where : wire::Place{})) {
    return true;
  }
  if (delay) check.detail(delay->text);
  if (works_twice(check, pipeline)) check.diagnose(SharedId("check_time", "forward_twice"));
  for (int r = 0; r < pipeline.p; ++r) {
    if (!check.events(r, EventKind::copy).empty()) check.diagnose(SharedId("check_time", "parked_on_host"));
  }
  return false;
}

bool check_in_flight(judge::CheckContext& check, const Pipeline& pipeline, int rank,
                     const judge::Formula<Count>& most) {
  const std::int64_t layers = pipeline.longest_stage();
  const std::int64_t found = (check.counters(rank).saved_peak + layers - 1) / layers;
  const std::vector<FoundSlot> slots = slots_found(check, pipeline, rank);
  const Order order = order_found(check, pipeline, rank);
  std::size_t k = 0;  // the slot that is one too many
  for (Count number = 0; k < slots.size(); ++k) {
    number += order[k].forward ? 1 : -1;
    if (number > most.value()) break;
  }
  const wire::Place where =
      k < slots.size() ? judge::place_of(slots[k].first) : check.place_of_first(rank, EventKind::forward);
  if (check.at_most("in flight on " + check.name_of(rank), found, most, pipeline.v > 1 ? "chunks" : "micro-batches",
                    where)) {
    return true;
  }
  // The order is as it should be, and what a chunk has saved outlives its backward: that is another mistake.
  if (most_in_flight(order) <= most.value()) return false;
  // The last rank tells: it needs no warm-up of its own. One more than its own may be all, too: then nobody can tell.
  const int last = pipeline.p - 1, all = pipeline.m * pipeline.v;
  const bool goes_all_forward = leading_forwards(order_found(check, pipeline, last)) == all &&
                                all > one_f_one_b_in_flight(pipeline, last).value() + 1;
  check.diagnose(goes_all_forward ? SharedId("check_in_flight", "all_forward_first")
                                  : SharedId("check_in_flight", "warm_up_too_long"));
  return false;
}

void check_messages(judge::CheckContext& check, const Pipeline& pipeline) {
  for (int rank = 0; rank < pipeline.p; ++rank) {
    const std::string collectives = collectives_of(check, rank);
    if (!collectives.empty()) {
      check.fail("messages only: send and recv", fmt::format("{} called {}", check.name_of(rank), collectives),
                 check.place_of_first(rank, EventKind::collective));
      return check.diagnose(in_messages("collective_used"));
    }
    if (!check_number_of_messages(check, pipeline, rank)) return;
    const judge::Formula<Bytes> expected = message_bytes(pipeline, rank);
    const Bytes sent = check.counters(rank).bytes_sent();
    if (check.exactly("sent by " + check.name_of(rank), sent, expected, place_of_odd_message(check, pipeline, rank))) {
      continue;
    }
    if (sent > expected.value()) check.diagnose(in_messages("too_many_messages"));
    return;
  }
}

void check_memory(judge::CheckContext& check, const Pipeline& pipeline, const std::function<Order(int)>& order,
                  Mail mail) {
  for (int rank = 0; rank < pipeline.p; ++rank) {
    if (!check_copies(check, rank)) return;
    if (check.peak_at_most(rank, memory_along(check.kase(), rank, order(rank), mail).peak) &&
        check_used_up(check, pipeline, rank, mail)) {
      continue;
    }
    return diagnose_memory(check, pipeline, rank, mail);
  }
}

bool sends_late(const judge::CheckContext& check, const Pipeline& pipeline) {
  for (int rank = 0; rank < pipeline.p; ++rank) {
    const Range own = pipeline.layers_of(rank, 0);
    std::vector<Event> calls = check.events(rank, EventKind::forward);
    const std::vector<Event> backwards = check.events(rank, EventKind::backward);
    calls.insert(calls.end(), backwards.begin(), backwards.end());
    for (const Event& send : check.events(rank, EventKind::send)) {
      const bool down = send.peer > rank;
      const auto made = std::find_if(calls.begin(), calls.end(), [&](const Event& call) {
        return call.kind == (down ? EventKind::forward : EventKind::backward) &&
               call.label.layer == (down ? own.end - 1 : own.begin) && call.label.micro == send.label.micro;
      });
      if (made == calls.end()) continue;
      const auto between = [&](const Event& call) { return call.begin >= made->end && call.end <= send.posted; };
      if (std::any_of(calls.begin(), calls.end(), between)) return true;
    }
  }
  return false;
}

}  // namespace shardlings::grading::formulas
