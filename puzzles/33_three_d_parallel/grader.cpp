// Judges three-dimensional parallelism: one device's training, the bytes of every group, memory and time of every rank.

#include "grading/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parts.h"
#include "base/text.h"
#include "front/model/memory.h"
#include "grading/data.h"
#include "grading/pipeline_checks.h"
#include "grading/reference/trainer.h"
#include "grading/sharding.h"
#include "grading/sharding_checks.h"
#include "grading/stretches.h"
#include "grading/tensor_parallel.h"

using namespace shardlings;
using namespace shardlings::grading;
using front::Collective;
using front::EventKind;

namespace {

/// Where a rank is: the order is that of harness.cpp.
struct Place3d {
  int t, p, d;
  int tp, stage, dp;

  Place3d(const Case& kase, int rank)
      : t(static_cast<int>(kase.integer("t"))),
        p(static_cast<int>(kase.integer("p"))),
        d(static_cast<int>(kase.integer("d"))),
        tp(rank % t),
        stage(rank / t % p),
        dp(rank / t / p) {}
  bool is_first() const { return stage == 0; }
  bool is_last() const { return stage == p - 1; }
};

/// What a rank has of the model: its part of every layer, and which layers.
struct OwnModel {
  OwnModel(const Case& kase, int rank) : at(kase, rank), plan(detail::make_part(kase.model, at.t, at.tp)) {
    const Count tokens = kase.model.sequence * kase.batch;
    pipeline.p = at.p;
    pipeline.m = kase.micro_batches;
    pipeline.layers = layer_bytes(kase, plan);
    const detail::LayerPlan& head = plan.layers.back();
    pipeline.loss = (loss_peak(head, kase.model.outputs, tokens) - output_bytes(head, tokens)).value();
    layers = pipeline.layers_of(at.stage, 0);
  }
  const detail::LayerPlan& layer(Count l) const { return plan.layers[static_cast<std::size_t>(l)]; }
  Count size(Count l) const { return layer(l).range.size(); }
  /// Elements of the table of token ids.
  Count tied() const { return entry_of(plan.layers.front(), "token").range.size(); }

  Place3d at;
  detail::ModelPlan plan;
  Pipeline pipeline;
  Range layers;
};

Order order_of_rank(const OwnModel& own) {
  return order_of(own.pipeline, one_f_one_b_warm_up(own.pipeline, own.at.stage));
}

double squares_of(const std::vector<double>& values, Range range) {
  double squares = 0;
  for (Count i = range.begin; i < range.end; ++i) {
    squares += values[static_cast<std::size_t>(i)] * values[static_cast<std::size_t>(i)];
  }
  return squares;
}

/// The first step's gradient as mistakes with the table would leave it, and what else wrong norms are made of.
class Gradients {
 public:
  explicit Gradients(const CheckContext& check)
      : right_(check.reference().grads), plan_(detail::make_plan(check.kase().model)) {
    const Case& kase = check.kase();
    const reference::Layers<double> weights = reference::initial_weights<double>(kase);
    const Count tokens = tokens_of_step(kase);
    own_ = scaled(weights, 0);
    for (int batch = 0; batch < kase.num_batches(); ++batch) {
      for (int i = 0; i < kase.micro_batches; ++i) {
        reference::train_micro(kase, micro_of(kase, batch, i), tokens, weights, own_);
      }
    }
  }

  /// Summed over the replicas, but each use of the table by itself.
  const Layers& own_uses() const { return own_; }
  Range table(std::size_t l) const {
    if (l == 0) return entry_of(plan_.layers.front(), "token").range;
    return l + 1 == right_.size() ? entry_of(plan_.layers.back(), "weight").range : Range{};
  }
  /// The same with zeros where the table is.
  Layers without_table(Layers grads) const {
    for (std::size_t l = 0; l < grads.size(); ++l) {
      const Range zero = table(l);
      std::fill(grads[l].begin() + zero.begin, grads[l].begin() + zero.end, 0);
    }
    return grads;
  }

  double squares() const { return squares_without(right_) + table_squares(); }
  double table_squares() const { return squares_of(right_.front(), table(0)); }
  double squares_of_own_uses() const { return squares_without(own_) + squares_of(own_.front(), table(0)); }
  /// Of what all ranks of a tensor-parallel group have.
  double replicated_squares() const {
    double squares = 0;
    for (std::size_t l = 0; l < right_.size(); ++l) {
      for (const Entry& entry : plan_.layers[l].entries) {
        if (entry.split == Split::whole) squares += squares_of(right_[l], entry.range);
      }
    }
    return squares;
  }

