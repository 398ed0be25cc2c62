// Judges ZeRO-1: every rank as one device on all batches, moments divided, the norm that of the whole gradient.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "base/parts.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/formulas/step_cost.h"
#include "grading/judge/most_of_products.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::Event;
using front::EventKind;

namespace {

constexpr int kZero = 1;

/// What a rank owns of each layer.
Layers part_of_rank(const Case& kase, const Layers& whole, int rank) {
  Layers parts;
  for (const std::vector<double>& layer : whole) {
    const Range mine = part_of(static_cast<Count>(layer.size()), kase.ranks, rank);
    parts.emplace_back(layer.begin() + mine.begin, layer.begin() + mine.end);
  }
  return parts;
}

double norm_of(const Layers& layers) {
  double squares = 0;
  for (const std::vector<double>& layer : layers) {
    for (const double x : layer) squares += x * x;
  }
  return std::sqrt(squares);
}

/// The norm of all ranks' own gradients, one behind the other.
double norm_of_locals(const std::vector<Layers>& locals) {
  double squares = 0;
  for (const Layers& local : locals) squares += norm_of(local) * norm_of(local);
  return std::sqrt(squares);
}

/// That of all that state.grads holds after reduce-scatters in place: the sum, and around each part a rank's own.
double norm_of_everything(const CheckContext& check) {
  const std::vector<Layers>& locals = check.reference().local_grads;
  double squares = std::pow(norm_of(check.reference().grads), 2) + std::pow(norm_of_locals(locals), 2);
  for (int rank = 0; rank < check.ranks(); ++rank) {
    squares -= std::pow(norm_of(part_of_rank(check.kase(), locals[static_cast<std::size_t>(rank)], rank)), 2);
  }
  return std::sqrt(squares);
}

/// Some layers have the sum of all ranks, the others each rank's own gradient.
bool some_layers_reduced(const Layers& found, const Layers& whole, const Layers& own) {
  std::size_t reduced = 0;
  for (std::size_t l = 0; l < whole.size(); ++l) {
    if (alike(Layers{found[l]}, Layers{whole[l]})) {
      ++reduced;
    } else if (!alike(Layers{found[l]}, Layers{own[l]})) {
      return false;
    }
  }
  return reduced > 0 && reduced < whole.size();
}

void diagnose_gradients(CheckContext& check) {
  const Case& kase = check.kase();
  const Reference& expected = check.reference();
  const Layers found = found_layers(check.result(), "grads");
  if (found.size() != expected.grads.size() || !all_finite(found)) return;
  const Layers own = from_parts(kase, expected.local_grads);
  if (alike(found, own)) return check.diagnose("not_reduced");
  const std::optional<double> ratio = constant_ratio(found, expected.grads);
  if (near(ratio, static_cast<double>(kase.model.clip) / expected.norms.back()))
    return check.diagnose("clipped_in_place");
  if (near(ratio, 1.0 / kase.ranks)) return check.diagnose("averaged");
  if (near(ratio, kase.ranks)) return check.diagnose("reduced_twice");
  if (some_layers_reduced(found, expected.grads, own)) check.diagnose("layer_not_reduced");
}

/// What the updates of a rank's part (or of a layer) have multiplied the gradient with, told from the first moment.
std::optional<double> factor_used(const Layers& moments, const Layers& gradients) {
  const std::optional<double> ratio = constant_ratio(moments, gradients);
  if (!ratio) return std::nullopt;
  return *ratio / (1 - static_cast<double>(AdamStep{}.beta1));
}

/// The norm if the sum of squares goes through an all-reduce after every layer, from layer 0 up or from the last one
/// down: what was summed already is counted N times at each later layer.
double norm_summed_in_the_loop(const Layers& gradients, int ranks, bool upwards) {
  double squares = 0;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const std::size_t l = upwards ? i : gradients.size() - 1 - i;
    squares = ranks * squares + std::pow(norm_of(Layers{gradients[l]}), 2);
  }
  return std::sqrt(squares);
}

/// Every rank has used limit / norm(rank).
bool all_used(const CheckContext& check, const Layers& moments, auto norm) {
  const double limit = check.kase().model.clip;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const auto used = factor_used(part_of_rank(check.kase(), moments, rank),
                                  part_of_rank(check.kase(), check.reference().grads, rank));
    if (!near(used, std::min(1.0, limit / norm(rank)))) return false;
  }
  return true;
}

