#include "train/trainer.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "api/access.h"
#include "api/harness_calls.h"
#include "api/rank_model.h"
#include "base/file.h"
#include "base/machine_fault.h"
#include "base/mutex.h"
#include "front/remote/archive.h"
#include "model/flops.h"
#include "model/stretches.h"
#include "submission/harness.h"
#include "submission/run_options.h"
#include "train/checkpoint.h"
#include "world/process_world.h"
#include "world/spoken.h"
#include "world/world.h"

namespace shardlings::train {
namespace {

using detail::Access;
using detail::kNoPlace;
using detail::harness::values_of;
using front::remote::Reader;
using front::remote::Writer;
using submission::Harness;

/// What the ranks of a training have in common. Those of one process are threads that share this; process 0 has what
/// comes of all ranks, and is told by those of the others.
struct Shared {
  const Settings& settings;
  const Text& text;
  StepFunction step;
  const std::function<bool(const StepReport&)>& after_step;
  Checkpoint checkpoint;  ///< what was loaded, and what is to be saved
  Trained result;
  std::vector<double> losses;  ///< by rank, of the last step: zero but for one rank of each replica
  bool saves = false, stops = false;
  /// Of the checkpoint's layers while several ranks fill them. At other times rank 0 alone changes it, between barriers
  /// that order it for the others: so it is not declared as guarded.
  Mutex lock;
  world::Spoken* spoken = nullptr;  ///< while the ranks are at work

  void take_loss(int rank, double loss);
  /// Of a layer: elements `range` of a rank's part, which lies in these stretches of the whole.
  struct LayerPart {
    std::size_t layer = 0;
    std::vector<model::Stretch> stretches;
    Range range_of_weights, range_of_moments;
    std::vector<float> weights, m, v;
  };
  void take_layer(const LayerPart& part);
  /// What rank 0 has decided, to all.
  void tell_decision() const;
  void hear(std::string_view word);
};

/// What processes say of a training.
enum class Word : std::uint8_t { loss, layer, decision };

void Shared::take_loss(int rank, double loss) {
  losses[static_cast<std::size_t>(rank)] = loss;
  if (spoken->is_first()) return;
  Writer word;
  word << Word::loss << rank << loss;
  spoken->to_first(word.bytes());
}

void Shared::take_layer(const LayerPart& part) {
  if (!spoken->is_first()) {
    Writer word;
    word << Word::layer << part.layer << part.stretches << part.range_of_weights << part.range_of_moments;
    word << part.weights << part.m << part.v;
    return spoken->to_first(word.bytes());
  }
  const MutexLock guard(lock);
  Checkpoint::Layer& to = checkpoint.layers[part.layer];
  model::put(to.weights, part.stretches, part.range_of_weights, part.weights);
  model::put(to.m, part.stretches, part.range_of_moments, part.m);
  model::put(to.v, part.stretches, part.range_of_moments, part.v);
}

void Shared::tell_decision() const {
  Writer word;
  word << Word::decision << saves << stops;
  spoken->to_others(word.bytes());
}

void Shared::hear(std::string_view bytes) {
  Reader word(bytes);
  switch (word.get<Word>()) {
    case Word::loss: {
      const auto rank = static_cast<std::size_t>(word.get<int>());
      losses.at(rank) = word.get<double>();
      return;
    }
    case Word::layer: {
      LayerPart part;
      word >> part.layer >> part.stretches >> part.range_of_weights >> part.range_of_moments;
      word >> part.weights >> part.m >> part.v;
      return take_layer(part);
    }
    case Word::decision: word >> saves >> stops; return;
  }
}

/// One rank of the grid.
class RankTrainer {
 public:
  RankTrainer(Rank& rank, Shared& shared)
      : rank_(rank),
        shared_(shared),
        h_(rank, shared.settings.kase),
        groups_(h_.grid_groups(layout().t, layout().p, layout().d)) {
    h_.divide_layers(groups_.tp);
    layers_ = h_.layers_of_chunks(groups_.down.rank(), layout().p, layout().v);
    const cases::TrainForm& form = shared.settings.form;
    state_ = h_.state({.layers = layers_,
                       .group = groups_.dp,
                       .divided = {.weights = form.weights, .grads = form.grads, .optimizer = form.optimizer}});
    if (form.step == cases::TrainStep::grid) chunks_ = h_.stages(layers_, state_);
    for (Stage& chunk : chunks_) {
      if (layout().recompute) chunk = chunk.recomputing();
    }
    loss_ = rank.zeros(1, Kind::other, DType::f32, kNoPlace);
    restore();
  }