 private:
  double squares_without(const Layers& grads) const {
    double squares = 0;
    for (const std::vector<double>& layer : without_table(grads)) {
      squares += squares_of(layer, {0, static_cast<Count>(layer.size())});
    }
    return squares;
  }

  Layers right_;
  detail::ModelPlan plan_;
  Layers own_;
};

/// What a rank alone has of the layers of its stage: its part over dp of all that tensor parallelism divides.
std::vector<double> alone(const OwnModel& own, const detail::ModelPlan& whole, const Layers& all) {
  std::vector<double> values;
  for (Count l = own.layers.begin; l < own.layers.end; ++l) {
    const auto at = static_cast<std::size_t>(l);
    const Range mine = part_of(own.size(l), own.at.d, own.at.dp);
    for (const auto& [part, first] : stretches(whole.layers[at], own.layer(l))) {
      for (const Entry& entry : own.layer(l).entries) {
        const Range common = intersect(intersect(part, mine), entry.range);
        if (common.size() == 0 || entry.split == Split::whole) continue;
        const auto begin = all[at].begin() + first + common.begin - part.begin;
        values.insert(values.end(), begin, begin + common.size());
      }
    }
  }
  return values;
}

/// Each rank has kept its own batch's gradient in its part, and never got the others'.
bool is_not_reduced(const CheckContext& check, const Layers& found) {
  const detail::ModelPlan whole = detail::make_plan(check.kase().model);
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const OwnModel own(check.kase(), rank);
    const Layers& local = check.reference().local_grads[static_cast<std::size_t>(own.at.dp)];
    if (own.at.d == 1 || !alike(alone(own, whole, found), alone(own, whole, local))) return false;
  }
  return true;
}

void diagnose_table(CheckContext& check, const Gradients& gradients, const Layers& found) {
  if (alike(found, gradients.own_uses())) return check.diagnose("tied_not_summed");
  const Range table = gradients.table(0);
  const Layers first{slice(found.front(), table)}, right{slice(check.reference().grads.front(), table)};
  check.diagnose(constant_ratio(first, right).value_or(0) > 1.5 ? "tied_summed_twice" : "tied_wrong");
}

void diagnose_gradients(CheckContext& check) {
  const Case& kase = check.kase();
  const Reference& expected = check.reference();
  const Layers found = found_layers(check.result(), "grads");
  if (found.size() != expected.grads.size() || !all_finite(found) || kase.steps > 1) return;
  const std::optional<double> ratio = constant_ratio(found, expected.grads);
  if (near(ratio, static_cast<double>(kase.model.clip) / expected.norms.back())) {
    return check.diagnose("clipped_in_place");
  }
  if (kase.num_batches() > 1 && near(ratio, 1.0 / kase.num_batches())) return check.diagnose("averaged");
  if (kase.num_batches() > 1 && near(ratio, kase.num_batches())) return check.diagnose("reduced_twice");
  if (is_not_reduced(check, found)) return check.diagnose("not_reduced");
  const Gradients gradients(check);
  if (alike(gradients.without_table(found), gradients.without_table(expected.grads))) {
    diagnose_table(check, gradients, found);
  }
}

/// What an update has multiplied a layer's gradient with, told from the first moment after one step.
std::optional<double> factor_used(const CheckContext& check, const Layers& moments, std::size_t l) {
  const std::optional<double> ratio = constant_ratio(Layers{moments[l]}, Layers{check.reference().grads[l]});
  if (!ratio) return std::nullopt;
  return *ratio / (1 - static_cast<double>(AdamStep{}.beta1));
}

/// The gradients are right, and the first moments are not: which factor were they multiplied with?
void diagnose_moments(CheckContext& check) {
  const Case& kase = check.kase();
  const Layers moments = found_layers(check.result(), "m");
  if (moments.size() != check.reference().m.size() || !all_finite(moments) || kase.steps > 1) return;
  const std::optional<double> first = factor_used(check, moments, 0);
  for (std::size_t l = 0; l < moments.size(); ++l) {
    const std::optional<double> factor = factor_used(check, moments, l);
    if (!first || !factor || !near(factor, *first)) return check.diagnose("norm_not_of_all");
  }
  if (near(first, 0)) return check.diagnose("never_updated");
  const double limit = kase.model.clip, right = limit / check.reference().norms.back();
  if (near(first, 1)) return check.diagnose("not_clipped");
  if (near(first, right * right)) return check.diagnose("clipped_twice");
  const Gradients gradients(check);
  const double t = static_cast<double>(kase.integer("t"));
  const double squares = gradients.squares(), table = gradients.table_squares();
  const double copies = (t - 1) * gradients.replicated_squares();
  const auto is = [&](double of_norm) { return near(first, std::min(1.0, limit / std::sqrt(of_norm))); };
  if (is(squares + table)) return check.diagnose("tied_counted_twice");
  if (t > 1 && is(squares + copies)) return check.diagnose("replicas_counted");
  if (t > 1 && is(squares + table + copies)) return check.diagnose("everything_counted");
  if (is(gradients.squares_of_own_uses())) check.diagnose("norm_before_tied");
}

