#include "cli/verbs/train_settings.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "cli/error.h"
#include "cli/learner/course.h"
#include "train/text.h"

namespace shardlings::cli::verbs {
namespace {

/// "02, 09, 11, 12, 13 and 33": those whose step can train.
std::string puzzles_that_train(const learner::Course& course) {
  std::vector<std::string> names;
  for (const cases::Manifest& puzzle : course.puzzles()) {
    if (puzzle.train) names.push_back(learner::short_name(puzzle));
  }
  std::sort(names.begin(), names.end());
  if (names.size() < 2) return fmt::format("{}", fmt::join(names, ""));
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

/// What the step of a puzzle without a grid cannot do.
void check_without_grid(const TrainOptions& options, const ChosenStep& step) {
  if (options.tp > 1 || options.pp > 1 || options.vp > 1) {
    throw UsageError(
        fmt::format("The step of puzzle {} knows replicas only: --tp, --pp and --vp are 1 with it.", step.name));
  }
  if (options.recompute) {
    throw UsageError(
        fmt::format("The step of puzzle {} calls the layers itself: --recompute cannot change that.", step.name));
  }
  if (options.zero != 1) {
    throw UsageError(
        fmt::format("What is divided is the affair of the step: in place of --zero choose a puzzle, 11, 12 or 13 for "
                    "the stages 1, 2 "
                    "and 3. Puzzle {} was chosen.",
                    step.name));
  }
  if (step.form.step == cases::TrainStep::device && options.dp > 1) {
    throw UsageError(fmt::format("The step of puzzle {} is for one rank: --dp is 1 with it.", step.name));
  }
  if (!step.form.micro_batches && options.micro_batches > 1) {
    throw UsageError(
        fmt::format("The step of puzzle {} takes one micro-batch: --micro-batches is 1 with it.", step.name));
  }
}

void check_layout(const TrainOptions& options, const ChosenStep& step) {
  if (!step.on_grid()) {
    check_without_grid(options, step);
  } else if (options.zero != 1) {
    throw UsageError(
        "The step of puzzle 33 divides the optimizer's states over the replicas: --zero 1 is all it does.");
  }
  // Three factors of up to 2^20 each: two fit into a Count, and three once the first two have been found small enough.
  const Count of_replica = Count{options.tp} * options.pp;
  if (of_replica > train::kMostRanks || of_replica * options.dp > train::kMostRanks) {
    throw UsageError(fmt::format("--tp {} times --pp {} times --dp {} are more than {} ranks.", options.tp, options.pp,
                                 options.dp, train::kMostRanks));
  }
  if (options.tp > options.heads) {
    throw UsageError(fmt::format("{} heads cannot be divided over --tp {}. Give it more: --heads {}.", options.heads,
                                 options.tp, options.tp));
  }
  if (options.vp > 1 && options.pp == 1) {
    throw UsageError(fmt::format(
        "--vp {} divides what each rank of a pipeline has, and --pp 1 is no pipeline. Give it more ranks: --pp 2.",
        options.vp));
  }
  const std::int64_t layers = options.layers + 2, stages = std::int64_t{options.pp} * options.vp;
  if (stages > layers) {
    throw UsageError(
        fmt::format("A model of {} blocks, embedding and head cannot be cut into {} stages. Give it more "
                    "blocks: --layers {}.",
                    options.layers, stages, stages - 2));
  }
  if (options.hidden % options.heads != 0) {
    throw UsageError(fmt::format("--hidden {} cannot be divided into {} heads.", options.hidden, options.heads));
  }
}

/// A pipeline of chunks takes its micro-batches in groups, one for each rank.
int group_of_micro_batches(const TrainOptions& options) {
  return options.vp > 1 ? options.pp : 1;
}

/// Micro-batches of each replica: as many as were asked for, or twice the ranks of a pipeline if the batch allows it.
int micro_batches_of(const TrainOptions& options) {
  if (options.batch % options.dp != 0) {
    throw UsageError(
        fmt::format("--batch {} sequences cannot be dealt out to --dp {} replicas.", options.batch, options.dp));
  }
  const Count of_replica = options.batch / options.dp;
  const int group = group_of_micro_batches(options);
  if (options.micro_batches > 0) {
    if (options.micro_batches % group != 0) {
      throw UsageError(
          fmt::format("With --vp {} the number of micro-batches is a multiple of --pp {}, which {} is not.", options.vp,
                      options.pp, options.micro_batches));
    }
    if (of_replica % options.micro_batches == 0) return options.micro_batches;
    throw UsageError(fmt::format("The {} sequences of a replica cannot be cut into {} micro-batches.", of_replica,
                                 options.micro_batches));
  }
  int m = options.pp == 1 ? 1 : static_cast<int>(std::min<Count>(2 * options.pp, of_replica));
  while (m > 0 && (m % group != 0 || of_replica % m != 0)) --m;
  if (m > 0) return m;
  throw UsageError(fmt::format(
      "With --vp {} the number of micro-batches is a multiple of --pp {}, and the {} sequences of a replica "
      "cannot be cut so. Give it another batch: --batch {}.",
      options.vp, options.pp, of_replica, 2 * options.pp * options.dp));
}

model::ModelSpec model_of(const TrainOptions& options, const ChosenStep& step, const train::Text& text) {
  model::ModelSpec model;
  model.family = model::ModelSpec::Family::gpt;
  model.layers = options.layers;
  model.hidden = options.hidden;
  model.heads = options.heads;
  model.sequence = options.sequence;
  model.outputs = text.vocabulary();
  model.tied = step.on_grid();  // other steps know of no second place of a table
  model.optimizer = model::ModelSpec::Optimizer::adam;
  model.lr = options.lr;
  model.eps = 1e-8F;
  const bool clips = step.on_grid() || step.form.step == cases::TrainStep::clipping;
  model.clip = clips ? options.clip : 0;
  return model;
}

/// Those that train a tied model cannot go on where the others have stopped, nor the other way round.
std::string checkpoint_of(const Context& context, const TrainOptions& options, const ChosenStep& step) {
  const std::string usual = context.project.build + (step.on_grid() ? "/train/checkpoint" : "/train/checkpoint_untied");
  return std::filesystem::absolute(options.checkpoint.empty() ? usual : options.checkpoint).string();
}

}  // namespace

ChosenStep train_step_of(const Context& context, const TrainOptions& options) {
  if (options.puzzle.empty()) return {};
  const learner::Course course = learner::load_course(context.project);
  const cases::Manifest& puzzle = course.find(options.puzzle);
  if (puzzle.train) return {puzzle.id, learner::short_name(puzzle), *puzzle.train};
  throw UsageError(fmt::format("The function of puzzle {} is no step that could train by itself. Those of {} are.",
                               learner::short_name(puzzle), puzzles_that_train(course)));
}

train::Settings train_settings(const Context& context, const TrainOptions& options, const ChosenStep& step) {
  check_layout(options, step);
  train::Settings settings;
  settings.form = step.form;
  settings.layout = {options.tp, options.pp, options.dp, options.recompute, options.vp};
  settings.text = options.text.empty() ? context.project.root + "/runtime/train/text.txt"
                                       : std::filesystem::absolute(options.text).string();
  const train::Text text = train::Text::read(settings.text);
  cases::Case& kase = settings.kase;
  kase.puzzle = step.puzzle;
  kase.name = "train";
  kase.ranks = settings.layout.ranks();
  kase.model = model_of(options, step, text);
  kase.micro_batches = micro_batches_of(options);
  kase.batch = options.batch / options.dp / kase.micro_batches;
  kase.batches = options.dp;
  kase.steps = options.steps;
  kase.seed = options.seed;
  kase.cluster = front::load_cluster(context.project.clusters(), options.cluster);
  kase.capacity = kase.cluster.device_memory;
  settings.checkpoint = checkpoint_of(context, options, step);
  settings.fresh = options.fresh;
  settings.save_every = options.save_every;
  return settings;
}

}  // namespace shardlings::cli::verbs
