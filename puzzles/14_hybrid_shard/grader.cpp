// Judges hybrid sharding: numbers of one device, memory of one node, bytes by class of link, everything hidden but the
// ends.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>

#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/gathered_units.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/formulas/step_cost.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::Event;
using front::EventKind;
using front::Lane;
using front::Link;

namespace {

Bytes sent_over(const CheckContext& check, int rank, Link link) {
  Bytes bytes;
  for (const auto& [key, traffic] : check.counters(rank).traffic) bytes += key.link == link ? traffic.sent : Bytes(0);
  return bytes;
}

/// The sum of some batches' own gradients.
Layers sum_of_batches(const Reference& reference, int first, int number, int stride) {
  Layers sum = reference.local_grads[static_cast<std::size_t>(first)];
  for (int i = 1; i < number; ++i) {
    sum = combine(sum, 1, reference.local_grads[static_cast<std::size_t>(first + i * stride)]);
  }
  return sum;
}

/// Sums in which ranks are missing: those of other nodes, or those of the own one.
std::string missing_ranks(const CheckContext& check, const Layers& found) {
  const int per_node = node_of(check.kase()).ranks, nodes = replicas_of(check.kase()).ranks;
  if (nodes > 1 && alike(found, sum_of_batches(check.reference(), 0, per_node, 1))) return "nodes_apart";
  std::vector<Layers> of_part;
  for (int k = 0; k < per_node; ++k) of_part.push_back(sum_of_batches(check.reference(), k, nodes, per_node));
  const bool inside = per_node > 1 && alike(found, from_parts(node_of(check.kase()), of_part));
  return inside ? "not_scattered" : "";
}

/// Layers with the sum over the first node only, if the others have that over all nodes: ", "-separated numbers.
std::string layers_apart(const CheckContext& check, const Layers& found) {
  const Layers& right = check.reference().grads;
  if (replicas_of(check.kase()).ranks == 1) return "";
  const Layers of_node = sum_of_batches(check.reference(), 0, node_of(check.kase()).ranks, 1);
  std::string apart;
  bool some_right = false;
  for (std::size_t l = 0; l < right.size(); ++l) {
    if (alike({found[l]}, {right[l]})) {
      some_right = true;
    } else if (alike({found[l]}, {of_node[l]})) {
      apart += fmt::format("{}{}", apart.empty() ? "" : ", ", l);
    } else {
      return "";
    }
  }
  return some_right ? apart : "";
}

/// Sums over all ranks, with a wrong factor.
std::string wrong_factor(const CheckContext& check, const Layers& found) {
  const Case& kase = check.kase();
  const std::optional<double> ratio = constant_ratio(found, check.reference().grads);
  if (ratio == 0) return "parts_untouched";
  if (kase.steps == 1) {
    const Layers means = gradient_of_micro(kase, 0, true);
    if (alike(found, means) && !near(ratio, 1)) return "own_tokens";
    if (kase.uneven_tokens && alike(found, scaled(means, 1.0 / kase.ranks))) return "mean_of_means";
  }
  for (const int ranks : {kase.ranks, node_of(kase).ranks, replicas_of(kase).ranks}) {
    if (ranks == 1) continue;
    if (near(ratio, 1.0 / ranks)) return "averaged";
    if (near(ratio, ranks)) return "reduced_twice";
  }
  const auto tokens = static_cast<double>(tokens_of_step(kase));
  const auto targets = static_cast<double>(kase.ranks * kase.batch * kase.model.sequence);
  return tokens != targets && near(ratio, tokens / targets) ? "padding_counted" : "";
}

/// A gather that leaves the node before anything goes backward, although there are ranks of the node to gather from: it
/// is of weights.
bool gathers_between_nodes(const CheckContext& check) {
  if (node_of(check.kase()).ranks == 1) return false;
  const auto gathers = collectives(check, 0, Collective::all_gather);
  const auto backwards = check.events(0, EventKind::backward);
  return std::any_of(gathers.begin(), gathers.end(), [&](const Event& e) {
    return e.lane == Lane::inter_node && (backwards.empty() || e.order < backwards.front().order);
  });
}

/// The ranks with the same part scatter sums of it over the nodes.
bool parts_scattered_between_nodes(const CheckContext& check) {
  const auto scatters = collectives(check, 0, Collective::reduce_scatter);
  return std::any_of(scatters.begin(), scatters.end(), [&](const Event& e) {
    return e.lane == Lane::inter_node && e.group >= 0 &&
           std::ssize(front::members_of(check.trace(0), static_cast<std::size_t>(e.group))) ==
               replicas_of(check.kase()).ranks;
  });
}

/// Nodes gather from one another when layers have gone backward, and not before: parts of gradients.
bool parts_gathered_between_nodes(const CheckContext& check) {
  if (replicas_of(check.kase()).ranks == 1 || gathers_between_nodes(check)) return false;
  const auto gathers = collectives(check, 0, Collective::all_gather);
  const auto backwards = check.events(0, EventKind::backward);
  return std::any_of(gathers.begin(), gathers.end(),
                     [&](const Event& e) {
                       return e.lane == Lane::inter_node && !backwards.empty() && e.order > backwards.front().order;
                     }) &&
         check.counters(0).calls(Collective::all_reduce) == 0;
}

/// Why nodes gather parts of gradients from one another.
const char* mistake_of_gathers(const CheckContext& check) {
  return parts_scattered_between_nodes(check) ? "taken_apart" : "added_in_another_order";
}

/// An all-reduce of parts in a group that has other ranks than those with the same part.
bool reduced_in_wrong_group(const CheckContext& check) {
  const Case& kase = check.kase();
  const int nodes = replicas_of(kase).ranks;
  if (node_of(kase).ranks == 1) return false;
  const auto reductions = collectives(check, 0, Collective::all_reduce);
  return std::any_of(reductions.begin(), reductions.end(), [&](const Event& e) {
    if (e.group < 0 || e.bytes <= Bytes(8)) return false;
    const auto& members = front::members_of(check.trace(0), static_cast<std::size_t>(e.group));
    return !members.empty() && static_cast<int>(members.size()) != nodes;
  });
}

void diagnose_gradients(CheckContext& check) {
  const Layers found = found_layers(check.result(), "grads");
  if (found.size() != check.reference().grads.size()) return;
  if (gathers_between_nodes(check)) return check.diagnose("axes_swapped");
  if (!all_finite(found)) return check.diagnose("gradient_not_zeroed");
  if (parts_gathered_between_nodes(check)) return check.diagnose(mistake_of_gathers(check));
  const std::string apart = layers_apart(check, found);
  if (!apart.empty()) {
    check.detail("the first node has its own sum in layer " + apart + ", and that over all nodes in the others");
    return check.diagnose("some_layers_apart");
  }
  if (alike(found, check.reference().grads)) return check.diagnose("first_node_only");  // others have something else
  std::string mistake = wrong_factor(check, found);
  if (mistake.empty()) mistake = missing_ranks(check, found);
  if (mistake == "nodes_apart" && check.counters(0).calls(Collective::broadcast) > 0) mistake = "first_node_for_all";
  if (mistake.empty() && reduced_in_wrong_group(check)) mistake = "reduced_in_wrong_group";
  if (!mistake.empty()) check.diagnose(mistake);
}

/// The gradients are right, and the weights are not.
void diagnose_weights(CheckContext& check) {
  const Layers change = combine(check.reference().weights_before, -1, found_layers(check.result(), "weights"));
  if (constant_ratio(change, check.reference().grads) == 0) return check.diagnose("never_updated");
  const std::int64_t updates = number_of_layers(check.kase()) * check.kase().steps;
  if (count_of(check, EventKind::update) >= 2 * updates) check.diagnose("updated_twice");
}

/// Every rank computes for others as well.
bool computes_for_others(const CheckContext& check, int rank) {
  const std::int64_t twice = 2 * number_of_layers(check.kase()) * check.kase().steps;
  return check.counters(rank).layer_forwards >= twice && check.counters(rank).layer_backwards >= twice;
}

void diagnose_bytes_inside(CheckContext& check, int rank) {
  if (computes_for_others(check, rank)) return check.diagnose("batches_exchanged");
  const auto reductions = collectives(check, rank, Collective::all_reduce);
  const bool inside = std::any_of(reductions.begin(), reductions.end(),
                                  [](const Event& e) { return e.lane == Lane::intra_node && e.bytes.value() > 0; });
  if (inside) return check.diagnose("reduced_to_all");
  if (parts_gathered_between_nodes(check)) return check.diagnose(mistake_of_gathers(check));
  const std::string mistake = unit_calls_mistake(check, rank, node_of(check.kase()));
  if (mistake == "in_pieces" || mistake == "part_by_part") return check.diagnose(mistake);
  check.diagnose(gathered_too_often(check, rank));
}

/// All-reduces of a rank that leave the node.
std::vector<Event> reductions_between(const CheckContext& check, int rank) {
  std::vector<Event> reductions = collectives(check, rank, Collective::all_reduce);
  std::erase_if(reductions, [](const Event& e) { return e.lane != Lane::inter_node; });
  return reductions;
}

bool reduces_each_part_once(CheckContext& check, int rank) {
  const std::vector<Event> found = reductions_between(check, rank);
  const Formula<Count> calls = in_all_steps(check.kase(), Letters(check.kase()).l);
  const auto surplus = static_cast<std::size_t>(calls.value());
  const Place where =
      found.size() > surplus ? place_of(found[surplus]) : check.place_of_last(rank, EventKind::collective);
  return check.exactly("all-reduces between nodes of " + check.name_of(rank), static_cast<Count>(found.size()), calls,
                       "all-reduces", where);
}

/// A broadcast leaves the node before anything goes backward: there are no gradients yet, so it is of weights.
bool broadcasts_before_backward(const CheckContext& check, int rank) {
  const auto broadcasts = collectives(check, rank, Collective::broadcast);
  const auto backwards = check.events(rank, EventKind::backward);
  return !broadcasts.empty() && broadcasts.front().lane == Lane::inter_node &&
         (backwards.empty() || broadcasts.front().order < backwards.front().order);
}

void diagnose_bytes_between(CheckContext& check, int rank) {
  if (computes_for_others(check, rank)) return check.diagnose("batches_exchanged");
  if (gathers_between_nodes(check)) return check.diagnose("axes_swapped");
  const front::Counters& counters = check.counters(rank);
  const std::int64_t calls = number_of_layers(check.kase()) * check.kase().steps;
  if (parts_gathered_between_nodes(check)) return check.diagnose(mistake_of_gathers(check));
  if (counters.calls(Collective::reduce) > 0 && counters.calls(Collective::broadcast) > 0) {
    return check.diagnose("through_one_node");
  }
  const auto reductions = reductions_between(check, rank);
  const auto found = static_cast<std::int64_t>(reductions.size());
  const auto of_one_number = [](const Event& e) { return e.bytes > Bytes(0) && e.bytes <= Bytes(8); };
  if (std::any_of(reductions.begin(), reductions.end(), of_one_number) && found <= calls + check.kase().steps) {
    return check.diagnose("loss_reduced");
  }
  const Bytes sent = sent_over(check, rank, Link::inter_node);
  const Bytes parts_sent = in_all_steps(check.kase(), hybrid_bytes(check.kase(), rank).between).value();
  if (found > calls && 100 * sent.value() <= 101 * parts_sent.value()) return check.diagnose("in_pieces");
  if (found == check.kase().steps && calls > check.kase().steps) return check.diagnose("reduced_at_the_end");
  if (broadcasts_before_backward(check, rank)) return check.diagnose("weights_between_nodes");
  Bytes reduced;
  for (const Event& reduction : reductions) reduced += reduction.bytes;
  const bool whole = 2 * reduced >= 3 * parts_sent;
  if (node_of(check.kase()).ranks > 1 && whole) check.diagnose("whole_gradients_between_nodes");
}

/// All-reduces between nodes run beside backward, or the mistake.
std::string time_mistake_between(const CheckContext& check, int rank) {
  const auto backwards = check.events(rank, EventKind::backward);
  const auto reductions = collectives(check, rank, Collective::all_reduce);
  if (replicas_of(check.kase()).ranks == 1 || overlaps(reductions, backwards)) return "started_late";
  const bool at_the_end = !reductions.empty() && reductions.front().posted >= backwards.back().end;
  return at_the_end ? "reduced_at_the_end" : "reduced_one_by_one";
}

void diagnose_time(CheckContext& check, int rank) {
  if (computes_for_others(check, rank)) return check.diagnose("batches_exchanged");
  if (computes_twice(check, rank)) return check.diagnose("computed_twice");
  if (check.events(rank, EventKind::backward).empty()) return;
  const bool gathers = node_of(check.kase()).ranks > 1;
  const std::string inside = gathers ? std::string(unit_time_mistake(check, rank)) : "";
  check.diagnose(inside.empty() ? time_mistake_between(check, rank) : inside);
}

Formula<Nanos> last_scatter(const Case& kase) {
  return named("last reduce-scatter", Nanos(ring_times(node_of(kase)).front()));
}

/// Between nodes, of the parts of layer l; nothing for a layer that there is not.
Formula<Nanos> reduction_of(const Case& kase, std::size_t l) {
  if (l >= part_bytes(node_of(kase), 0).size()) return named("nothing", Nanos(0));
  const Count elements = part_bytes(node_of(kase), 0)[l] / kBytesOfF32;
  return named(fmt::format("all-reduce of layer {}", l), Nanos(all_reduce_time(replicas_of(kase), elements)));
}

/// The end of a step, after the last backward: the part of layer 0 is scattered, then reduced between nodes, where that
/// of layer 1 may still be on its way.
Formula<Nanos> time_after_backward(const Case& kase) {
  return max(last_scatter(kase), reduction_of(kase, 1)) + reduction_of(kase, 0);
}

Formula<Nanos> planned_time(const Case& kase) {
  const Letters letter(kase);
  return named("first all-gather", Nanos(ring_times(node_of(kase)).front())) + letter.l * (letter.f + letter.b) +
         time_after_backward(kase);
}

/// The reduce-scatter of layer 1 can also be waited for before the last backward. That leaves it exposed, and its
/// all-reduce is on its way sooner. Which of the two ends first depends on the links.
Formula<Nanos> time_with_early_wait(const Case& kase) {
  const Letters letter(kase);
  const std::vector<std::int64_t> scatters = ring_times(node_of(kase));
  if (scatters.size() < 2) return planned_time(kase);
  const Formula<Nanos> exposed = named("reduce-scatter of layer 1", Nanos(scatters[1]));
  const Formula<Nanos> reduced = max(exposed, reduction_of(kase, 2)) + reduction_of(kase, 1);
  return named("first all-gather", Nanos(scatters.front())) + letter.l * (letter.f + letter.b) - letter.b +
         max(exposed + letter.b + last_scatter(kase), reduced) + reduction_of(kase, 0);
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance)) return diagnose_gradients(check);
  if (!check.equal_layers("weights", expected.weights, expected.weights_tolerance)) return diagnose_weights(check);
  if (!equal_moments(check)) return;
  if (!equal_loss_shares(check) && whole_loss_everywhere(check)) check.diagnose("loss_reduced");
}