/// The moments are right, and the weights are not, or not on all ranks.
void diagnose_weights(CheckContext& check) {
  if (check.kase().num_batches() == 1) return;
  check.diagnose(check.counters(0).calls(Collective::all_gather) > 0 ? "gathered_too_early" : "not_gathered");
}

/// What each rank's loss should be: on the last stage its batch's share.
std::vector<double> loss_by_rank(const CheckContext& check) {
  const Case& kase = check.kase();
  const reference::Layers<double> weights = reference::initial_weights<double>(kase);
  Layers unused = scaled(weights, 0);
  std::vector<double> losses;
  for (int rank = 0; rank < kase.ranks; ++rank) {
    double loss = 0;
    for (int i = 0; Place3d(kase, rank).is_last() && i < kase.micro_batches; ++i) {
      const MicroData data = micro_of(kase, kase.batch_of(rank), i);
      loss += reference::train_micro(kase, data, tokens_of_step(kase), weights, unused);
    }
    losses.push_back(loss);
  }
  return losses;
}

std::int64_t sent_in(const front::Counters& counters, const std::string& group) {
  std::int64_t bytes = 0;
  for (const auto& [key, traffic] : counters.traffic) bytes += key.group == group ? traffic.sent.value() : 0;
  return bytes;
}

std::int64_t calls_in(const front::Counters& counters, const std::string& group, Collective kind) {
  std::int64_t calls = 0;
  for (const auto& [key, traffic] : counters.traffic) {
    if (key.group == group && key.kind == kind) calls += traffic.calls;
  }
  return calls;
}

/// The layers' own sums: of whole activations, and for the loss of numbers for each token.
Budget tp_bytes(const Case& kase, const OwnModel& own) {
  Count wide = 0, narrow = 0;
  for (Count l = own.layers.begin; l < own.layers.end; ++l) {
    const auto type = own.layer(l).type;
    wide += type == detail::LayerPlan::Type::block ? 4 : 1;
    if (type == detail::LayerPlan::Type::head) narrow += 3;
  }
  const Count tokens = kase.model.sequence * kase.batch;
  const std::int64_t of_wide = all_reduce_bytes(tokens * kase.model.hidden, own.at.t, own.at.tp);
  const std::int64_t of_narrow = all_reduce_bytes(tokens, own.at.t, own.at.tp);
  return {own.pipeline.m * (wide * of_wide + narrow * of_narrow),
          fmt::format("m x sums of the stage's layers = {} x ({} x {} + {} x {})", own.pipeline.m, wide, of_wide,
                      narrow, of_narrow)};
}

Budget dp_bytes(const OwnModel& own) {
  std::vector<std::int64_t> terms;
  for (Count l = own.layers.begin; l < own.layers.end; ++l) {
    terms.push_back(reduce_scatter_bytes(own.size(l), own.at.d, own.at.dp) +
                    all_gather_bytes(own.size(l), own.at.d, own.at.dp));
  }
  return {sum_of(terms), "2 (d-1)/d of each layer's bytes = " + sum_text(terms)};
}

Budget ends_bytes(const OwnModel& own) {
  if (own.at.p == 1 || (!own.at.is_first() && !own.at.is_last())) return {0, "nothing between the ends"};
  return {all_reduce_bytes(own.tied(), 2, own.at.is_first() ? 0 : 1),
          fmt::format("the table's gradient = {} x {}", kElement, own.tied())};
}

struct GroupBytes {
  const char* group;
  Budget budget;
  const char* too_much;  ///< diagnosis
};

