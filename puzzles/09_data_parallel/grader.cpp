// Judges data parallel training: every rank as one device on the whole batch, one all-reduce, hidden, nothing twice.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/formulas/step_cost.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::EventKind;

namespace {

constexpr int kDataParallel = 0;  // no stage of ZeRO

const Layers& local_gradient(const CheckContext& check, int rank) {
  return check.reference().local_grads.at(static_cast<std::size_t>(rank));
}

bool on_every_rank(const CheckContext& check, int first, auto holds) {
  for (int rank = first; rank < check.ranks(); ++rank) {
    if (!holds(rank)) return false;
  }
  return true;
}

/// What the ranks have put into `loss` altogether, as a multiple of the right loss.
double loss_ratio(const CheckContext& check) {
  const Output* output = check.output("loss by rank");
  if (output == nullptr) return 0;
  return std::accumulate(output->values.begin(), output->values.end(), 0.0) / check.reference().loss;
}

/// The sum of the ranks' gradients if each divides by its own tokens.
Layers sum_of_means(const CheckContext& check) {
  const auto all = static_cast<double>(tokens_of_step(check.kase()));
  Layers sum;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const auto own = static_cast<double>(micro_of(check.kase(), rank, 0).tokens);
    const Layers mean = scaled(local_gradient(check, rank), all / own);
    sum = sum.empty() ? mean : combine(sum, 1, mean);
  }
  return sum;
}

/// Some layers have the sum of all ranks on every rank, the others their own gradient.
bool some_layers_reduced(const CheckContext& check) {
  std::size_t reduced = 0;
  const Layers& whole = check.reference().grads;
  for (std::size_t l = 0; l < whole.size(); ++l) {
    const auto is = [&](const Layers& expected, int rank) {
      const Layers found = layers_of_rank(check.result(), "grads", rank);
      return found.size() == whole.size() && alike(Layers{found[l]}, Layers{expected[l]});
    };
    if (on_every_rank(check, 0, [&](int rank) { return is(whole, rank); })) {
      ++reduced;
    } else if (!on_every_rank(check, 0, [&](int rank) { return is(local_gradient(check, rank), rank); })) {
      return false;
    }
  }
  return reduced > 0 && reduced < whole.size();
}

/// Every rank has its own gradient, or the same multiple of it.
bool all_local(const CheckContext& check) {
  const auto ratio = [&](int rank) {
    return constant_ratio(layers_of_rank(check.result(), "grads", rank), local_gradient(check, rank));
  };
  const std::optional<double> first = ratio(0);
  return first && *first != 0 && on_every_rank(check, 1, [&](int rank) { return near(ratio(rank), *first); });
}

/// A rank has sent as much as the weights, at least.
bool sent_as_much_as_weights(const CheckContext& check) {
  const std::int64_t weights = weight_bytes(layer_bytes(check.kase()));
  return check.ranks() > 1 && check.counters(0).bytes_sent().value() >= weights * (check.ranks() - 1) / check.ranks();
}

/// All tokens, as a multiple of N times their N-th, rounded down.
double ratio_if_rounded(const Case& kase) {
  const Count tokens = tokens_of_step(kase), each = tokens / kase.ranks;
  return each == 0 ? 0 : static_cast<double>(tokens) / static_cast<double>(each * kase.ranks);
}