SHARDLINGS_CHECK(memory) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!check.peak_at_most(rank, hybrid_peak(check.kase(), rank).formula("n_node")) ||
        !holds_two_units(check, node_of(check.kase()), rank)) {
      if (computes_for_others(check, rank)) return check.diagnose("batches_exchanged");
      if (parts_gathered_between_nodes(check)) return check.diagnose(mistake_of_gathers(check));
      return diagnose_unit_memory(check, node_of(check.kase()), rank);
    }
  }
  nothing_on_host(check);
}

SHARDLINGS_CHECK(inside) {
  const Case& kase = check.kase();
  const Formula<Count> l = Letters(kase).l;
  const bool alone = node_of(kase).ranks == 1;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const bool sent = check.at_most(
        "sent inside the node by " + check.name_of(rank), sent_over(check, rank, Link::intra_node),
        in_all_steps(kase, hybrid_bytes(kase, rank).inside), check.place_of_last(rank, EventKind::collective));
    const bool right =
        sent && (alone || (gathers_by_layer(check, rank) &&
                           calls_exactly(check, rank, Collective::reduce_scatter, in_all_steps(kase, l))));
    if (right) continue;
    check.detail("collectives called: " + names_of_collectives(check, rank));
    return diagnose_bytes_inside(check, rank);
  }
}

