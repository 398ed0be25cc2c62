// Judges three-dimensional parallelism: one device's training, the bytes of every group, memory and time of every rank.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>

#include "case/data.h"
#include "grading/formulas/grid_norm.h"
#include "grading/formulas/grid_step.h"
#include "grading/formulas/pipeline_checks.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/formulas/tensor_parallel.h"
#include "grading/judge/compare.h"
#include "grading/reference/trainer.h"
#include "model/stretches.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
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

/// What a rank alone has of these layers: its part over dp of all that tensor parallelism divides.
std::vector<double> alone(const GridRank& own, const model::ModelStructure& whole, const Layers& all,
                          const Flags& layers) {
  std::vector<double> values;
  for (const Count l : own.layers) {
    const auto at = static_cast<std::size_t>(l);
    if (!layers[at]) continue;
    for (const auto& [part, first] : model::stretches(whole.layers[at], own.layer(l))) {
      for (const Entry& entry : own.layer(l).entries) {
        const Range common = intersect(intersect(part, own.mine(l)), entry.range);
        if (common.size() == 0 || entry.split == Split::whole) continue;
        const auto begin = all[at].begin() + first + common.begin - part.begin;
        values.insert(values.end(), begin, begin + common.size());
      }
    }
  }
  return values;
}

/// Of these layers each rank has kept its own batch's gradient in its part, and never got the others'.
bool are_not_reduced(const FirstStep& step, const Layers& found, const Flags& layers) {
  const model::ModelStructure whole = model::make_structure(step.kase.model);
  for (int rank = 0; rank < step.kase.ranks; ++rank) {
    const GridRank own(step.kase, rank);
    const Layers& local = step.expected.local_grads[static_cast<std::size_t>(own.dp)];
    if (own.d == 1 || !alike(alone(own, whole, found, layers), alone(own, whole, local, layers))) return false;
  }
  return true;
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
  if (alike(found, GridNorm(step.kase, step.expected).with_uses_apart())) return check.diagnose("tied_not_summed");
  const Range table = table_in(step, 0);
  const Layers first{slice(found.front(), table)}, right{slice(step.expected.grads.front(), table)};
  check.diagnose(constant_ratio(first, right).value_or(0) > 1.5 ? "tied_summed_twice" : "tied_wrong");
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

/// What an update has multiplied a layer's gradient with, told from the first moment after one step.
std::optional<double> factor_used(const FirstStep& step, const Layers& moments, std::size_t l) {
  const std::optional<double> ratio = constant_ratio(Layers{moments[l]}, Layers{step.expected.grads[l]});
  if (!ratio) return std::nullopt;
  return *ratio / (1 - static_cast<double>(AdamStep{}.beta1));
}

/// The gradients are right, and the first moments are not: which factor were they multiplied with?
void diagnose_moments(CheckContext& check, const FirstStep& step) {
  const Layers moments = step.found("m");
  if (moments.size() != step.expected.m.size() || !all_finite(moments)) return;
  std::vector<std::optional<double>> factors;
  Flags untouched;
  for (std::size_t l = 0; l < moments.size(); ++l) {
    factors.push_back(factor_used(step, moments, l));
    untouched.push_back(near(factors.back(), 0));
  }
  if (are_some_chunks(step.pipeline(), untouched)) return check.diagnose("chunk_forgotten");
  const std::optional<double> first = factors.front();
  for (const std::optional<double>& factor : factors) {
    if (!first || !factor || !near(factor, *first)) return check.diagnose("norm_not_of_all");
  }
  if (near(first, 0)) return check.diagnose("never_updated");
  const double right = step.kase.model.clip / step.expected.norms.back();
  if (near(first, 1)) return check.diagnose("not_clipped");
  if (near(first, right * right)) return check.diagnose("clipped_twice");
  const std::string mistake = GridNorm(step.kase, step.expected).mistake_behind(*first);
  if (!mistake.empty()) check.diagnose(mistake);
}

/// The moments are right, and the weights are not, or not on all ranks.
void diagnose_weights(CheckContext& check, const FirstStep& step) {
  if (step.kase.num_batches() == 1) return;
  const Reference& expected = check.reference();
  const Flags wrong = wrong_layers(check.result(), "weights", expected.weights, expected.weights_tolerance);
  if (are_some_chunks(step.pipeline(), wrong)) return check.diagnose("chunk_forgotten");
  check.diagnose(check.counters(0).calls(Collective::all_gather) > 0 ? "gathered_too_early" : "not_gathered");
}

void diagnose_numbers(CheckContext& check) {
  const FirstStep step(check);
  const Reference& right = step.expected;
  const Flags gradients = step.wrong("grads", right.grads, right.grads_tolerance);
  if (any(gradients)) return diagnose_gradients(check, step, gradients);
  if (any(step.wrong("m", right.m, right.m_tolerance))) return diagnose_moments(check, step);
  diagnose_weights(check, step);
}

/// What each rank's loss should be: where the last stage is, its batch's share.
std::vector<double> loss_by_rank(const CheckContext& check) {
  const Case& kase = check.kase();
  const reference::LayersOf<double> weights = reference::initial_weights<double>(kase);
  Layers unused = scaled(weights, 0);
  std::vector<double> losses;
  for (int rank = 0; rank < kase.ranks; ++rank) {
    double loss = 0;
    for (int i = 0; GridRank(kase, rank).is_last() && i < kase.micro_batches; ++i) {
      const MicroData data = micro_of(kase, kase.batch_of(rank), i);
      loss += reference::train_micro(kase, data, tokens_of_step(kase), weights, unused);
    }
    losses.push_back(loss);
  }
  return losses;
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

void diagnose_bytes(CheckContext& check, int rank, const std::string& group) {
  const auto all_reduces = [&] { return calls_in(check.counters(rank), group, Collective::all_reduce); };
  if (group == "tp") return check.diagnose("computed_twice");
  if (group == "down") return check.diagnose("too_many_messages");
  if (group == "ends") return check.diagnose("table_too_often");
  if (group == "dp") return check.diagnose(all_reduces() > 0 ? "all_reduced" : "too_much_over_replicas");
  check.diagnose(all_reduces() > check.kase().steps ? "norm_in_pieces" : "too_much_over_world");
}

/// The rank has sent what it should in these groups. Adds that to `known`.
bool check_bytes(CheckContext& check, int rank, const GroupBytes& bytes, Bytes& known) {
  const Bytes sent = sent_in(check.counters(rank), bytes.groups);
  known += sent;
  const std::string names = fmt::format("{}", fmt::join(bytes.groups, " and "));
  return check.exactly(fmt::format("sent by {} in group {}", check.name_of(rank), names), sent,
                       in_all_steps(check.kase(), bytes.budget), check.place_of_last(rank, EventKind::collective));
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
  check.diagnose(found > expected.value() ? "too_many_in_flight" : "copies_kept");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  const bool right = check.equal_layers("grads", expected.grads, expected.grads_tolerance) && equal_moments(check) &&
                     check.equal_layers("weights", expected.weights, expected.weights_tolerance);
  if (!right) return diagnose_numbers(check);
  if (check.kase().steps > 1) return;  // the shares are those of the case's own weights
  check.equal("loss by rank", loss_by_rank(check), expected.loss_tolerance);
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
  }
}

SHARDLINGS_CHECK(memory) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const GridRank own(check.kase(), rank);
    if (!check.peak_at_most(rank, peak_of(check.kase(), own))) return diagnose_memory(check, rank, own);
  }
}

SHARDLINGS_CHECK(time) {
  const Case& kase = check.kase();
  const Pipeline pipeline = GridRank(kase, 0).pipeline;
  const int rank = check.slowest_rank();
  if (check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank),
                    in_all_steps(kase, step_time(kase, pipeline)))) {
    return;
  }
  Order order = order_found(check, pipeline, 0);
  order.resize(order.size() / static_cast<std::size_t>(kase.steps));
  const bool one_by_one = most_in_flight(order) <= pipeline.v;
  check.diagnose(!one_by_one && runs_empty(order) ? "drained" : "warm_up_too_short");
}