void diagnose_gradients(CheckContext& check) {
  const Case& kase = check.kase();
  const Layers& whole = check.reference().grads;
  const auto found = [&](int rank) { return layers_of_rank(check.result(), "grads", rank); };
  const auto is_local = [&](int rank) { return alike(found(rank), local_gradient(check, rank)); };
  if (check.ranks() > 1 && all_local(check)) {
    if (sent_as_much_as_weights(check)) return check.diagnose("weights_reduced");
    if (on_every_rank(check, 0, is_local)) return check.diagnose("not_reduced");
  }
  if (check.ranks() > 1 && alike(found(0), whole) && on_every_rank(check, 1, is_local))
    return check.diagnose("only_one_rank");
  if (some_layers_reduced(check)) return check.diagnose("layer_not_reduced");
  const auto ranks = static_cast<double>(check.ranks());
  const auto tokens = static_cast<double>(tokens_of_step(kase));
  const auto own_targets = static_cast<double>(kase.batch * kase.model.sequence);
  const std::optional<double> ratio = constant_ratio(found(0), whole);
  const Bytes once = in_all_steps(kase, step_bytes(kase, 0, kDataParallel)).value();
  const bool twice = check.counters(0).bytes_sent(Collective::all_reduce) >= 2 * once;
  const bool like_loss = near(ratio, loss_ratio(check));  // then it is the denominator, and not the all-reduce
  if (check.ranks() > 1 && near(ratio, 1 / ranks) && !like_loss) return check.diagnose("averaged");
  if (check.ranks() > 1 && near(ratio, ranks) && twice && !like_loss) return check.diagnose("reduced_twice");
  const Layers means = sum_of_means(check);
  if (alike(found(0), means)) return check.diagnose("own_tokens");
  if (alike(found(0), scaled(means, 1 / ranks))) return check.diagnose("mean_of_means");
  const double rounded = ratio_if_rounded(kase);
  if (!near(rounded, 1) && near(ratio, rounded)) return check.diagnose("rounded_tokens");
  if (tokens == own_targets * ranks) return;  // there is no padding
  if (near(ratio, tokens / own_targets) || near(ratio, tokens / (own_targets * ranks))) {
    check.diagnose("padding_counted");
  }
}

/// The gradients are right, and the weights (or the moments) are not.
void diagnose_weights(CheckContext& check) {
  const Case& kase = check.kase();
  const std::int64_t updates = number_of_layers(kase) * kase.steps;
  const auto change = [&](int rank) {
    return combine(check.reference().weights_before, -1, layers_of_rank(check.result(), "weights", rank));
  };
  if (constant_ratio(change(0), check.reference().weights_before) == 0) return check.diagnose("never_updated");
  if (count_of(check, EventKind::update) >= 2 * updates) return check.diagnose("updated_twice");
  if (kase.steps > 1 || kase.model.optimizer != model::ModelSpec::Optimizer::sgd) return;
  const auto used = [&](int rank) { return scaled(change(rank), 1.0 / static_cast<double>(kase.model.lr)); };
  const auto own = [&](int rank) { return alike(used(rank), local_gradient(check, rank)); };
  if (check.ranks() > 1 && on_every_rank(check, 0, own)) check.diagnose("updated_too_early");
}

/// The gradients and weights are right, and the ranks' shares of the loss are not.
void diagnose_loss(CheckContext& check, const std::vector<double>& shares) {
  const Output* output = check.output("loss by rank");
  if (output == nullptr || check.ranks() == 1) return;
  const std::vector<double> found(output->values.begin(), output->values.end());
  if (alike({found}, {std::vector<double>(shares.size(), check.reference().loss)}))
    return check.diagnose("loss_reduced");
  // Where all have equally many tokens, those of a rank are an N-th of all: the mean of gradients then comes out right.
  if (near(constant_ratio({found}, {shares}), check.ranks())) check.diagnose("mean_for_a_sum");
}

void diagnose_bytes(CheckContext& check, int rank) {
  const front::Counters& counters = check.counters(rank);
  const std::int64_t calls = number_of_layers(check.kase()) * check.kase().steps;
  const std::int64_t found = counters.calls(Collective::all_reduce);
  const Bytes bytes = in_all_steps(check.kase(), step_bytes(check.kase(), rank, kDataParallel)).value();
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  if (sums_in_two_halves(check, rank)) return check.diagnose("in_two_halves");
  if (counters.calls(Collective::all_gather) > 0) return check.diagnose("gathered");
  if (counters.calls(Collective::reduce) > 0 && counters.calls(Collective::broadcast) > 0) {
    return check.diagnose("through_one_rank");
  }
  if (check.ranks() == 1) return;
  if (found == calls + check.kase().steps && reduces_one_number(check, rank)) return check.diagnose("loss_reduced");
  const Bytes sent = counters.bytes_sent(Collective::all_reduce);
  const Count weights = weight_bytes(layer_bytes(check.kase())) / kBytesOfF32;
  const Formula<Bytes> together =
      in_all_steps(check.kase(), Formula<Bytes>(Bytes(all_reduce_bytes(check.kase(), weights, rank))));
  if (found == check.kase().steps && found < calls && sent == together.value())
    return check.diagnose("all_layers_together");
  if (found > calls && sent >= 2 * bytes) return check.diagnose("reduced_again");
  if (found == calls && sent > bytes && !reduces_one_number(check, rank)) return check.diagnose("more_than_gradients");
  if (cut_into_pieces(check, rank, Collective::all_reduce, calls, bytes)) check.diagnose("reduced_in_pieces");
}

