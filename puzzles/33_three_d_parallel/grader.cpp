// Judges three-dimensional parallelism: one device's training, the bytes of every group, memory and time of every rank.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "case/data.h"
#include "grading/formulas/grid_loss.h"
#include "grading/formulas/grid_norm.h"
#include "grading/formulas/grid_step.h"
#include "grading/formulas/pipeline_checks.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/formulas/tensor_parallel.h"
#include "grading/judge/compare.h"
#include "grading/reference/trainer.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::Event;
using front::EventKind;

namespace {

/// By layer of the model.
using Flags = std::vector<bool>;

bool any(const Flags& flags) {
  return std::find(flags.begin(), flags.end(), true) != flags.end();
}

/// Which layers of an output are not what they should be, on some rank.
Flags wrong_layers(const Result& result, const std::string& name, const Layers& expected, const Layers& tolerance) {
  Flags wrong;
  for (std::size_t l = 0; l < expected.size(); ++l) {
    const auto found = result.outputs.find(fmt::format("{}.{}", name, l));
    const bool is_whole = found != result.outputs.end() && found->second.complete && found->second.conflict.empty() &&
                          found->second.values.size() == expected[l].size();
    wrong.push_back(!is_whole || !(distance(found->second.values, expected[l], tolerance[l]) <= 1));
  }
  return wrong;
}

/// These layers are all of some chunks and none of the others.
bool are_some_chunks(const Pipeline& pipeline, const Flags& layers) {
  std::vector<Count> count(static_cast<std::size_t>(pipeline.v)), all = count;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const auto chunk = static_cast<std::size_t>(chunk_of_layer(pipeline, static_cast<Count>(l)));
    ++all[chunk];
    count[chunk] += layers[l] ? 1 : 0;
  }
  bool some = false, whole = true;
  for (std::size_t c = 0; c < count.size(); ++c) {
    some = some || count[c] == 0;
    whole = whole && (count[c] == 0 || count[c] == all[c]);
  }
  return some && whole && any(layers);
}

/// The first step, whose mistakes can be told: later ones build on what it has left.
struct FirstStep {
  explicit FirstStep(const CheckContext& check)
      : kase(check.kase()), prefix(kase.steps > 1 ? "first step's " : ""), result(check.result()) {
    kase.steps = 1;
    expected = check.kase().steps > 1 ? train_reference(kase) : check.reference();
  }
  Layers found(const std::string& name) const { return found_layers(result, prefix + name); }
  Flags wrong(const std::string& name, const Layers& right, const Layers& tolerance) const {
    return wrong_layers(result, prefix + name, right, tolerance);
  }
  Pipeline pipeline() const { return GridRank(kase, 0).pipeline; }

  Case kase;
  std::string prefix;
  const Result& result;
  Reference expected;
};

/// Of these layers each rank has kept its own batch's gradient in its part, and never got the others'.
bool are_not_reduced(const FirstStep& step, const Layers& found, const Flags& layers) {
  const model::ModelStructure whole = model::make_structure(step.kase.model);
  for (int rank = 0; rank < step.kase.ranks; ++rank) {
    const GridRank own(step.kase, rank);
    const Layers& local = step.expected.local_grads[static_cast<std::size_t>(own.dp)];
    if (own.d == 1 || !alike(alone_on(own, whole, found, layers), alone_on(own, whole, local, layers))) return false;
  }
  return true;
}

Bytes sent_in(const front::Counters& counters, const std::vector<std::string>& groups) {
  Bytes bytes;
  for (const auto& [key, traffic] : counters.traffic) {
    bytes += std::count(groups.begin(), groups.end(), key.group) > 0 ? traffic.sent : Bytes(0);
  }
  return bytes;
}

std::int64_t calls_in(const front::Counters& counters, const std::string& group, Collective kind) {
  std::int64_t calls = 0;
  for (const auto& [key, traffic] : counters.traffic) {
    if (key.group == group && key.kind == kind) calls += traffic.calls;
  }
  return calls;
}

/// Collectives that a rank has called in a group, of any kind that moves something.
std::vector<Event> collectives_in(const CheckContext& check, int rank, const std::string& group) {
  const front::RankTrace& trace = check.trace(rank);
  std::vector<Event> events = check.events(rank, EventKind::collective);
  std::erase_if(events, [&](const Event& event) {
    const std::string& name = trace.names.at(event.name);
    return name == "split" || name == "barrier" || event.group < 0 ||
           trace.groups.at(static_cast<std::size_t>(event.group)) != group;
  });
  return events;
}

