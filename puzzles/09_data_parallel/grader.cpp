// Judges data parallel training: every rank as one device on the whole batch, one all-reduce, hidden, nothing twice.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <numeric>

#include "case/data.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/formulas/step_cost.h"

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

void diagnose_gradients(CheckContext& check) {
  const Case& kase = check.kase();
  const Layers& whole = check.reference().grads;
  const auto found = [&](int rank) { return layers_of_rank(check.result(), "grads", rank); };
  const auto is_local = [&](int rank) { return alike(found(rank), local_gradient(check, rank)); };
  if (on_every_rank(check, 0, is_local)) {
    return check.diagnose(check.counters(0).bytes_sent().value() > 0 ? "weights_reduced" : "not_reduced");
  }
  if (alike(found(0), whole) && on_every_rank(check, 1, is_local)) return check.diagnose("only_one_rank");
  if (some_layers_reduced(check)) return check.diagnose("layer_not_reduced");
  const auto ranks = static_cast<double>(check.ranks());
  const auto tokens = static_cast<double>(tokens_of_step(kase));
  const auto own_targets = static_cast<double>(kase.batch * kase.model.sequence);
  const std::optional<double> ratio = constant_ratio(found(0), whole);
  const bool twice = check.counters(0).calls(Collective::all_reduce) >= 2 * static_cast<std::int64_t>(whole.size());
  const bool like_loss = near(ratio, loss_ratio(check));  // then it is the denominator, and not the all-reduce
  if (near(ratio, 1 / ranks) && !like_loss) return check.diagnose("averaged");
  if (near(ratio, ranks) && twice) return check.diagnose("reduced_twice");
  const Layers means = sum_of_means(check);
  if (alike(found(0), means)) return check.diagnose("own_tokens");
  if (alike(found(0), scaled(means, 1 / ranks))) return check.diagnose("mean_of_means");
  if (near(ratio, tokens / own_targets) || near(ratio, tokens / (own_targets * ranks))) {
    check.diagnose("padding_counted");
  }
}

/// The gradients are right, and the weights are not.
void diagnose_weights(CheckContext& check) {
  const auto used = [&](int rank) {
    const Layers change =
        combine(check.reference().weights_before, -1, layers_of_rank(check.result(), "weights", rank));
    return scaled(change, 1.0 / check.kase().model.lr);
  };
  const std::optional<double> ratio = constant_ratio(used(0), check.reference().grads);
  if (ratio == 0) return check.diagnose("never_updated");
  if (near(ratio, 2)) return check.diagnose("updated_twice");
  const auto own = [&](int rank) { return alike(used(rank), local_gradient(check, rank)); };
  if (on_every_rank(check, 0, own)) check.diagnose("updated_too_early");
}

/// The gradients and weights are right, and the ranks' shares of the loss are not.
void diagnose_loss(CheckContext& check, const std::vector<double>& shares) {
  const Output* output = check.output("loss by rank");
  if (output == nullptr || check.ranks() == 1) return;
  const std::vector<double> found(output->values.begin(), output->values.end());
  if (alike({found}, {std::vector<double>(shares.size(), check.reference().loss)}))
    return check.diagnose("loss_reduced");
  // Each rank has divided by its own tokens, and all have equally many: the mean of gradients then comes out right.
  if (near(constant_ratio({found}, {shares}), check.ranks())) check.diagnose("mean_of_means");
}

void diagnose_bytes(CheckContext& check) {
  const front::Counters& counters = check.counters(0);
  const auto layers = static_cast<std::int64_t>(layer_bytes(check.kase()).size());
  if (counters.calls(Collective::all_gather) > 0) return check.diagnose("gathered");
  if (counters.calls(Collective::reduce) + counters.calls(Collective::broadcast) > 0) {
    return check.diagnose("through_one_rank");
  }
  if (counters.calls(Collective::all_reduce) == layers + 1) return check.diagnose("loss_reduced");
  if (counters.calls(Collective::all_reduce) >= 2 * layers) check.diagnose("reduced_twice");
}

/// The virtual time of the all-reduce of each layer.
std::vector<std::int64_t> reduce_times(const CheckContext& check) {
  std::vector<std::int64_t> times;
  for (const LayerBytes& layer : layer_bytes(check.kase())) {
    times.push_back(all_reduce_time(check.kase(), layer.weights / 4));
  }
  return times;
}

/// Layer l's gradient is there at L F + (L-l) B, and its all-reduce starts when that of layer l+1 is over: the end is
/// the latest of "all computation up to backward of layer l, then the all-reduces of layers l to 0".
Formula<Nanos> budget(const CheckContext& check) {
  const Letters letter(check.kase());
  const std::vector<std::int64_t> reduces = reduce_times(check);
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

void diagnose_time(CheckContext& check, int rank) {
  const auto reduces = check.events(rank, EventKind::collective);
  const auto backwards = check.events(rank, EventKind::backward);
  if (reduces.empty() || backwards.empty()) return;
  if (reduces.size() > 1 && reduces.front().posted >= backwards.back().end) {
    return check.diagnose("reduced_after_backward");
  }
  check.diagnose(overlaps(reduces, backwards) ? "started_late" : "waited_at_once");
}

/// After the last backward only layer 0's activations should be left, beside weights, gradients and batch.
void diagnose_memory(CheckContext& check, int rank) {
  const std::vector<LayerBytes> layers = layer_bytes(check.kase());
  const std::int64_t weights = weight_bytes(layers);
  const front::KindBytes& kinds = check.counters(rank).peak_by_kind;
  if (kinds[static_cast<std::size_t>(Kind::gradient)].value() > weights) return check.diagnose("gradients_copied");
  const auto backwards = check.events(rank, EventKind::backward);
  if (backwards.empty()) return;
  const std::int64_t left =
      2 * weights + batch_bytes(check.kase()) + 4 + layers.front().input + layers.front().input_gradient;
  if (backwards.back().live_after.value() > left) check.diagnose("activations_kept");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance)) return diagnose_gradients(check);
  if (!check.equal_layers("weights", expected.weights, expected.weights_tolerance)) return diagnose_weights(check);
  const std::vector<double> shares = loss_shares(check.kase());
  if (!check.equal("loss by rank", shares, expected.loss_tolerance)) diagnose_loss(check, shares);
}

SHARDLINGS_CHECK(communication) {
  const Case& kase = check.kase();
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!sends_exactly(check, rank, step_bytes(kase, rank, kDataParallel))) return diagnose_bytes(check);
  }
}

SHARDLINGS_CHECK(time) {
  if (!finishes_within(check, budget(check))) diagnose_time(check, check.slowest_rank());
}

SHARDLINGS_CHECK(memory) {
  const Formula<Bytes> peak = step_peak(check.kase(), 0, kDataParallel).formula();
  if (!check.peaks_at_most(peak)) diagnose_memory(check, check.worst_rank());
}
