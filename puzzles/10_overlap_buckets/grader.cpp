// Judges gradient buckets: numbers of one device, a bucket for each all-reduce, once per step, hidden, no copies of
// them.

#include "grading/judge/grader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/sharding_checks.h"
#include "grading/formulas/step_cost.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::Event;
using front::EventKind;

namespace {

constexpr int kDataParallel = 0;  // no stage of ZeRO

/// What one all-reduce carries: the gradients of layers `lowest` and above, up to the bucket before.
struct Bucket {
  std::int64_t lowest = 0;
  Count elements = 0;
};

/// From the last layer down; one is closed by the layer that fills it, and by layer 0.
std::vector<Bucket> buckets_of(const Case& kase) {
  const std::vector<LayerBytes> layers = layer_bytes(kase);
  std::vector<Bucket> buckets;
  Count waiting = 0;
  for (std::int64_t l = number_of_layers(kase) - 1; l >= 0; --l) {
    waiting += layers[static_cast<std::size_t>(l)].weights / 4;
    if (waiting < kase.integer("bucket") && l > 0) continue;
    buckets.push_back({l, waiting});
    waiting = 0;
  }
  return buckets;
}

bool on_every_rank(const CheckContext& check, auto holds) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!holds(rank)) return false;
  }
  return true;
}

/// The layers of which every rank has its own gradient alone; empty if another layer is not right.
std::vector<std::int64_t> layers_not_reduced(const CheckContext& check) {
  std::vector<std::int64_t> local;
  const Layers& whole = check.reference().grads;
  for (std::size_t l = 0; l < whole.size(); ++l) {
    const auto is = [&](auto expected) {
      return on_every_rank(check, [&](int rank) {
        const Layers found = layers_of_rank(check.result(), "grads", rank);
        return found.size() == whole.size() && alike(Layers{found[l]}, Layers{expected(rank)[l]});
      });
    };
    if (is([&](int rank) { return check.reference().local_grads[static_cast<std::size_t>(rank)]; })) {
      local.push_back(static_cast<std::int64_t>(l));
    } else if (!is([&](int) { return whole; })) {
      return {};
    }
  }
  return local;
}

/// Every layer is too large by N for each bucket behind its own: those went through later all-reduces again.
bool reduced_again(const CheckContext& check, const Layers& found) {
  const std::vector<Bucket> buckets = buckets_of(check.kase());
  double factor = 1;
  for (auto bucket = buckets.rbegin(); bucket != buckets.rend(); ++bucket, factor *= check.ranks()) {
    const std::size_t end =
        std::next(bucket) == buckets.rend() ? found.size() : static_cast<std::size_t>(std::next(bucket)->lowest);
    for (auto l = static_cast<std::size_t>(bucket->lowest); l < end; ++l) {
      if (!near(constant_ratio(Layers{found[l]}, Layers{check.reference().grads[l]}), factor)) return false;
    }
  }
  return buckets.size() > 1;
}

/// After each micro-batch everything went through an all-reduce: what was summed already is summed again.
bool reduced_every_micro_batch(const CheckContext& check, const Layers& found) {
  const Case& kase = check.kase();
  if (kase.micro_batches == 1) return false;
  Layers sum = gradient_of_micro(kase, 0);
  for (int micro = 1; micro < kase.micro_batches; ++micro) {
    sum = combine(gradient_of_micro(kase, micro), kase.ranks, sum);
  }
  return alike(found, sum);
}

/// The last all-reduce was started before the last micro-batch went backward.
bool reduced_too_early(const CheckContext& check) {
  const auto reduces = check.events(0, EventKind::collective), backwards = check.events(0, EventKind::backward);
  const auto layers = static_cast<std::size_t>(number_of_layers(check.kase()));
  if (reduces.empty() || backwards.size() < 2 * layers) return false;
  return reduces.back().posted <= backwards[backwards.size() - layers].begin;
}

void diagnose_gradients(CheckContext& check) {
  const Layers found = layers_of_rank(check.result(), "grads", 0);
  const Layers& right = check.reference().grads;
  if (found.size() != right.size() || check.ranks() == 1) return;
  const std::vector<std::int64_t> local = layers_not_reduced(check);
  if (!local.empty()) return check.diagnose(local.size() == right.size() ? "not_reduced" : "bucket_missing");
  const std::optional<double> ratio = constant_ratio(found, right);
  const bool told_apart = check.ranks() != check.kase().micro_batches;  // a factor N is then not the factor m
  if (near(ratio, 1.0 / check.ranks()) && told_apart) return check.diagnose("averaged");
  if (near(ratio, check.ranks()) && told_apart) return check.diagnose("reduced_twice");
  if (reduced_every_micro_batch(check, found)) return check.diagnose("reduced_every_micro_batch");
  if (reduced_again(check, found)) return check.diagnose("reduced_again");
  if (reduced_too_early(check)) check.diagnose("reduced_too_early");
}

