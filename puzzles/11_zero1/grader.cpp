// Judges ZeRO-1: every rank as one device on all batches, moments divided, the norm that of the whole gradient.

#include "grading/judge/grader.h"

#include <algorithm>
#include <cmath>

#include "base/parts.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/formulas/step_cost.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
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
  const double norm = expected.norms.front(), limit = kase.model.clip;
  const auto whole = [&](double factor) { return near(factor_used(moments, expected.grads), factor); };
  if (whole(1)) return check.diagnose("not_clipped");
  if (whole(limit / norm * (limit / norm))) return check.diagnose("clipped_twice");
  if (whole(std::min(1.0, limit / (norm * std::sqrt(kase.ranks))))) return check.diagnose("norm_counted_n_times");
  const auto part = [&](int rank) { return norm_of(part_of_rank(kase, expected.grads, rank)); };
  if (all_used(check, moments, part)) return check.diagnose("local_norm");
  const auto locals = [&](int) { return norm_of_locals(expected.local_grads); };
  const auto local = [&](int rank) { return norm_of(expected.local_grads[static_cast<std::size_t>(rank)]); };
  if (all_used(check, moments, locals) || all_used(check, moments, local)) {
    return check.diagnose("norm_before_reduction");
  }
  const auto everything = [&](int) { return norm_of_everything(check); };
  if (all_used(check, moments, everything)) return check.diagnose("norm_of_everything");
  if (clipped_by_layer(check, moments) || clipped_by_part(check, moments)) check.diagnose("clipped_by_layer");
}

/// The moments are right, and the weights are not, or not on all ranks.
void diagnose_weights(CheckContext& check) {
  const bool gathers = check.counters(0).calls(Collective::all_gather) > 0;
  if (check.ranks() > 1) check.diagnose(gathers ? "gathered_too_early" : "not_gathered");
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

void diagnose_bytes(CheckContext& check, int rank) {
  const front::Counters& counters = check.counters(rank);
  const std::int64_t calls = number_of_layers(check.kase()) * check.kase().steps;
  if (counters.calls(Collective::all_gather) > calls) return check.diagnose("more_gathered");
  if (counters.calls(Collective::all_reduce) <= check.kase().steps) return;
  // An all-reduce of one number sends at most 8 bytes.
  const bool numbers =
      counters.bytes_sent(Collective::all_reduce).value() <= 8 * counters.calls(Collective::all_reduce);
  check.diagnose(numbers ? "norm_in_pieces" : "all_reduced");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance)) return diagnose_gradients(check);
  if (!check.equal_layers("m", expected.m, expected.m_tolerance)) return diagnose_moments(check);
  if (!check.equal_layers("v", expected.v, expected.v_tolerance)) return;
  if (!check.equal_layers("weights", expected.weights, expected.weights_tolerance)) return diagnose_weights(check);
  equal_loss_shares(check);
}

SHARDLINGS_CHECK(memory) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Formula<Bytes> peak = step_peak(check.kase(), rank, kZero).formula();
    if (!check.peak_at_most(rank, peak)) return diagnose_memory(check, rank);
  }
}

SHARDLINGS_CHECK(communication) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!sends_at_most(check, rank, wire_bytes(check.kase(), rank))) return diagnose_bytes(check, rank);
  }
}

SHARDLINGS_CHECK(time) {
  const Case& kase = check.kase();
  const Letters letter(kase);
  const Nanos rings(sum_of(ring_times(kase)));
  finishes_within(
      check, in_all_steps(kase, letter.l * (letter.f + letter.b) + named("reduce-scatters", rings) +
                                    named("norm", Nanos(all_reduce_time_of_one(kase))) + named("all-gathers", rings)));
}