  void run() {
    h_.begin();
    for (int step = shared_.checkpoint.step; step < shared_.settings.kase.steps && !shared_.stops; ++step) make(step);
    h_.end();
  }

 private:
  const Layout& layout() const { return shared_.settings.layout; }
  bool has_first_layer() const { return layers_.front().begin == 0; }
  bool has_last_layer() const { return layers_.back().end == h_.model().num_layers(); }
  bool is_rank_0() const { return rank_.id() == 0; }
  Nanos now() const { return detail::harness::now(rank_); }

  void make(int step) {
    const Nanos begin = now();
    h_.clear(state_.grads);
    fill(loss_, 0, kNoPlace);
    load_batch(step);
    const GridShare share{chunks_, state_, groups_.down, groups_.up, groups_.dp, groups_.ends};
    shared_.step(rank_, h_.model(), share, batch_, shared_.settings.kase.model.clip, loss_);
    const bool counts = has_last_layer() && groups_.tp.rank() == 0;
    shared_.take_loss(rank_.id(), counts ? rank_.read(loss_, kNoPlace) : 0.0);
    rank_.world().barrier(kNoPlace);
    if (is_rank_0()) decide(step + 1, now() - begin);
    rank_.world().barrier(kNoPlace);
    if (shared_.saves) save_with_others(step + 1);
  }

  /// By rank 0, while the others wait: what the step was like, and what comes next.
  void decide(int steps_made, Nanos time) {
    double loss = 0;
    for (const double share : shared_.losses) loss += share;
    shared_.result.losses.push_back(loss);
    const bool goes_on = shared_.after_step({steps_made, loss, time});
    const bool is_last = steps_made == shared_.settings.kase.steps;
    shared_.stops = !goes_on;
    // What has diverged is not worth what it would replace.
    shared_.saves = !shared_.settings.checkpoint.empty() && std::isfinite(loss) &&
                    (is_last || !goes_on || steps_made % shared_.settings.save_every == 0);
    shared_.tell_decision();
  }

  Tensor load(const std::vector<std::int32_t>& values, Shape shape) {
    return detail::harness::load(rank_, std::span<const std::int32_t>(values), shape, DType::i32, Kind::other);
  }

  void load_batch(int step) {
    const cases::Case& kase = shared_.settings.kase;
    const Count s = kase.model.sequence, b = kase.batch, m = kase.micro_batches;
    const Count first = step * sequences_of_step(shared_.settings) + groups_.dp.rank() * m * b;
    Tokens all;
    for (Count i = 0; i < m; ++i) {
      const Tokens micro = sequences(shared_.text, s, b, static_cast<std::uint64_t>(first + i * b), kase.seed);
      all.inputs.insert(all.inputs.end(), micro.inputs.begin(), micro.inputs.end());
      all.targets.insert(all.targets.end(), micro.targets.begin(), micro.targets.end());
    }
    inputs_ = has_first_layer() ? load(all.inputs, {m * s, b}) : Tensor();
    targets_ = has_last_layer() ? load(all.targets, {m * s, b}) : Tensor();
    std::vector<MicroBatch> micros;
    micros.reserve(static_cast<std::size_t>(m));
    for (int i = 0; i < kase.micro_batches; ++i) micros.push_back({part(inputs_, i), part(targets_, i), s * b});
    batch_ = Access::batch(inputs_, targets_, std::move(micros), s * sequences_of_step(shared_.settings));
  }