/// The gradients are right, and the weights (or the moments) are not.
void diagnose_weights(CheckContext& check) {
  const Layers& before = check.reference().weights_before;
  const Layers change = combine(before, -1, layers_of_rank(check.result(), "weights", 0));
  if (constant_ratio(change, before) == 0) return check.diagnose("never_updated");
  const std::int64_t updates = number_of_layers(check.kase()) * check.kase().steps;
  if (count_of(check, EventKind::update) >= 2 * updates) check.diagnose("updated_twice");
}

Count number_of_weights(const Case& kase) {
  return weight_bytes(layer_bytes(kase)) / 4;
}

/// The calls of backward that complete a rank's buckets, one after another.
std::vector<Event> closing_backwards(const CheckContext& check, int rank) {
  const auto backwards = check.events(rank, EventKind::backward);
  const std::int64_t layers = number_of_layers(check.kase());
  std::vector<Event> closing;
  for (std::int64_t step = 1; step <= check.kase().steps; ++step) {
    const std::int64_t end = step * check.kase().micro_batches * layers;
    if (end > static_cast<std::int64_t>(backwards.size())) break;
    for (const Bucket& bucket : buckets_of(check.kase())) {
      closing.push_back(backwards[static_cast<std::size_t>(end - 1 - bucket.lowest)]);
    }
  }
  return closing;
}

/// The layers that close the buckets, as they should and as they did: an all-reduce started after their backward.
std::string closing_layers(const CheckContext& check, int rank) {
  std::vector<std::int64_t> expected, found;
  for (const Bucket& bucket : buckets_of(check.kase())) expected.push_back(bucket.lowest);
  const auto backwards = check.events(rank, EventKind::backward);
  for (const auto& reduce : collectives(check, rank, Collective::all_reduce)) {
    const auto later = [&](const auto& backward) { return backward.end > reduce.posted; };
    const auto before = std::find_if(backwards.begin(), backwards.end(), later) - backwards.begin();
    if (before > 0) found.push_back(backwards[static_cast<std::size_t>(before - 1)].label.layer);
  }
  return fmt::format("buckets are closed by layers {}; all-reduces started after backward of layers {}",
                     fmt::join(expected, ", "), fmt::join(found, ", "));
}

Formula<Count> number_of_buckets(const Case& kase) {
  std::vector<Count> sizes;
  for (const Bucket& bucket : buckets_of(kase)) sizes.push_back(bucket.elements);
  return named(fmt::format("buckets of at least {} elements: {}", kase.integer("bucket"), fmt::join(sizes, " + ")),
               static_cast<Count>(sizes.size()));
}

Formula<Bytes> wire_bytes(const Case& kase, int rank) {
  std::vector<Formula<Bytes>> buckets;
  for (const Bucket& bucket : buckets_of(kase)) {
    buckets.emplace_back(Bytes(all_reduce_bytes(kase, bucket.elements, rank)));
  }
  const Formula<Bytes> gradients = named("gradients", Bytes(weight_bytes(layer_bytes(kase))));
  return simplest(2 * share_of_others(Letters(kase).n) * gradients,
                  called("an all-reduce of each bucket", sum(buckets)));
}

/// Each all-reduce carries the bucket of the rule: what the rank sends in it tells how large it is.
bool buckets_are_right(CheckContext& check, int rank) {
  const std::vector<Bucket> buckets = buckets_of(check.kase());
  const std::vector<Event> reduces = collectives(check, rank, Collective::all_reduce);
  for (std::size_t k = 0; k < reduces.size(); ++k) {
    const Bucket& bucket = buckets[k % buckets.size()];
    const std::int64_t bytes = all_reduce_bytes(check.kase(), bucket.elements, rank);
    const std::string what = fmt::format("sent by {} in all-reduce {}", check.name_of(rank), k + 1);
    const std::string carries =
        fmt::format("an all-reduce of the {} elements down to layer {}", bucket.elements, bucket.lowest);
    if (!check.exactly(what, reduces[k].bytes, named(carries, Bytes(bytes)), place_of(reduces[k]))) return false;
  }
  return true;
}

