#include "grading/formulas/pipeline_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "case/data.h"
#include "grading/reference/trainer.h"

namespace shardlings::grading::formulas {
namespace {

using front::Event;
using front::EventKind;

/// The chunk of a rank whose forward begins, or whose backward begins, with this layer.
std::optional<int> chunk_entered(const Pipeline& pipeline, int rank, const Event& event) {
  for (int chunk = 0; chunk < pipeline.v; ++chunk) {
    const Range own = pipeline.layers_of(rank, chunk);
    if (event.label.layer == (event.kind == EventKind::forward ? own.begin : own.end - 1)) return chunk;
  }
  return std::nullopt;
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
    for (const Event& event : check.events(rank, EventKind::backward)) {
      const std::optional<int> chunk = chunk_entered(pipeline, rank, event);
      if (!chunk || pipeline.is_last(rank, *chunk)) continue;
      if (next == arrived.size()) break;
      const int micro = arrived[next++];
      if (micro < 0 || micro == event.label.micro) continue;
      check.detail(fmt::format("on {} the gradient of micro-batch {} arrives, and micro-batch {} goes backward ({})",
                               check.name_of(rank), micro, event.label.micro, to_text(event.at)));
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

/// Mistakes about how the micro-batches are put together.
std::string mistake_in_sum(const cases::Case& kase, const reference::Layers& right, const reference::Layers& found) {
  const std::optional<double> ratio = constant_ratio(found, right);
  const auto tokens = static_cast<double>(cases::tokens_of_step(kase));
  if (near(ratio, 1.0 / kase.micro_batches)) return "divided_by_m";
  if (near(ratio, tokens / static_cast<double>(kase.micro_batches * kase.batch * kase.model.sequence))) {
    return "padding_counted";
  }
  reference::Layers means = scaled(right, 0);
  for (int i = 0; i < kase.micro_batches; ++i) {
    const reference::Layers part = micro_gradient(kase, i, cases::tokens_of_step(kase));
    if (alike(found, combine(right, -1, part))) return "micro_batch_skipped";
    means = combine(means, tokens / static_cast<double>(cases::micro_of(kase, 0, i).tokens), part);
  }
  return alike(found, means) ? "sum_of_means" : "";
}

void diagnose_gradients(judge::CheckContext& check, const Pipeline& pipeline) {
  if (find_mispaired(check, pipeline)) return check.diagnose("wrong_micro_batch");
  const std::string mistake =
      mistake_in_sum(check.kase(), check.reference().grads, found_layers(check.result(), "grads"));
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

/// Why more is alive after a slot than should be, and not before.
std::string reason_of_excess(const Order& order, std::size_t slot) {
  const auto backwards = std::count_if(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(slot) + 1,
                                       [](const Slot& before) { return !before.forward; });
  const bool first_of_its_kind = slot == 0 || (backwards == 1 && !order[slot].forward);
  const bool something_comes = slot + 1 < order.size();
  if (first_of_its_kind && something_comes) return "room_made_early";
  return backwards == 0 || first_of_its_kind ? "outputs_kept" : "activations_kept";
}

/// The first slot after which more was alive than should be.
void diagnose_memory(judge::CheckContext& check, const Pipeline& pipeline, int rank, Mail mail) {
  const Order order = order_found(check, pipeline, rank);
  const PipelineMemory expected = memory_along(check.kase(), rank, order, mail);
  std::size_t slot = 0;
  Count calls = 0;
  for (const Event& event : check.trace(rank).events) {
    const bool stage_call = event.kind == EventKind::forward || event.kind == EventKind::backward;
    if (!stage_call || event.depth != 0) continue;
    if (slot == order.size()) return;
    if (++calls < pipeline.layers_of(rank, order[slot].chunk).size()) continue;
    const std::int64_t excess = event.live_after.value() - expected.after[slot];
    if (excess > 0) {
      check.detail(fmt::format("after {} of micro-batch {} {} holds {} more than it needs",
                               order[slot].forward ? "forward" : "backward", order[slot].micro, check.name_of(rank),
                               to_text(Bytes(excess))));
      return check.diagnose(reason_of_excess(order, slot));
    }
    ++slot;
    calls = 0;
  }
}

/// What a rank's calls of one kind should be.
bool check_calls_of(judge::CheckContext& check, const Pipeline& pipeline, int rank, EventKind kind,
                    std::int64_t found) {
  const std::string what = kind == EventKind::forward ? "forward" : "backward";
  return check.exactly(fmt::format("{} calls of {}", what, check.name_of(rank)), found,
                       judge::named("m", pipeline.m) * judge::named("layers", pipeline.num_layers_of(rank)), "calls",
                       check.place_of_last(rank, kind));
}

}  // namespace

Order order_found(const judge::CheckContext& check, const Pipeline& pipeline, int rank) {
  Order order;
  for (const Event& event : check.trace(rank).events) {
    if (event.depth != 0 || (event.kind != EventKind::forward && event.kind != EventKind::backward)) continue;
    const std::optional<int> chunk = chunk_entered(pipeline, rank, event);
    if (chunk) order.push_back({event.kind == EventKind::forward, event.label.micro, *chunk});
  }
  return order;
}

void check_training(judge::CheckContext& check, const Pipeline& pipeline) {
  const reference::Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance)) {
    return diagnose_gradients(check, pipeline);
  }
  std::vector<double> shares(static_cast<std::size_t>(pipeline.p), 0);
  shares.back() = expected.loss;
  check.equal("loss by rank", shares, expected.loss_tolerance);
}

void check_calls(judge::CheckContext& check, const Pipeline& pipeline) {
  for (int rank = 0; rank < pipeline.p; ++rank) {
    const front::Counters& counters = check.counters(rank);
    if (check_calls_of(check, pipeline, rank, EventKind::forward, counters.layer_forwards) &&
        check_calls_of(check, pipeline, rank, EventKind::backward, counters.layer_backwards)) {
      continue;
    }
    if (counters.layer_forwards > pipeline.m * pipeline.num_layers_of(rank)) check.diagnose("forward_twice");
    return;
  }
}

bool check_time(judge::CheckContext& check, const Pipeline& pipeline) {
  const int rank = check.slowest_rank();
  return check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank),
                       step_time(check.kase(), pipeline));
}