/// Every layer was cut to the limit by itself.
bool clipped_by_layer(const CheckContext& check, const Layers& moments) {
  const double limit = check.kase().model.clip;
  for (std::size_t l = 0; l < moments.size(); ++l) {
    const Layers layer{check.reference().grads[l]};
    if (!near(factor_used(Layers{moments[l]}, layer), std::min(1.0, limit / norm_of(layer)))) return false;
  }
  return true;
}

/// Every rank has cut its part of every layer to the limit by itself.
bool clipped_by_part(const CheckContext& check, const Layers& moments) {
  const Case& kase = check.kase();
  const double limit = kase.model.clip;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Layers found = part_of_rank(kase, moments, rank), right = part_of_rank(kase, check.reference().grads, rank);
    for (std::size_t l = 0; l < right.size(); ++l) {
      const Layers part{right[l]};
      if (!near(factor_used(Layers{found[l]}, part), std::min(1.0, limit / norm_of(part)))) return false;
    }
  }
  return true;
}

/// Mistakes with the norm that would have led to these moments; some cannot be told apart where the factor is 1.
std::set<std::string> norm_mistakes(const CheckContext& check, const Layers& moments) {
  const Case& kase = check.kase();
  const Reference& expected = check.reference();
  const double norm = expected.norms.front(), limit = kase.model.clip;
  std::set<std::string> fitting;
  const auto fits = [&](const char* mistake, bool holds) {
    if (holds) fitting.insert(mistake);
  };
  const auto whole = [&](double factor) { return near(factor_used(moments, expected.grads), factor); };
  const auto by = [&](double other) { return whole(std::min(1.0, limit / other)); };
  fits("not_clipped", whole(1));
  fits("clipped_twice", whole(std::pow(std::min(1.0, limit / norm), 2)));
  if (kase.ranks > 1) {
    fits("norm_counted_n_times", by(norm * std::sqrt(kase.ranks)));
    for (const bool upwards : {true, false}) {
      fits("squares_summed_again", by(norm_summed_in_the_loop(expected.grads, kase.ranks, upwards)));
    }
    const auto part = [&](int rank) { return norm_of(part_of_rank(kase, expected.grads, rank)); };
    fits("local_norm", all_used(check, moments, part));
    const auto local = [&](int rank) { return norm_of(expected.local_grads[static_cast<std::size_t>(rank)]); };
    const bool before_reduction = all_used(check, moments, local) || by(norm_of_locals(expected.local_grads)) ||
                                  by(norm_of(from_parts(kase, expected.local_grads)));
    fits("norm_before_reduction", before_reduction);
    fits("norm_of_everything", by(norm_of_everything(check)));
  }
  fits("clipped_by_layer", clipped_by_layer(check, moments) || clipped_by_part(check, moments));
  return fitting;
}

/// The gradients are right, and the first moments are not: which factor were they multiplied with?
void diagnose_moments(CheckContext& check) {
  const Case& kase = check.kase();
  const Reference& expected = check.reference();
  const Layers moments = found_layers(check.result(), "m");
  if (moments.size() != expected.m.size()) return;
  if (!all_finite(moments)) return check.diagnose("padding_in_norm");
  if (norm_of(moments) == 0) return check.diagnose("never_updated");
  if (count_of(check, EventKind::update) >= 2 * number_of_layers(kase) * kase.steps) {
    return check.diagnose("updated_twice");
  }
  if (kase.steps > 1) return;
  const std::set<std::string> fitting = norm_mistakes(check, moments);
  if (fitting.size() == 1) check.diagnose(*fitting.begin());
}

/// The moments are right, and the weights are not: is it that each rank has new weights in its own part alone?
void diagnose_weights(CheckContext& check) {
  const Case& kase = check.kase();
  if (kase.ranks == 1 || kase.steps > 1) return;
  const Reference& expected = check.reference();
  for (int rank = 0; rank < kase.ranks; ++rank) {
    std::vector<Layers> own(static_cast<std::size_t>(kase.ranks), expected.weights_before);
    own[static_cast<std::size_t>(rank)] = expected.weights;
    const Layers change = combine(from_parts(kase, own), -1, expected.weights_before);
    const Layers found = layers_of_rank(check.result(), "weights", rank);
    if (found.size() != change.size()) return;
    if (!alike(combine(found, -1, expected.weights_before), change)) return;
  }
  check.diagnose(check.counters(0).calls(Collective::all_gather) > 0 ? "gathered_too_early" : "not_gathered");
}