/// Each all-reduce carries one layer, in whatever order a step takes them.
bool reduces_layer_by_layer(const CheckContext& check, int rank) {
  std::vector<Bytes> expected, found;
  for (const LayerBytes& layer : layer_bytes(check.kase())) {
    const Bytes bytes(all_reduce_bytes(check.kase(), layer.weights / kBytesOfF32, rank));
    expected.insert(expected.end(), static_cast<std::size_t>(check.kase().steps), bytes);
  }
  for (const Event& reduce : collectives(check, rank, Collective::all_reduce)) found.push_back(reduce.bytes);
  std::sort(expected.begin(), expected.end());
  std::sort(found.begin(), found.end());
  return found == expected;
}

void diagnose_calls(CheckContext& check, int rank) {
  const front::Counters& counters = check.counters(rank);
  const Case& kase = check.kase();
  const std::int64_t buckets = static_cast<std::int64_t>(buckets_of(kase).size()) * kase.steps;
  const std::int64_t found = counters.calls(Collective::all_reduce);
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  if (sums_in_two_halves(check, rank)) return check.diagnose("in_two_halves");
  if (counters.calls(Collective::all_gather) > 0) return check.diagnose("gathered");
  if (counters.calls(Collective::reduce) > 0 && counters.calls(Collective::broadcast) > 0) {
    return check.diagnose("through_one_rank");
  }
  const Bytes everything =
      in_all_steps(kase, Formula<Bytes>(Bytes(all_reduce_bytes(kase, number_of_weights(kase), rank)))).value();
  const Bytes sent = counters.bytes_sent(Collective::all_reduce);
  if (kase.ranks > 1 && kase.micro_batches > 1 && found == kase.micro_batches * buckets && 2 * sent >= 3 * everything) {
    return check.diagnose("reduced_every_micro_batch");
  }
  const bool once = 100 * sent.value() <= 101 * everything.value();
  if (found == kase.steps && kase.ranks > 1 && once) return check.diagnose("one_bucket");
  if (kase.ranks > 1 && found == buckets + kase.steps && reduces_one_number(check, rank)) {
    return check.diagnose("loss_reduced");
  }
  if (reduces_layer_by_layer(check, rank)) return check.diagnose("bucket_for_each_layer");
  if (found > 0 && once) check.diagnose("other_buckets");
}

/// Until layer l has gone backward for the last time: m - 1 micro-batches, and of the last one all of the forward pass
/// and the backward pass down to l.
Nanos complete_at(const Case& kase, Count l) {
  const Count layers = number_of_layers(kase), micros = kase.micro_batches;
  const front::CallTable& table = kase.cluster.table;
  return micros * layers * table.forward + ((micros - 1) * layers + layers - l) * table.backward;
}

/// Bucket k starts when it is complete and the one before it is over: the end is the latest of "bucket k is complete,
/// then all-reduces of k and all behind it".
Formula<Nanos> time_budget(const Case& kase) {
  const std::vector<Bucket> buckets = buckets_of(kase);
  Formula<Nanos> latest = Nanos(0);
  Nanos reducing;
  for (std::size_t k = buckets.size(); k-- > 0;) {
    reducing += Nanos(all_reduce_time(kase, buckets[k].elements));
    const bool alone = k + 1 == buckets.size();
    const std::string until = fmt::format("computation until bucket {} of {} is complete", k + 1, buckets.size());
    const Formula<Nanos> end = named(alone ? "all computation" : until, complete_at(kase, buckets[k].lowest)) +
                               named(alone ? "the last all-reduce" : "its all-reduce and those behind it", reducing);
    if (end.value() > latest.value()) latest = end;
  }
  return latest;
}

LateCall late_reduce(const CheckContext& check, int rank) {
  return first_late(collectives(check, rank, Collective::all_reduce), closing_backwards(check, rank));
}

void diagnose_time(CheckContext& check, int rank) {
  const auto reduces = collectives(check, rank, Collective::all_reduce);
  const auto backwards = check.events(rank, EventKind::backward);
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  if (computes_twice(check, rank)) return check.diagnose("computed_twice");
  if (reduces.empty() || backwards.empty()) return;
  if (reduces.size() > 1 && starts_behind_backward(check, rank, reduces)) {
    return check.diagnose("reduced_after_backward");
  }
  if (!overlaps(reduces, backwards) && reduces.size() > 1) return check.diagnose("waited_at_once");
  if (late_reduce(check, rank)) check.diagnose("started_late");
}