/// The table's place in the first layer and in the last.
Range table_in(const FirstStep& step, std::size_t l) {
  const model::ModelStructure structure = model::make_structure(step.kase.model);
  if (l == 0) return entry_of(structure.layers.front(), "token").range;
  return l + 1 == structure.layers.size() ? entry_of(structure.layers.back(), "weight").range : Range{};
}

Layers without_table(const FirstStep& step, Layers grads) {
  for (std::size_t l = 0; l < grads.size(); ++l) {
    const Range zero = table_in(step, l);
    std::fill(grads[l].begin() + zero.begin, grads[l].begin() + zero.end, 0);
  }
  return grads;
}

void diagnose_table(CheckContext& check, const FirstStep& step, const Layers& found) {
  const Layers apart = GridNorm(step.kase, step.expected).with_uses_apart();
  if (alike(found, apart)) return check.diagnose("tied_not_summed");
  const Range table = table_in(step, 0), copy = table_in(step, found.size() - 1);
  const Layers first{slice(found.front(), table)}, last{slice(found.back(), copy)},
      right{slice(step.expected.grads.front(), table)};
  const auto half = [&](const Layers& layers) { return near(constant_ratio(layers, right), 0.5); };
  if (half(first) && half(last)) return check.diagnose("tied_averaged");
  const bool first_is_own = alike(first, {slice(apart.front(), table)}),
             last_is_own = alike(last, {slice(apart.back(), copy)});
  if ((alike(first, right) && last_is_own) || (first_is_own && alike(last, right))) {
    return check.diagnose("tied_in_one_copy");
  }
  const bool called_again = calls_in(check.counters(0), "ends", Collective::all_reduce) > check.kase().steps;
  const bool too_large = constant_ratio(first, right).value_or(0) > 1.5;
  check.diagnose(called_again && too_large ? "tied_summed_twice" : "tied_wrong");
}

void diagnose_gradients(CheckContext& check, const FirstStep& step, const Flags& wrong) {
  const int batches = step.kase.num_batches();
  const Layers found = step.found("grads"), &right = step.expected.grads;
  if (found.size() != right.size() || !all_finite(found)) return;
  const std::optional<double> ratio = constant_ratio(found, right);
  if (near(ratio, static_cast<double>(step.kase.model.clip) / step.expected.norms.back())) {
    return check.diagnose("clipped_in_place");
  }
  if (batches > 1 && near(ratio, 1.0 / batches)) return check.diagnose("averaged");
  if (batches > 1 && near(ratio, batches)) return check.diagnose("reduced_twice");
  if (are_not_reduced(step, found, wrong)) {
    return check.diagnose(are_some_chunks(step.pipeline(), wrong) ? "chunk_forgotten" : "not_reduced");
  }
  if (alike(without_table(step, found), without_table(step, right))) diagnose_table(check, step, found);
}

/// What updates have multiplied gradients with, told from the first moments after one step.
std::optional<double> factor_behind(const std::vector<double>& moments, const std::vector<double>& gradient) {
  const std::optional<double> ratio = constant_ratio({moments}, {gradient});
  return ratio ? std::optional(*ratio / (1 - static_cast<double>(AdamStep{}.beta1))) : std::nullopt;
}

/// Every rank has multiplied all that it alone has with one factor, and not all of them with the same.
bool factors_differ_by_rank(const FirstStep& step, const Layers& moments) {
  const model::ModelStructure whole = model::make_structure(step.kase.model);
  const Flags all(moments.size(), true);
  std::optional<double> first;
  bool differ = false;
  for (int rank = 0; rank < step.kase.ranks; ++rank) {
    const GridRank own(step.kase, rank);
    const std::vector<double> gradient = alone_on(own, whole, step.expected.grads, all);
    if (gradient.empty()) continue;
    const std::optional<double> factor = factor_behind(alone_on(own, whole, moments, all), gradient);
    if (!factor) return false;
    if (!first) first = factor;
    differ = differ || !near(factor, *first);
  }
  return differ;
}

/// The gradients are right, and the first moments are not: which factor were they multiplied with?
void diagnose_moments(CheckContext& check, const FirstStep& step) {
  const Layers moments = step.found("m");
  if (moments.size() != step.expected.m.size() || !all_finite(moments)) return;
  std::vector<std::optional<double>> factors;
  Flags untouched;
  for (std::size_t l = 0; l < moments.size(); ++l) {
    factors.push_back(factor_behind(moments[l], step.expected.grads[l]));
    untouched.push_back(near(factors.back(), 0));
  }
  if (are_some_chunks(step.pipeline(), untouched)) return check.diagnose("chunk_forgotten");
  const std::optional<double> first = factors.front();
  if (factors_differ_by_rank(step, moments)) return check.diagnose("norm_not_of_all");
  for (const std::optional<double>& factor : factors) {
    if (!first || !factor || !near(factor, *first)) return;
  }
  if (near(first, 0)) return check.diagnose("never_updated");
  const double right = step.kase.model.clip / step.expected.norms.back();
  if (near(first, 1)) return check.diagnose("not_clipped");
  if (near(first, right * right)) return check.diagnose("clipped_twice");
  if (near(first, right * static_cast<double>(step.kase.model.clip))) return check.diagnose("limit_squared");
  if (near(first, right * std::sqrt(step.kase.ranks))) return check.diagnose("norm_averaged");
  const std::string mistake = GridNorm(step.kase, step.expected).mistake_behind(*first);
  if (!mistake.empty()) check.diagnose(mistake);
}