bool check_in_flight(judge::CheckContext& check, const Pipeline& pipeline, int rank,
                     const judge::Formula<Count>& most) {
  const std::int64_t layers = pipeline.longest_stage();
  const std::int64_t found = (check.counters(rank).saved_peak + layers - 1) / layers;
  const bool held =
      check.at_most("in flight on " + check.name_of(rank), found, most, pipeline.v > 1 ? "chunks" : "micro-batches",
                    check.place_of_first(rank, EventKind::forward));
  if (held) return true;
  const bool all = leading_forwards(order_found(check, pipeline, pipeline.p - 1)) == pipeline.m * pipeline.v;
  check.diagnose(all ? "all_forward_first" : "warm_up_too_long");
  return false;
}

void check_messages(judge::CheckContext& check, const Pipeline& pipeline) {
  for (int rank = 0; rank < pipeline.p; ++rank) {
    const std::string collectives = collectives_of(check, rank);
    if (!collectives.empty()) {
      check.fail("messages only: send and recv", fmt::format("{} called {}", check.name_of(rank), collectives),
                 check.place_of_first(rank, EventKind::collective));
      return check.diagnose("collective_used");
    }
    const judge::Formula<Bytes> expected = message_bytes(pipeline, rank);
    const Bytes sent = check.counters(rank).bytes_sent();
    if (check.exactly("sent by " + check.name_of(rank), sent, expected, check.place_of_last(rank, EventKind::send))) {
      continue;
    }
    if (sent > expected.value()) check.diagnose("too_many_messages");
    return;
  }
}

void check_memory(judge::CheckContext& check, const Pipeline& pipeline, const std::function<Order(int)>& order,
                  Mail mail) {
  for (int rank = 0; rank < pipeline.p; ++rank) {
    if (check.peak_at_most(rank, memory_along(check.kase(), rank, order(rank), mail).peak)) continue;
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