/// The virtual time of the all-reduce of each layer.
std::vector<std::int64_t> reduce_times(const Case& kase) {
  std::vector<std::int64_t> times;
  for (const LayerBytes& layer : layer_bytes(kase)) times.push_back(all_reduce_time(kase, layer.weights / 4));
  return times;
}

/// Layer l's gradient is there at L F + (L-l) B, and its all-reduce starts when that of layer l+1 is over: the end is
/// the latest of "all computation up to backward of layer l, then the all-reduces of layers l to 0".
Formula<Nanos> budget(const Case& kase) {
  const Letters letter(kase);
  const std::vector<std::int64_t> reduces = reduce_times(kase);
  const auto layers = static_cast<Count>(reduces.size());
  Formula<Nanos> latest = Nanos(0);
  Nanos reducing;
  for (Count l = 0; l < layers; ++l) {
    reducing += Nanos(reduces[static_cast<std::size_t>(l)]);
    const Formula<Nanos> computing =
        l == 0 ? letter.l * (letter.f + letter.b) : letter.l * letter.f + (layers - l) * letter.b;
    const std::string reduce = l == 0 ? "all-reduce of layer 0" : fmt::format("all-reduces of layers {} to 0", l);
    const Formula<Nanos> end = computing + named(reduce, reducing);
    if (end.value() > latest.value()) latest = end;
  }
  return latest;
}

LateCall late_reduce(const CheckContext& check, int rank) {
  return first_late(collectives(check, rank, Collective::all_reduce), check.events(rank, EventKind::backward));
}

void diagnose_time(CheckContext& check, int rank) {
  const auto reduces = check.events(rank, EventKind::collective);
  const auto backwards = check.events(rank, EventKind::backward);
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  if (computes_twice(check, rank)) return check.diagnose("computed_twice");
  if (reduces.empty() || backwards.empty()) return;
  if (starts_behind_backward(check, rank, reduces)) return check.diagnose("reduced_after_backward");
  if (!overlaps(reduces, backwards)) return check.diagnose("waited_at_once");
  if (late_reduce(check, rank)) check.diagnose("started_late");
}

/// After the last backward only layer 0's activations should be left, beside weights, gradients and batch.
void diagnose_memory(CheckContext& check, int rank) {
  const std::vector<LayerBytes> layers = layer_bytes(check.kase());
  const front::KindBytes& kinds = check.counters(rank).peak_by_kind;
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  const std::int64_t gradients = kinds[static_cast<std::size_t>(Kind::gradient)].value();
  if (gradients > weight_bytes(layers)) return check.diagnose("gradients_copied");
  if (keeps_inputs(check, rank)) check.diagnose("activations_kept");
}

/// A rank whose targets are all padding could leave its backward out, and nothing would be wrong with the numbers.
bool goes_backward_once(CheckContext& check, int rank) {
  const auto calls = static_cast<Count>(check.events(rank, EventKind::backward).size());
  const Formula<Count> layers = in_all_steps(check.kase(), Letters(check.kase()).l);
  if (check.exactly("backward calls of " + check.name_of(rank), calls, layers, "calls",
                    check.place_of_first(rank, EventKind::forward))) {
    return true;
  }
  if (calls < layers.value()) check.diagnose("sits_out");
  return false;
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance)) return diagnose_gradients(check);
  const bool has_moments = check.kase().model.optimizer == model::ModelSpec::Optimizer::adam;
  if (has_moments && !equal_moments(check)) return diagnose_weights(check);
  if (!check.equal_layers("weights", expected.weights, expected.weights_tolerance)) return diagnose_weights(check);
  if (!equal_loss_shares(check)) diagnose_loss(check, loss_shares(check.kase()));
}