  ConstView part(const Tensor& tensor, int i) const {
    if (!tensor) return {};
    const Count s = shared_.settings.kase.model.sequence;
    return Access::labelled(ConstView(tensor).rows_part({i * s, (i + 1) * s}, kNoPlace), i);
  }

  /// Calls `visit` with the tensors of each of this rank's layers, the whole ones of the checkpoint, and where elements
  /// [part.begin, part.end) of the rank's part of the layer lie in them.
  template <class Visit>
  void for_each_layer(Visit visit) {
    const model::ModelStructure whole = model::make_structure(shared_.settings.kase.model);
    for (const Range& some : layers_) {
      for (Count l = some.begin; l < some.end; ++l) {
        const auto at = static_cast<std::size_t>(l);
        visit(at, model::stretches(whole.layers[at], Access::rank_model(h_.model())->structure->layers[at]));
      }
    }
  }

  /// Which elements of a layer, or of this rank's part of it, the rank has.
  Range had(std::size_t l, bool is_divided) const {
    const Count all = h_.model().size(static_cast<int>(l));
    return is_divided ? groups_.dp.mine(all) : Range{0, all};
  }
  Range had_weights(std::size_t l) const { return had(l, shared_.settings.form.weights); }
  Range had_moments(std::size_t l) const { return had(l, shared_.settings.form.optimizer); }

  void restore() {
    if (shared_.checkpoint.step == 0) return;
    for_each_layer([&](std::size_t l, const std::vector<model::Stretch>& stretches) {
      const Checkpoint::Layer& from = shared_.checkpoint.layers[l];
      const Range weights = had_weights(l), moments = had_moments(l);
      OptimizerState& optimizer = state_.optimizer[l];
      copy(state_.weights[l], h_.tensor(model::taken(from.weights, stretches, weights), Kind::other), kNoPlace);
      copy(optimizer.m, h_.tensor(model::taken(from.m, stretches, moments), Kind::other), kNoPlace);
      copy(optimizer.v, h_.tensor(model::taken(from.v, stretches, moments), Kind::other), kNoPlace);
      optimizer.step = shared_.checkpoint.step;
    });
  }

  void save_with_others(int steps_made) {
    for_each_layer([&](std::size_t l, const std::vector<model::Stretch>& stretches) {
      shared_.take_layer({l, stretches, had_weights(l), had_moments(l), values_of(state_.weights[l]),
                          values_of(state_.optimizer[l].m), values_of(state_.optimizer[l].v)});
    });
    rank_.world().barrier(kNoPlace);
    if (is_rank_0()) {
      shared_.checkpoint.step = steps_made;
      try_to_save();
    }
    rank_.world().barrier(kNoPlace);
  }

  /// What cannot be saved is not worth to be computed.
  void try_to_save() {
    const Settings& settings = shared_.settings;
    try {
      save(settings.checkpoint, shared_.checkpoint, settings, shared_.text);
    } catch (const std::runtime_error& error) {
      const std::string why = error.what(), advice = advice_in(why);
      shared_.result.fault = fmt::format("Step {} cannot be saved, and so training has stopped: {}.{}{}",
                                         shared_.checkpoint.step, why, advice.empty() ? "" : " ", advice);
      shared_.stops = true;
      shared_.tell_decision();
    }
  }