/// The moments are right, and the weights are not, or not on all ranks.
void diagnose_weights(CheckContext& check, const FirstStep& step) {
  if (step.kase.num_batches() == 1) return;
  const Reference& expected = check.reference();
  const Flags wrong = wrong_layers(check.result(), "weights", expected.weights, expected.weights_tolerance);
  if (are_some_chunks(step.pipeline(), wrong)) return check.diagnose("chunk_forgotten");
  const std::vector<Event> gathers = collectives(check, 0, Collective::all_gather);
  const std::vector<Event> updates = check.events(0, EventKind::update);
  const std::vector<Event> in_dp = collectives_in(check, 0, "dp");
  // Layer by layer a gradient is scattered behind the update of another one: that brings no weights.
  const bool all_before = !updates.empty() && std::all_of(in_dp.begin(), in_dp.end(), [&](const Event& event) {
    return event.order < updates.front().order || check.trace(0).names.at(event.name) == "reduce_scatter";
  });
  if (gathers.empty() && all_before) return check.diagnose("not_gathered");
  if (gathers.empty()) return;
  if (!updates.empty() && gathers.front().order < updates.front().order) check.diagnose("gathered_too_early");
}

/// Some rank has gone forward less often than once for each micro-batch and layer.
bool leaves_micro_batches_out(const CheckContext& check) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (check.counters(rank).layer_forwards < forward_calls(check.kase(), GridRank(check.kase(), rank)).value())
      return true;
  }
  return false;
}

void diagnose_numbers(CheckContext& check) {
  if (leaves_micro_batches_out(check)) return check.diagnose("micro_batch_left_out");
  const FirstStep step(check);
  const Reference& right = step.expected;
  const Flags gradients = step.wrong("grads", right.grads, right.grads_tolerance);
  if (any(gradients)) return diagnose_gradients(check, step, gradients);
  if (any(step.wrong("m", right.m, right.m_tolerance))) return diagnose_moments(check, step);
  diagnose_weights(check, step);
}

/// No more calls in a group than its bytes need: each takes its latency.
bool check_calls_in(CheckContext& check, int rank, const std::string& group, const Formula<Count>& most) {
  const std::vector<Event> events = collectives_in(check, rank, group);
  return check.at_most(fmt::format("collectives of {} in group {}", check.name_of(rank), group), std::ssize(events),
                       in_all_steps(check.kase(), most), "calls", check.place_of_last(rank, EventKind::collective));
}

/// dp: a reduce-scatter and an all-gather for each layer; ends and world: one all-reduce.
bool check_all_calls(CheckContext& check, int rank) {
  const Count layers = std::ssize(GridRank(check.kase(), rank).layers);
  if (!check_calls_in(check, rank, "dp", 2 * named("layers", layers))) {
    if (GridRank(check.kase(), rank).d > 1) check.diagnose("called_in_pieces");
    return false;
  }
  for (const auto& [group, mistake] : {std::pair("ends", "table_too_often"), std::pair("world", "norm_in_pieces")}) {
    if (check_calls_in(check, rank, group, named("one", 1))) continue;
    check.diagnose(mistake);
    return false;
  }
  return true;
}

/// What a rank has all-reduced in a group, in bytes of the largest call; nothing if it has not.
Bytes largest_all_reduced(const CheckContext& check, int rank, const std::string& group) {
  Bytes largest;
  for (const Event& event : collectives_in(check, rank, group)) {
    if (check.trace(rank).names.at(event.name) == "all_reduce") largest = std::max(largest, event.bytes);
  }
  return largest;
}