SHARDLINGS_CHECK(between) {
  const Case& kase = check.kase();
  const bool alone = replicas_of(kase).ranks == 1;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const bool sent = check.at_most(
        "sent between nodes by " + check.name_of(rank), sent_over(check, rank, Link::inter_node),
        in_all_steps(kase, hybrid_bytes(kase, rank).between), check.place_of_last(rank, EventKind::collective));
    if (sent && (alone || reduces_each_part_once(check, rank))) continue;
    check.detail("collectives called: " + names_of_collectives(check, rank));
    return diagnose_bytes_between(check, rank);
  }
}

SHARDLINGS_CHECK(time) {
  const Case& kase = check.kase();
  const Formula<Nanos> planned = in_all_steps(kase, planned_time(kase));
  const Formula<Nanos> early = in_all_steps(kase, time_with_early_wait(kase));
  if (!finishes_within(check, early.value() > planned.value() ? early : planned)) {
    diagnose_time(check, check.slowest_rank());
  }
}

SHARDLINGS_PREDICTIONS("4 ranks, 2 nodes") {
  const Case& kase = predict.kase();
  const Letters letter(kase);
  const HybridBytes bytes = hybrid_bytes(kase, 0);
  const StepPeak peak = hybrid_peak(kase, 0);
  const Formula<Nanos> first = named("first all-gather", Nanos(ring_times(node_of(kase)).front()));
  predict
      .number("between", "How many bytes does rank 0 send to the other node in the step?", bytes.between,
              Question::Of::sent_out, 0)
      .unlike(2 * bytes.between, "Only its part of the gradient leaves the node: the node has it summed and divided.")
      .unlike(bytes.between / 2, "The finished sums have to come back: an all-reduce has two halves.");
  predict.sent("sent", 0, "How many bytes does rank 0 send in all?", bytes.inside + bytes.between)
      .unlike(bytes.inside, "That is inside the node alone.")
      .unlike(step_bytes(kase, 0, 3), "That is with the model divided over all ranks of all nodes.");
  predict
      .peak("peak", 0, "How many bytes of device memory are alive on rank 0 at the worst moment?",
            peak.formula("n_node"))
      .unlike(step_peak(kase, 0, 3).formula(),
              "Parts are N-ths there. A node has all of the model among its own ranks.")
      .unlike(peak.formula("n_node") - named("two units of weights", Bytes(peak.gathered_weights)),
              "The layer at work is whole, and so is the one that is gathered meanwhile.");
  predict.end("time", "When does the step end, with each scatter hidden behind the next backward?", planned_time(kase))
      .unlike(first + letter.l * (letter.f + letter.b), "After the last backward gradients still have to be summed.")
      .unlike(letter.l * (letter.f + letter.b), "That is computation alone.")
      .unlike(
          first + letter.l * (letter.f + letter.b) + last_scatter(kase) + reduction_of(kase, 0),
          "The part of layer 1 is reduced between nodes only when its reduce-scatter has been waited for, after the "
          "last backward. So two all-reduces follow that, one behind the other.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 ranks, 2 nodes") {
  const Formula<Count> r = named("R", 128), f = named("n_node", 8);
  const Formula<Bytes> moments = named("moments", Bytes(8 * 6'700'000'000));
  predict.answer(3)
      .number("saved",
              "6.7 billion weights with states in f32, on 128 nodes of 8 ranks: how much memory of each rank is saved "
              "where the moments are divided over all ranks, and the rest over each node?",
              share_of_others(r) * (moments / f))
      .unlike(2 * (share_of_others(r) * (moments / f)), "Weights and gradients stay divided over the ranks of a node.")
      .unlike(share_of_others(r) * moments, "The moments were divided over the 8 ranks of a node before.");
}