SHARDLINGS_CHECK(communication) {
  const Case& kase = check.kase();
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const bool right = calls_exactly(check, rank, Collective::all_reduce, in_all_steps(kase, Letters(kase).l)) &&
                       sends_exactly(check, rank, in_all_steps(kase, step_bytes(kase, rank, kDataParallel)));
    if (!right) return diagnose_bytes(check, rank);
  }
}

SHARDLINGS_CHECK(time) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!goes_backward_once(check, rank)) return;
  }
  const int rank = check.slowest_rank();
  if (!finishes_within(check, in_all_steps(check.kase(), budget(check.kase())), late_reduce(check, rank).place)) {
    diagnose_time(check, rank);
  }
}

SHARDLINGS_CHECK(memory) {
  const Formula<Bytes> peak = step_peak(check.kase(), 0, kDataParallel).formula();
  if (!check.peaks_at_most(peak)) return diagnose_memory(check, check.worst_rank());
  nothing_on_host(check);
}

SHARDLINGS_PREDICTIONS("4 ranks") {
  const Case& kase = predict.kase();
  const Letters letter(kase);
  const Formula<Bytes> gradients = named("gradients", Bytes(weight_bytes(layer_bytes(kase))));
  const Formula<Nanos> computing = letter.l * (letter.f + letter.b);
  const Formula<Nanos> all_reduces = named("all-reduces", Nanos(sum_of(reduce_times(kase))));
  const StepPeak peak = step_peak(kase, 0, kDataParallel);
  predict.sent("sent", 0, "How many bytes does each rank send in the step?", step_bytes(kase, 0, kDataParallel))
      .unlike(share_of_others(letter.n) * gradients,
              "That is the reduce-scatter alone: the finished sums have to get back to everybody.")
      .unlike(
          gradients,
          "That is the whole gradient once. Its parts travel twice, to be summed and to get back, N-1 of N each time.")
      .unlike(2 * gradients, "Of N parts a rank sends N-1 in each of the two rounds: it keeps one.")
      .unlike((letter.n - 1) * gradients,
              "That is each rank sending its whole gradient to every other one. A ring sends parts.");
  predict.end("time", "When does the step end, with everything hidden that can be?", budget(kase))
      .unlike(computing, "One all-reduce has nothing behind it that could hide it: layer 0's gradient comes last.")
      .unlike(computing + all_reduces,
              "That is without any overlap: the all-reduce of a layer can run while the layers below go backward.");
  predict.peak("peak", 0, "How many bytes of device memory are alive on a rank at the worst moment?", peak.formula())
      .unlike(peak.formula() - Formula<Bytes>(Bytes(peak.gradients)),
              "The gradients are missing: here they are those of all layers, until the update.")
      .unlike(peak.formula() - Formula<Bytes>(Bytes(peak.own)),
              "The gradients of activations are missing: what backward is given, and what it makes of it.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 ranks") {
  const Formula<Count> n = named("N", 64), tensors = named("tensors", 12);
  const Formula<Nanos> alpha = named("alpha", Nanos(9'600));
  predict.answer(2)
      .number("latency",
              "N = 64, and a message has a latency of 9.6 us. How much latency does a block of 12 tensors "
              "pay, with an all-reduce for each?",
              tensors * (2 * ((n - 1) * alpha)))
      .unlike(2 * ((n - 1) * alpha), "That is one all-reduce for the whole block.")
      .unlike(tensors * ((n - 1) * alpha), "An all-reduce goes round the ring twice.")
      .unlike(tensors * alpha, "Each all-reduce has 2 (N-1) steps, and each step begins with the latency.");
}