void diagnose_memory(CheckContext& check, int rank) {
  const auto layers = number_of_layers(check.kase());
  if (whole_batch_everywhere(check, rank)) return check.diagnose("whole_batch_everywhere");
  const front::KindBytes& kinds = check.counters(rank).peak_by_kind;
  const auto bytes_of = [&](Kind kind) { return kinds[static_cast<std::size_t>(kind)].value(); };
  const std::int64_t gradients = bytes_of(Kind::gradient) + bytes_of(Kind::buffer);
  if (gradients > weight_bytes(layer_bytes(check.kase()))) return check.diagnose("gradients_copied");
  if (check.counters(rank).saved_peak > layers) return check.diagnose("all_in_flight");
  if (keeps_inputs(check, rank)) check.diagnose("activations_kept");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance)) return diagnose_gradients(check);
  const bool has_moments = check.kase().model.optimizer == model::ModelSpec::Optimizer::adam;
  if (has_moments && !equal_moments(check)) return diagnose_weights(check);
  if (!check.equal_layers("weights", expected.weights, expected.weights_tolerance)) return diagnose_weights(check);
  if (!equal_loss_shares(check) && whole_loss_everywhere(check)) check.diagnose("loss_reduced");
}

SHARDLINGS_CHECK(communication) {
  const Case& kase = check.kase();
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (calls_exactly(check, rank, Collective::all_reduce, in_all_steps(kase, number_of_buckets(kase))) &&
        buckets_are_right(check, rank) && sends_exactly(check, rank, in_all_steps(kase, wire_bytes(kase, rank)))) {
      continue;
    }
    check.detail(closing_layers(check, rank));
    return diagnose_calls(check, rank);
  }
}

SHARDLINGS_CHECK(time) {
  const int rank = check.slowest_rank();
  const Formula<Nanos> budget = in_all_steps(check.kase(), time_budget(check.kase()));
  if (!finishes_within(check, budget, late_reduce(check, rank).place)) diagnose_time(check, rank);
}

SHARDLINGS_CHECK(memory) {
  if (!check.peaks_at_most(step_peak(check.kase(), 0, kDataParallel).formula())) {
    return diagnose_memory(check, check.worst_rank());
  }
  nothing_on_host(check);
}

SHARDLINGS_PREDICTIONS("4 ranks, 2 micro-batches") {
  const Case& kase = predict.kase();
  const Formula<Bytes> peak = step_peak(kase, 0, kDataParallel).formula();
  const auto with_bucket = [&](Count least) {
    Case other = kase;
    other.numbers["bucket"] = static_cast<double>(least);
    return time_budget(other);
  };
  predict.count("buckets", "How many buckets are there?", number_of_buckets(kase), "buckets")
      .unlike(Letters(kase).l, "Those are the layers: a bucket takes several, until it is large enough.")
      .unlike(number_of_buckets(kase) + 1,
              "A bucket is closed by the layer that makes it large enough, and what is left "
              "at the end goes with the last one.");
  predict.end("time", "When does the step end, with everything hidden that can be?", time_budget(kase))
      .unlike(with_bucket(1), "That is an all-reduce for each layer: each pays the latency again.")
      .unlike(with_bucket(number_of_weights(kase)),
              "That is one all-reduce for all layers, behind which nothing is left "
              "to compute.")
      .unlike(named("all computation", complete_at(kase, 0)),
              "The last bucket is complete when everything is computed.");
  predict.sent("sent", 0, "How many bytes does each rank send in the step?", wire_bytes(kase, 0))
      .unlike(Letters(kase).m * wire_bytes(kase, 0), "Micro-batches add up on the rank, and are reduced once.")
      .unlike(2 * named("gradients", Bytes(weight_bytes(layer_bytes(kase)))),
              "Of N parts a rank sends N-1 in each of the two rounds: it keeps one.");
  predict.peak("peak", 0, "How many bytes of device memory are alive on a rank at the worst moment?", peak)
      .unlike(peak + named("copies of the gradients", Bytes(weight_bytes(layer_bytes(kase)))),
              "A bucket is a stretch of the gradients: nothing is copied.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 ranks, 2 micro-batches") {
  const auto with_bucket = [&](Count least) {
    Case kase = predict.kase();
    kase.numbers["bucket"] = static_cast<double>(least);
    return time_budget(kase);
  };
  const Count all = number_of_weights(predict.kase());
  Count best = 1;
  for (Count least = 2; least <= all; ++least)
    best = with_bucket(least).value() < with_bucket(best).value() ? least : best;
  predict.answer(1)
      .count("bucket", "Which is the smallest `bucket` of those with which the step is shortest?",
             named("bucket", best), "elements")
      .unlike(all, "One bucket of all layers hides behind nothing.")
      .unlike(1, "With a bucket for each layer, every layer pays the latency.");
  predict.number("time", "How long does the step take with it?", with_bucket(best))
      .unlike(with_bucket(all), "That is with one bucket of all layers, behind which nothing is left to compute.")
      .unlike(with_bucket(1), "That is with a bucket for each layer: every one pays the latency.");
}