std::vector<GroupBytes> bytes_of_groups(const Case& kase, int rank) {
  const OwnModel own(kase, rank);
  const std::int64_t messages = message_bytes(own.pipeline, own.at.stage);
  return {{"dp", dp_bytes(own), "too_much_over_replicas"},
          {"ends", ends_bytes(own), "table_too_often"},
          {"world", {all_reduce_bytes(1, kase.ranks, rank), "2 (N-1)/N of one number"}, "too_much_over_world"},
          {"pp",
           {messages, fmt::format("m x what the stage passes on = {} x {}", own.pipeline.m, messages / own.pipeline.m)},
           "too_many_messages"},
          {"tp", tp_bytes(kase, own), "computed_twice"}};
}

void diagnose_bytes(CheckContext& check, int rank, const GroupBytes& bytes) {
  const front::Counters& counters = check.counters(rank);
  const std::string group = bytes.group;
  if (group == "dp" && calls_in(counters, group, Collective::all_reduce) > 0) return check.diagnose("all_reduced");
  if (group == "world" && calls_in(counters, group, Collective::all_reduce) > check.kase().steps) {
    return check.diagnose("norm_in_pieces");
  }
  check.diagnose(bytes.too_much);
}

/// No bytes in groups that the submission has made for itself.
bool check_nothing_else(CheckContext& check, int rank) {
  std::int64_t known = 0;
  for (const GroupBytes& bytes : bytes_of_groups(check.kase(), rank)) {
    known += sent_in(check.counters(rank), bytes.group);
  }
  return check.exactly(fmt::format("sent by {} in all groups together", check.name_of(rank)),
                       check.counters(rank).bytes_sent().value(), known, "the sum of the above");
}

/// "a = 1" with one more term in front on both sides.
std::string with_term(const std::string& name, std::int64_t value, const std::string& formula) {
  const std::size_t equals = formula.find(" = ");
  return fmt::format("{} + {} = {} + {}", name, formula.substr(0, equals), value, formula.substr(equals + 3));
}

void diagnose_memory(CheckContext& check, int rank, const OwnModel& own, std::int64_t moments) {
  const front::KindBytes& kinds = check.counters(rank).peak_by_kind;
  if (kinds[static_cast<std::size_t>(Kind::optimizer)].value() > moments) return check.diagnose("not_sharded");
  const int expected = most_in_flight(order_of_rank(own));
  const std::int64_t found = check.counters(rank).saved_peak / own.layers.size();
  check.detail(
      fmt::format("{} micro-batches were in flight on {}; min(p - r, m) = {}", found, check.name_of(rank), expected));
  check.diagnose(found > expected ? "too_many_in_flight" : "copies_kept");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance)) return diagnose_gradients(check);
  if (!equal_moments(check)) return diagnose_moments(check);
  if (!check.equal_layers("weights", expected.weights, expected.weights_tolerance)) return diagnose_weights(check);
  if (check.kase().steps > 1) return;  // the shares are those of the case's own weights
  check.equal("loss by rank", loss_by_rank(check), expected.loss_tolerance);
}

SHARDLINGS_CHECK(communication) {
  const Case& kase = check.kase();
  for (int rank = 0; rank < kase.ranks; ++rank) {
    for (const GroupBytes& bytes : bytes_of_groups(kase, rank)) {
      if (check.exactly(fmt::format("sent by {} in group {}", check.name_of(rank), bytes.group),
                        sent_in(check.counters(rank), bytes.group), kase.steps * bytes.budget.value,
                        bytes.budget.formula + times_steps(kase), "bytes",
                        check.place_of_last(rank, EventKind::collective))) {
        continue;
      }
      return diagnose_bytes(check, rank, bytes);
    }
    if (!check_nothing_else(check, rank)) return;
  }
}

SHARDLINGS_CHECK(memory) {
  const Case& kase = check.kase();
  for (int rank = 0; rank < kase.ranks; ++rank) {
    const OwnModel own(kase, rank);
    std::int64_t moments = 0;
    for (Count l = own.layers.begin; l < own.layers.end; ++l) {
      moments += 2 * kElement * part_of(own.size(l), own.at.d, own.at.dp).size();
    }
    const Budget peak =
        memory_along(kase, own.pipeline, own.at.stage, order_of_rank(own), {.sends_in_flight = true}).peak;
    if (!check.peak_at_most(rank, peak.value + moments, with_term("moments", moments, peak.formula)))
      return diagnose_memory(check, rank, own, moments);
  }
}

SHARDLINGS_CHECK(time) {
  const Case& kase = check.kase();
  const OwnModel own(kase, 0);
  const Budget step = step_time(kase, own.pipeline);
  const int rank = check.slowest_rank();
  if (check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank), kase.steps * step.value,
                    step.formula + times_steps(kase), "ns")) {
    return;
  }
  check.diagnose("warm_up_too_short");
}