void diagnose_memory(CheckContext& check, int rank) {
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  const std::int64_t weights = weight_bytes(layer_bytes(check.kase()));
  const front::KindBytes& kinds = check.counters(rank).peak_by_kind;
  const auto bytes_of = [&](Kind kind) { return kinds[static_cast<std::size_t>(kind)].value(); };
  if (bytes_of(Kind::optimizer) > 2 * sum_of(part_bytes(check.kase(), rank))) return check.diagnose("not_sharded");
  if (bytes_of(Kind::parameter) > weights) return check.diagnose("weights_copied");
  if (bytes_of(Kind::gradient) + bytes_of(Kind::buffer) > weights) check.diagnose("gradients_copied");
}

/// Bytes that a rank sends: a reduce-scatter and an all-gather of each layer, and the squares.
Formula<Bytes> wire_bytes(const Case& kase, int rank) {
  return in_all_steps(kase,
                      step_bytes(kase, rank, kZero) + named("one number", Bytes(all_reduce_bytes_of_one(kase, rank))));
}

/// All ranks report one loss, though each has other tokens: it went through an all-reduce.
bool same_loss_everywhere(const CheckContext& check) {
  const Output* output = check.output("loss by rank");
  if (output == nullptr || check.ranks() == 1) return false;
  const std::vector<float>& losses = output->values;
  return losses.size() > 1 && std::count(losses.begin(), losses.end(), losses.front()) == std::ssize(losses);
}

void diagnose_bytes(CheckContext& check, int rank) {
  const Case& kase = check.kase();
  const front::Counters& counters = check.counters(rank);
  const std::int64_t calls = number_of_layers(kase) * kase.steps, half = wire_bytes(kase, rank).value().value() / 2;
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  const std::int64_t rooted = counters.calls(Collective::broadcast) + counters.calls(Collective::reduce);
  const bool missing =
      counters.calls(Collective::all_gather) < calls || counters.calls(Collective::reduce_scatter) < calls;
  if (rooted > 0) return check.diagnose(missing ? "part_by_part" : "norm_by_a_root");
  for (const Collective kind : {Collective::all_gather, Collective::reduce_scatter}) {
    if (cut_into_pieces(check, rank, kind, calls, Bytes(half))) return check.diagnose("in_pieces");
  }
  if (counters.calls(Collective::all_gather) > calls) return check.diagnose("more_gathered");
  const std::int64_t norms = counters.calls(Collective::all_reduce);
  if (norms < kase.steps) return;
  if (norms <= 2 * kase.steps && same_loss_everywhere(check)) return check.diagnose("loss_reduced");
  // An all-reduce of one number sends 8 bytes at most: is it numbers, up to one for each layer, or gradients?
  const std::int64_t numbers = counters.bytes_sent(Collective::all_reduce).value();
  const bool more_than_one = norms > kase.steps || numbers > kase.steps * all_reduce_bytes_of_one(kase, rank);
  if (more_than_one && numbers <= 8 * calls) return check.diagnose("norm_in_pieces");
  if (numbers < half) return;
  const bool scattered = counters.calls(Collective::reduce_scatter) >= calls;
  if (!scattered || counters.calls(Collective::all_gather) > 0) return check.diagnose("all_reduced");
  check.diagnose("gathered_by_all_reduce");
}

/// Beside weights, gradients and moments nothing is alive once the backward pass is over but the gradient of the
/// inputs, which the given code keeps, and a few numbers.
bool keeps_nothing_beside(CheckContext& check, int rank) {
  const Case& kase = check.kase();
  const StepPeak there = step_peak(kase, rank, kZero);
  const auto backwards = check.events(rank, EventKind::backward);
  std::uint64_t over = 0;  // the number of the last backward's call
  for (const Event& backward : backwards) over = std::max(over, backward.order);
  Event worst;
  for (const Event& event : check.trace(rank).events) {
    const bool counts = event.kind == EventKind::collective || event.kind == EventKind::update;
    if (counts && event.depth == 0 && event.order > over && event.live_after > worst.live_after) worst = event;
  }
  const Formula<Bytes> budget = named("weights", Bytes(there.weights)) + named("gradients", Bytes(there.gradients)) +
                                named("moments/N", Bytes(there.optimizer)) +
                                named("batch and loss", Bytes(there.batch)) +
                                named("gradient of the inputs", Bytes(layer_bytes(kase).front().input_gradient)) +
                                named("numbers for the norm", Bytes((number_of_layers(kase) + 4) * kBytesOfF32));
  return check.at_most(fmt::format("memory of {} after the backward pass", check.name_of(rank)), worst.live_after,
                       budget, place_of(worst));
}