void diagnose_bytes(CheckContext& check, int rank, const std::string& group) {
  const auto all_reduces = [&] { return calls_in(check.counters(rank), group, Collective::all_reduce); };
  if (group == "tp") return check.diagnose("computed_twice");
  if (group == "down") return check.diagnose("too_many_messages");
  if (group == "ends") return check.diagnose("table_too_often");
  if (group == "dp" && all_reduces() > 0) {
    const bool one_number = largest_all_reduced(check, rank, group) <= Bytes(2 * kBytesOfF32);
    return check.diagnose(one_number ? "number_over_replicas" : "all_reduced");
  }
  if (group == "dp") return check.diagnose("too_much_over_replicas");
  check.diagnose(all_reduces() > check.kase().steps ? "norm_in_pieces" : "too_much_over_world");
}

/// The rank has sent what it should in these groups. Adds that to `known`.
bool check_bytes(CheckContext& check, int rank, const GroupBytes& bytes, Bytes& known) {
  const Bytes sent = sent_in(check.counters(rank), bytes.groups);
  known += sent;
  const std::string what = fmt::format("sent by {} in group {}", check.name_of(rank), fmt::join(bytes.groups, " and "));
  const Formula<Bytes> budget = in_all_steps(check.kase(), bytes.budget);
  const Place where = check.place_of_last(rank, EventKind::collective);
  const bool needs_no_norm = check.kase().model.clip == 0 && bytes.groups.front() == "world";
  return needs_no_norm ? check.at_most(what, sent, budget, where) : check.exactly(what, sent, budget, where);
}

void diagnose_memory(CheckContext& check, int rank, const GridRank& own) {
  const front::KindBytes& kinds = check.counters(rank).peak_by_kind;
  if (kinds[static_cast<std::size_t>(Kind::optimizer)].value() > moment_bytes(own)) {
    return check.diagnose("not_sharded");
  }
  const std::int64_t layers = own.pipeline.layers_of(own.pp, 0).size();
  const std::int64_t found = (check.counters(rank).saved_peak + layers - 1) / layers;
  const Formula<Count> expected = one_f_one_b_in_flight(own.pipeline, own.pp);
  check.detail(fmt::format("{} {} were in flight on {}; {} = {}", found, own.v > 1 ? "chunks" : "micro-batches",
                           check.name_of(rank), expected.text(), expected.value()));
  if (found >= expected.value()) check.diagnose(found > expected.value() ? "too_many_in_flight" : "copies_kept");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  const bool right = check.equal_layers("grads", expected.grads, expected.grads_tolerance) && equal_moments(check) &&
                     check.equal_layers("weights", expected.weights, expected.weights_tolerance);
  if (!right) return diagnose_numbers(check);
  if (check.kase().steps > 1) return;  // the shares are those of the case's own weights
  const std::vector<double> losses = losses_by_rank(check.kase());
  if (!check.equal("loss by rank", losses, expected.loss_tolerance) && loss_is_reduced(check, losses)) {
    check.diagnose("loss_reduced");
  }
}

SHARDLINGS_CHECK(communication) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    Bytes known;
    for (const GroupBytes& bytes : bytes_of_groups(check.kase(), GridRank(check.kase(), rank))) {
      if (!check_bytes(check, rank, bytes, known)) return diagnose_bytes(check, rank, bytes.groups.front());
    }
    // Nothing in groups that the submission has made for itself.
    if (!check.exactly(fmt::format("sent by {} in all groups together", check.name_of(rank)),
                       check.counters(rank).bytes_sent(), named("the sum of the above", known))) {
      return;
    }
    if (!check_all_calls(check, rank)) return;
  }
}

SHARDLINGS_CHECK(memory) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const GridRank own(check.kase(), rank);
    const front::MemoryUse& host = check.counters(rank).host;
    if (!check.at_most("memory of the host that " + check.name_of(rank) + " has used", host.peak,
                       named("none", Bytes(0)), {host.peak_file, host.peak_line})) {
      return check.diagnose("parked_on_the_host");
    }
    if (!check.peak_at_most(rank, peak_of(check.kase(), own))) return diagnose_memory(check, rank, own);
  }
}

SHARDLINGS_CHECK(time) {
  const Case& kase = check.kase();
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!check.at_most("forward calls of " + check.name_of(rank), check.counters(rank).layer_forwards,
                       forward_calls(kase, GridRank(kase, rank)), "calls",
                       check.place_of_first(rank, EventKind::backward))) {
      return check.diagnose("forward_twice");
    }
  }
  const Pipeline pipeline = GridRank(kase, 0).pipeline;
  if (finishes_within(check, in_all_steps(kase, step_time(kase, pipeline)))) return;
  Order order = order_found(check, pipeline, 0);
  order.resize(order.size() / static_cast<std::size_t>(kase.steps));
  const bool one_by_one = most_in_flight(order) <= pipeline.v;
  if (!one_by_one && runs_empty(order)) return check.diagnose("drained");
  if (goes_back_too_soon(check)) check.diagnose("warm_up_too_short");
}
