// Judges activation checkpointing: numbers as without, memory of the checkpoints and one segment, calls of forward.

#include "grading/judge/grader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/training.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Event;
using front::EventKind;

namespace {

/// Layers and segments of a case; the last segment is [last, layers).
struct Segments {
  std::int64_t layers = 0;
  std::int64_t every = 1;
  std::int64_t last = 0;

  explicit Segments(const Case& kase)
      : layers(static_cast<std::int64_t>(layer_bytes(kase).size())),
        every(kase.integer("every")),
        last((layers - 1) / every * every) {}
  std::int64_t begin_of(std::int64_t l) const { return l / every * every; }
  std::int64_t end_of(std::int64_t begin) const { return std::min(begin + every, layers); }
  std::int64_t length_of_last() const { return layers - last; }
  std::int64_t forwards() const { return 2 * layers - length_of_last(); }
};

/// Bytes of the parts of a moment: checkpoints of segments still to come, the segment at work, the call itself.
struct Moment {
  std::int64_t checkpoints = 0;
  std::int64_t segment = 0;
  std::int64_t own = 0;
  std::string call;
  std::int64_t bytes() const { return checkpoints + segment + own; }
};

class Budget {
 public:
  explicit Budget(const Case& kase) : layers_(layer_bytes(kase)), segments_(kase) {
    weights_ = weight_bytes(layers_);
    batch_ = batch_bytes(kase) + 4;
  }
  /// Weights, gradients, batch and loss: there before the step begins.
  std::int64_t before() const { return 2 * weights_ + batch_; }
  std::int64_t input(std::int64_t l) const { return at(l).input; }
  std::int64_t saved(std::int64_t l) const { return at(l).saved; }
  std::int64_t output(std::int64_t l) const { return at(l).output; }
  /// Of what the last call of backward returns.
  std::int64_t input_gradient() const { return at(0).input_gradient; }
  /// Inputs of the segments before the one that begins at `begin`.
  std::int64_t checkpoints(std::int64_t begin) const {
    std::int64_t sum = 0;
    for (std::int64_t c = 0; c < begin; c += segments_.every) sum += input(c);
    return sum;
  }
  /// Inputs of layers begin to l, and what is saved of those before l.
  std::int64_t segment(std::int64_t begin, std::int64_t l) const {
    std::int64_t sum = input(l);
    for (std::int64_t i = begin; i < l; ++i) sum += input(i) + at(i).saved;
    return sum;
  }
  /// The moment with the most bytes: of the first forward pass, of recomputation, or of backward.
  Moment worst() const { return worst(0, segments_.layers); }
  /// The same of layers begin to end - 1 alone.
  Moment worst(std::int64_t begin, std::int64_t end) const {
    Moment worst;
    for (std::int64_t l = begin; l < end; ++l) {
      for (const Moment& moment : moments(l)) {
        if (moment.bytes() >= worst.bytes()) worst = moment;
      }
    }
    return worst;
  }
  Formula<Bytes> formula(const Moment& moment) const {
    return named("weights", Bytes(weights_)) + named("gradients", Bytes(weights_)) +
           named("batch and loss", Bytes(batch_)) + named("inputs of the segments before", Bytes(moment.checkpoints)) +
           named("activations of this segment", Bytes(moment.segment)) +
           named("what " + moment.call + " needs", Bytes(moment.own));
  }

 private:
  const LayerBytes& at(std::int64_t l) const { return layers_[static_cast<std::size_t>(l)]; }

  std::vector<Moment> moments(std::int64_t l) const {
    const std::int64_t begin = segments_.begin_of(l);
    const std::int64_t kept = checkpoints(begin);
    const std::int64_t inside = segment(begin, l) + at(l).saved;
    const std::string name = " of layer " + std::to_string(l);
    std::vector<Moment> all;
    if (begin < segments_.last) {
      const std::int64_t grad = output(segments_.end_of(begin) - 1);
      const std::int64_t passing = l == begin ? input(l) : input(begin) + input(l);
      all.push_back({kept, passing, at(l).forward, "forward" + name});
      all.push_back({kept, inside, at(l).forward_saving - at(l).saved + grad, "recomputing" + name});
    }
    all.push_back({kept, inside, at(l).backward - at(l).saved, "backward" + name});
    return all;
  }