Formula<Nanos> planned_time(const Case& kase) {
  const Letters letter(kase);
  const Nanos rings(sum_of(ring_times(kase)));
  return letter.l * (letter.f + letter.b) + named("reduce-scatters", rings) +
         named("norm", Nanos(all_reduce_time_of_one(kase))) + named("all-gathers", rings);
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance)) return diagnose_gradients(check);
  if (!check.equal_layers("m", expected.m, expected.m_tolerance)) return diagnose_moments(check);
  if (!check.equal_layers("v", expected.v, expected.v_tolerance)) return;
  if (!check.equal_layers("weights", expected.weights, expected.weights_tolerance)) return diagnose_weights(check);
  if (!equal_loss_shares(check) && whole_loss_everywhere(check)) check.diagnose("loss_reduced");
}

SHARDLINGS_CHECK(memory) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Formula<Bytes> peak = step_peak(check.kase(), rank, kZero).formula();
    if (!check.peak_at_most(rank, peak)) return diagnose_memory(check, rank);
    if (!keeps_nothing_beside(check, rank)) return check.diagnose("kept_beside");
  }
  nothing_on_host(check);
}

SHARDLINGS_CHECK(communication) {
  const Case& kase = check.kase();
  const Formula<Count> calls = in_all_steps(kase, 2 * Letters(kase).l + named("the norm", 1));
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!sends_at_most(check, rank, wire_bytes(kase, rank)) || !operations_at_most(check, rank, calls)) {
      return diagnose_bytes(check, rank);
    }
  }
}

SHARDLINGS_CHECK(time) {
  const Case& kase = check.kase();
  if (finishes_within(check, in_all_steps(kase, planned_time(kase)))) return;
  const int rank = check.slowest_rank();
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  if (computes_twice(check, rank)) check.diagnose("computed_twice");
}

/// A norm of every weight in each step, and every gradient times its factor; squares twice, as ranks may all have them.
SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {
  const model::ModelStructure structure = model::make_structure(check.kase().model);
  const Count steps = check.kase().steps, layers = std::ssize(structure.layers);
  return {{Product::add_squares, Flops(2 * 2 * steps * structure.total)},
          {Product::clip_factor, Flops(2 * steps * layers)},
          {Product::scale_by, Flops(steps * structure.total)}};
}

SHARDLINGS_PREDICTIONS("4 ranks") {
  const Case& kase = predict.kase();
  const Letters letter(kase);
  const StepPeak peak = step_peak(kase, 0, kZero), plain = step_peak(kase, 0, 0);
  const Formula<Bytes> whole = named("weights", Bytes(peak.weights)) + named("gradients", Bytes(peak.gradients));
  const Formula<Bytes> weights = named("weights", Bytes(peak.weights));
  const Formula<Nanos> rings = named("reduce-scatters", Nanos(sum_of(ring_times(kase))));
  predict
      .number("states", "How many bytes of weights, gradients and moments does a rank hold?",
              whole + named("moments/N", Bytes(peak.optimizer)))
      .unlike(whole + named("moments", Bytes(plain.optimizer)), "Those are whole moments. A rank has its N-th of them.")
      .unlike((whole + named("moments", Bytes(plain.optimizer))) / letter.n,
              "ZeRO-1 divides the moments alone: weights and gradients are whole.");
  predict.peak("peak", 0, "How many bytes of device memory are alive on a rank at the worst moment?", peak.formula())
      .unlike(plain.formula(), "That is plain data parallelism, with whole moments on every rank.")
      .unlike(whole + named("moments/N", Bytes(peak.optimizer)), "Those are the states alone. A backward is running.");
  predict.sent("sent", 0, "How many bytes does rank 0 send in the step?", wire_bytes(kase, 0))
      .unlike(2 * (share_of_others(letter.n) * weights),
              "The squares of the norm are summed over the ranks: that is one number more.")
      .unlike(share_of_others(letter.n) * weights, "There are two halves: gradients are scattered, weights gathered.")
      .unlike(2 * (2 * (share_of_others(letter.n) * weights)),
              "A reduce-scatter and an all-gather are two halves of one all-reduce, not two all-reduces.");
  predict.end("time", "When does the step end?", planned_time(kase))
      .unlike(letter.l * (letter.f + letter.b), "That is computation alone. Nothing of the rest is hidden here.")
      .unlike(letter.l * (letter.f + letter.b) + rings, "The all-gathers of the new weights are missing.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 ranks") {
  const Formula<Count> n = named("N", 8);
  const Formula<Bytes> whole = named("weight and gradient", Bytes(4 + 4)), moments = named("moments", Bytes(4 + 4));
  predict.answer(1)
      .number("share", "With N = 8: how many bytes of states does a rank hold for each weight of the model?",
              whole + moments / n)
      .unlike(whole + moments, "That is with whole moments.")
      .unlike((whole + moments) / n, "ZeRO-1 divides the moments alone.");
}