  Rank& rank_;
  Shared& shared_;
  Harness h_;
  submission::GridGroups groups_;
  std::vector<Range> layers_;  ///< of each chunk
  TrainState state_;
  std::vector<Stage> chunks_;  ///< only for a step on a grid
  Tensor loss_, inputs_, targets_;
  Batch batch_;
};

/// Whatever ends the rank's work, it is not watched after that.
class Watched {
 public:
  Watched(const RankWatch& watch, int rank) : watch_(watch), rank_(rank) { watch_.begins(rank_); }
  ~Watched() { watch_.ends(rank_); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

 private:
  const RankWatch& watch_;
  int rank_;
};

world::Options options_of(const Settings& settings) {
  world::Options options = submission::options_of(settings.kase);
  options.ranks = settings.layout.ranks();
  options.trace = false;
  return options;
}

/// The message, with the place if it does not say that itself.
std::string text_of(const front::Failure& failure) {
  const std::string place = fmt::format("{}:{}", failure.file, failure.line);
  const bool says_it = failure.line == 0 || failure.message.find(place) != std::string::npos;
  return says_it ? failure.message : fmt::format("{}: rank {}: {}", place, failure.rank, failure.message);
}

std::string long_enough_text(const Settings& settings) {
  std::string characters = characters_of(settings.text);
  if (Text(characters).size() > settings.kase.model.sequence) return characters;
  throw std::runtime_error("the text " + settings.text + " is shorter than a sequence");
}

/// What process 0 has read, and found fit, is told to the others, who may be on other machines.
std::string text_of(const Settings& settings, back::Progress* progress) {
  if (progress == nullptr) return long_enough_text(settings);
  return world::from_first(*progress, progress->process() == 0 ? long_enough_text(settings) : "");
}

Checkpoint start_of(const Settings& settings, const Text& text) {
  const bool goes_on = !settings.fresh && !settings.checkpoint.empty() && std::filesystem::exists(settings.checkpoint);
  return goes_on ? load(settings.checkpoint, settings, text) : empty_checkpoint(settings);
}

Checkpoint start_of(const Settings& settings, const Text& text, back::Progress* progress) {
  if (progress == nullptr) return start_of(settings, text);
  if (progress->process() == 0) {
    Checkpoint start = start_of(settings, text);
    Writer told;
    told << start.step;
    for (const Checkpoint::Layer& layer : start.layers) told << layer.weights << layer.m << layer.v;
    world::from_first(*progress, told.bytes());
    return start;
  }
  const std::string bytes = world::from_first(*progress, "");
  Reader told(bytes);
  Checkpoint start = empty_checkpoint(settings);
  told >> start.step;
  for (Checkpoint::Layer& layer : start.layers) told >> layer.weights >> layer.m >> layer.v;
  return start;
}

}  // namespace

double flops_of_step(const Settings& settings) {
  const Count b = settings.kase.batch, tokens = settings.kase.model.sequence * b;
  double forward = 0;
  for (const model::LayerStructure& layer : model::make_structure(settings.kase.model).layers) {
    forward += static_cast<double>(model::forward_flops(layer, tokens, b).value());
  }
  const Count micro_batches = sequences_of_step(settings) / b;
  return 3 * forward * static_cast<double>(micro_batches);
}

Trained train(const Settings& settings, StepFunction step, const std::function<bool(const StepReport&)>& after_step,
              const RankWatch& watch, back::Progress* progress) {
  const bool is_first = progress == nullptr || progress->process() == 0;
  if (is_first && !settings.checkpoint.empty()) remove_leftovers(settings.checkpoint);
  const Text text(text_of(settings, progress));
  Shared shared{settings, text, step, after_step, start_of(settings, text, progress), {}, {}, false, false, {}};
  world::Spoken spoken(progress, [&](std::string_view word) { shared.hear(word); });
  shared.spoken = &spoken;
  shared.losses.resize(static_cast<std::size_t>(settings.layout.ranks()));
  shared.result.first_step = shared.checkpoint.step;
  world::Options options = options_of(settings);
  options.black_box = watch.box;
  options.progress = progress;
  const front::RunReport report = world::run(options, [&](Rank& rank) {
    const Watched watched(watch, rank.id());
    RankTrainer(rank, shared).run();
  });
  if (report.failure) {
    shared.result.fault = first_machine_fault();
    if (shared.result.fault.empty()) shared.result.failure = text_of(*report.failure);
  }
  for (const front::RankReport& rank : report.ranks) {
    if (rank.counters.peak <= shared.result.peak) continue;
    shared.result.peak = rank.counters.peak;
    shared.result.peak_by_kind = rank.counters.peak_by_kind;
  }
  return shared.result;
}

}  // namespace shardlings::train