  std::vector<LayerBytes> layers_;
  Segments segments_;
  std::int64_t weights_ = 0;
  std::int64_t batch_ = 0;
};

/// The first call of forward after the first of backward: where recomputation begins; nullptr if there is none.
const Event* first_recomputation(const front::RankTrace& trace) {
  bool back = false;
  for (const Event& event : trace.events) {
    back = back || event.kind == EventKind::backward;
    if (back && event.kind == EventKind::forward) return &event;
  }
  return nullptr;
}

std::int64_t forwards_of(const front::RankTrace& trace, std::int64_t layer) {
  return std::count_if(trace.events.begin(), trace.events.end(), [layer](const Event& event) {
    return event.kind == EventKind::forward && event.label.layer == layer;
  });
}

/// The first layers of the segments that a run has made, ascending: the layers that ran once from the last one down are
/// its last segment, and each stretch of layers recomputed in one walk is another one. Nothing if a layer ran more than
/// twice, or the last one did.
std::vector<std::int64_t> segments_made(const front::RankTrace& trace, std::int64_t layers) {
  std::vector<std::int64_t> begins;
  std::int64_t last = layers;
  while (last > 0 && forwards_of(trace, last - 1) == 1) --last;
  if (last == layers) return {};
  for (std::int64_t l = 0; l < layers; ++l) {
    if (forwards_of(trace, l) != (l < last ? 2 : 1)) return {};
  }
  begins.push_back(last);
  bool back = false;
  std::int64_t before = -2;  // the layer that was recomputed just before; -2: none
  for (const Event& event : trace.events) {
    if (event.depth > 0) continue;
    if (event.kind == EventKind::backward) before = -2;
    back = back || event.kind == EventKind::backward;
    if (!back || event.kind != EventKind::forward) continue;
    if (event.label.layer != before + 1) begins.push_back(event.label.layer);
    before = event.label.layer;
  }
  std::sort(begins.begin(), begins.end());
  return begins;
}

/// The last segment that was made is not the last one of `every`: names that, and shows both divisions.
bool diagnose_segments(CheckContext& check) {
  const Segments segments(check.kase());
  const std::vector<std::int64_t> made = segments_made(check.trace(0), segments.layers);
  if (made.size() < 2 || made.back() == segments.last) return false;
  std::vector<std::int64_t> asked;
  for (std::int64_t begin = 0; begin < segments.layers; begin += segments.every) asked.push_back(begin);
  check.detail(fmt::format("segments begin at layers {}; with k = {} they should begin at {}", fmt::join(made, ", "),
                           segments.every, fmt::join(asked, ", ")));
  bool short_one_first = segments.layers - made.back() == segments.every && made[1] < segments.every;
  for (std::size_t i = 2; i < made.size(); ++i) {
    short_one_first = short_one_first && made[i] - made[i - 1] == segments.every;
  }
  check.diagnose(short_one_first ? "short_segment_first" : "other_segments");
  return true;
}

/// The mistake behind too many forward calls, by which layers were run how often.
const char* too_many_forwards(const front::RankTrace& trace, const Segments& segments) {
  if (forwards_of(trace, segments.layers - 1) > 1) return "last_segment_recomputed";
  const std::int64_t first = forwards_of(trace, 0);
  if (first <= 2) return "recomputed_too_often";
  if (forwards_of(trace, segments.every - 1) != 2) return "recomputed_from_the_start";
  // Of a segment of two layers both look alike, and the first name is true of both.
  if (first == 3) return "recomputed_a_third_time";
  return first == 1 + segments.every ? "recomputed_layer_by_layer" : "recomputed_too_often";
}

/// Mistakes that show in the number of forward calls.
bool diagnose_calls(CheckContext& check) {
  const Segments segments(check.kase());
  const std::int64_t found = check.counters(0).layer_forwards;
  if (diagnose_segments(check)) return true;
  if (found > segments.forwards()) {
    check.diagnose(too_many_forwards(check.trace(0), segments));
    return true;
  }
  if (found < segments.forwards() && found == segments.layers) {
    check.diagnose("nothing_recomputed");
    return true;
  }
  return false;
}

/// A layer is computed again while one of a later segment has still to go backward.
bool recomputes_ahead(const CheckContext& check, const Segments& segments) {
  std::vector<int> forwards(static_cast<std::size_t>(segments.layers));
  std::int64_t lowest = segments.layers;  // of the layers that have gone backward
  for (const Event& event : check.trace(0).events) {
    if (event.depth > 0) continue;
    const std::int64_t l = event.label.layer;
    if (event.kind == EventKind::backward) lowest = l;
    if (event.kind != EventKind::forward || ++forwards.at(static_cast<std::size_t>(l)) != 2) continue;
    if (lowest > segments.end_of(segments.begin_of(l))) return true;
  }
  return false;
}

/// Mistakes in the first pass: Saved of more than a segment, or inputs between the checkpoints, alive at the loss.
bool diagnose_first_pass(CheckContext& check, const Budget& budget) {
  const Segments segments(check.kase());
  if (check.counters(0).saved_peak > std::min(segments.every, segments.layers)) {
    check.diagnose(recomputes_ahead(check, segments) ? "recomputed_ahead" : "saved_kept");
    return true;
  }
  const std::vector<Event> losses = check.events(0, EventKind::loss);
  if (losses.empty()) return true;
  const std::int64_t last = segments.layers - 1;
  const std::int64_t expected = budget.before() + budget.checkpoints(segments.last) +
                                budget.segment(segments.last, last) + budget.saved(last) + budget.output(last);
  if (losses.front().live_after.value() <= expected) return false;
  check.diagnose("inputs_kept");
  return true;
}

/// Mistakes in the backward pass: what is alive beyond what is needed when the first recomputation begins. If that is
/// no more than the checkpoint, its segment may have no other inputs; then the end of the step tells.
void diagnose_second_pass(CheckContext& check, const Budget& budget) {
  const Segments segments(check.kase());
  const Event* turn = first_recomputation(check.trace(0));
  if (turn == nullptr) return check.diagnose("segment_kept");
  const std::int64_t begin = segments.last - segments.every;
  const std::int64_t planned = budget.before() + budget.checkpoints(begin) + budget.input(begin) + budget.saved(begin) +
                               budget.output(begin) + budget.output(segments.last - 1);
  const std::int64_t excess = turn->live_after.value() - planned;
  if (excess <= 0) return check.diagnose("segment_output_kept");
  if (excess > budget.input(segments.last)) return check.diagnose("segment_kept");
  const std::int64_t end = check.events(0, EventKind::backward).back().live_after.value() - budget.before();
  std::int64_t first_segment = budget.input_gradient();
  for (std::int64_t l = 0; l < segments.every; ++l) first_segment += budget.input(l);
  const bool inner_inputs = segments.length_of_last() == 1 && segments.every > 1 && end >= first_segment;
  check.diagnose(inner_inputs ? "segment_kept" : "checkpoint_kept");
}

/// Some operation of the learner's has this name.
bool has_called(const CheckContext& check, const std::string& name) {
  const auto operations = check.events(0, EventKind::operation);
  return std::any_of(operations.begin(), operations.end(),
                     [&](const Event& event) { return check.trace(0).names.at(event.name) == name; });
}

void diagnose_output(CheckContext& check) {
  const Case& kase = check.kase();
  const Layers found = found_layers(check.result(), "grads");
  const Layers& right = check.reference().grads;
  const std::optional<double> ratio = constant_ratio(found, right);
  const auto tokens = static_cast<double>(tokens_of_step(kase));
  const auto targets = static_cast<double>(kase.batch * kase.model.sequence);
  if (near(ratio, 1)) {
    const bool twice = count_of(check, EventKind::update) == 2 * Segments(kase).layers;
    if (twice) check.diagnose("updated_twice");
    if (!twice && has_called(check, "cast")) check.diagnose("checkpoints_rounded");
    return;
  }
  if (tokens < targets && near(ratio, tokens / targets)) return check.diagnose("padding_counted");
  const Segments segments(kase);
  if (check.counters(0).layer_backwards < segments.layers) return check.diagnose("layers_not_backward");
  for (auto l = static_cast<std::size_t>(segments.last); l < right.size(); ++l) {
    if (l >= found.size() || !alike(Layers{found[l]}, Layers{right[l]})) return;
  }
  if (segments.last > 0) check.diagnose(has_called(check, "cast") ? "checkpoints_rounded" : "wrong_checkpoint");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Reference& expected = check.reference();
  if (!check.equal_layers("grads", expected.grads, expected.grads_tolerance) ||
      !check.equal_layers("weights", expected.weights, expected.weights_tolerance)) {
    return diagnose_output(check);
  }
  check.equal_scalar("loss", expected.loss, expected.loss_tolerance);
}

SHARDLINGS_CHECK(memory) {
  if (!nothing_on_host(check)) return;
  const Budget budget(check.kase());
  if (check.peaks_at_most(budget.formula(budget.worst()))) return;
  if (diagnose_calls(check) || diagnose_first_pass(check, budget)) return;
  diagnose_second_pass(check, budget);
}

Formula<Count> planned_forwards(const Case& kase) {
  return 2 * Letters(kase).l - named("length of the last segment", Segments(kase).length_of_last());
}

Formula<Nanos> planned_time(const Case& kase) {
  const Letters letter(kase);
  return planned_forwards(kase) * letter.f + letter.l * letter.b;
}

/// The last call of forward, or the first that is one too many: the k-th turn of a layer that needs fewer.
Place place_of_forwards(const CheckContext& check, const Segments& segments) {
  std::vector<std::int64_t> runs(static_cast<std::size_t>(segments.layers));
  for (const Event& event : check.events(0, EventKind::forward)) {
    if (++runs.at(static_cast<std::size_t>(event.label.layer)) > (event.label.layer < segments.last ? 2 : 1)) {
      return place_of(event);
    }
  }
  return check.place_of_last(0, EventKind::forward);
}

SHARDLINGS_CHECK(recompute) {
  const Segments segments(check.kase());
  const front::Counters& counters = check.counters(0);
  const Letters letter(check.kase());
  const Formula<Count> forwards = planned_forwards(check.kase());
  if (!check.exactly("forward calls", counters.layer_forwards, forwards, "calls", place_of_forwards(check, segments)) ||
      !check.exactly("backward calls", counters.layer_backwards, letter.l, "calls",
                     place_beyond(check, 0, EventKind::backward, segments.layers)) ||
      !check.exactly("update calls", count_of(check, EventKind::update), letter.l, "calls",
                     place_beyond(check, 0, EventKind::update, 0))) {
    diagnose_calls(check);
    return;
  }
  const auto copies = check.events(0, EventKind::copy);
  const Place copied = copies.empty() ? Place{} : place_of(copies.front());
  if (!check.exactly("virtual time", check.end_time(0), planned_time(check.kase()), copied) && !copies.empty()) {
    check.diagnose("parked_on_host");
  }
}

SHARDLINGS_PREDICTIONS("8 layers, k = 3") {
  const Case& kase = predict.kase();
  const Letters letter(kase);
  const Budget budget(kase);
  const Formula<Bytes> peak = budget.formula(budget.worst());
  Case whole = kase;  // one segment: nothing is computed again
  whole.numbers["every"] = static_cast<double>(number_of_layers(kase));
  const Budget without(whole);
  predict
      .count("forwards", "How many calls of model.forward are there in the step?", planned_forwards(kase), "calls",
             Question::Of::forwards, 0)
      .unlike(2 * letter.l, "The activations of the last segment are still there when it goes backward.")
      .unlike(letter.l, "That is without computing anything again.");
  predict.end("time", "When does the step end?", planned_time(kase))
      .unlike(2 * letter.l * letter.f + letter.l * letter.b, "The last segment is not computed again.")
      .unlike(letter.l * (letter.f + letter.b), "That is without computing anything again.");
  auto asked = predict.peak("peak", 0, "How many bytes of device memory are alive at the worst moment?", peak)
                   .unlike(without.formula(without.worst()), "That is without checkpoints: all activations are kept.")
                   .unlike(peak + named("output of the segment", Bytes(budget.output(0))),
                           "The output of a segment's last layer is not needed: its gradient is there already.");
  const Segments segments(kase);
  for (std::int64_t begin = 0; begin < segments.layers; begin += segments.every) {
    const Moment moment = budget.worst(begin, std::min(begin + segments.every, segments.layers));
    if (moment.bytes() == budget.worst().bytes()) continue;
    asked.unlike(budget.formula(moment), "That is the worst moment of one segment. In another one there is more.");
  }
}

SHARDLINGS_PREDICTIONS_AFTER("8 layers, k = 3") {
  Case deep = predict.kase();
  deep.model.layers = 12;
  deep.model.outputs = deep.model.hidden;
  const auto with = [&](Count every) {
    Case kase = deep;
    kase.numbers["every"] = static_cast<double>(every);
    return kase;
  };
  const auto costs = [&](Count every) {
    const Budget budget(with(every));
    return std::pair(budget.worst().bytes(), planned_forwards(with(every)).value());
  };
  Count best = 1;
  for (Count every = 2; every <= deep.model.layers; ++every) best = costs(every) < costs(best) ? every : best;
  predict.answer(1)
      .count("segment",
             "With L = 12 layers, the last one as wide as the others: which k has the smallest peak? If there are two, "
             "say the one with fewer calls of model.forward.",
             named("k", best), "")
      .unlike(2, "Its peak is as small. But its last segment is shorter, so one layer more runs forward again.")
      .unlike(4, "Three checkpoints are fewer than four, but a segment of four layers is larger by more.");
  predict
      .count("forwards", "How many calls of model.forward are there with that k?", planned_forwards(with(best)),
             "calls")
      .unlike(planned_forwards(with(2)), "That is with k = 2, whose last segment has two layers.")
      .unlike(2 * Letters(deep).l, "The last segment does not run a second time.");
}
