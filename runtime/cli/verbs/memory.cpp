#include <cmath>
#include <ostream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/terminal_text.h"
#include "cli/error.h"
#include "cli/terminal/memory_text.h"
#include "cli/verbs/verbs.h"
#include "memory_map/memory_map.h"

namespace shardlings::cli::verbs {

using memory_map::MemoryMap;
using memory_map::Parallel;
using memory_map::Recompute;
using memory_map::StageMemory;
using memory_map::Training;
using memory_map::Transformer;
using nlohmann::json;
using report::Role;

namespace {

struct MemoryOptions {
  std::vector<std::string> models;  ///< names, or "layers=…,hidden=…"; with `table` several
  std::string parallel = "dp=1";
  std::string precision = "mixed";
  std::string optimizer = "adam";
  std::string recompute = "off";
  std::string kept_by = "megatron";
  Count sequence = 0;  ///< 0: the model's
  Count micro_batch = 1;
  int micro_batches = 0;  ///< 0: enough to fill the pipeline
  bool table = false;     ///< states for many numbers of ranks
  bool list = false;      ///< the named models
  bool json = false;
};

constexpr int kDegrees[] = {1, 4, 16, 64, 256, 1024};  // of the ZeRO paper's table 1
constexpr int kName = 13;                              // columns of a line's name

Training training_of(const MemoryOptions& options) {
  Training training;
  training.precision = memory_map::precision_of(options.precision);
  training.moments = memory_map::moments_of(options.optimizer);
  training.recompute = memory_map::recompute_of(options.recompute);
  training.kept_by = memory_map::kept_by_of(options.kept_by);
  training.sequence = options.sequence;
  training.micro_batch = options.micro_batch;
  training.micro_batches = options.micro_batches;
  return training;
}

int print_models(const Context& context, const std::vector<Transformer>& models, bool as_json) {
  json list = json::array();
  for (const Transformer& model : models) {
    const Count parameters = memory_map::parameters_of(model);
    list.push_back(
        {{"name", model.name}, {"title", model.title}, {"parameters", parameters}, {"source", model.source}});
    if (as_json) continue;
    context.out << fmt::format("{} {:>7}  {}\n", padded(model.name, 14), terminal::count_text(parameters),
                               terminal::shape_text(model));
    context.out << "               " << context.paint(Role::dim, model.source) << '\n';
  }
  if (as_json) context.out << list.dump(2) << '\n';
  return kPassed;
}

/// A row for each number of ranks, three columns for each model: ZeRO-1, 2 and 3. States only.
int print_table(const Context& context, const std::vector<Transformer>& models, const Training& training,
                bool as_json) {
  json rows = json::array();
  constexpr int kWide = 8, kNarrow = 7, kMargin = 6;  // of a column; of what stands left of the models
  const bool has_room = context.width >= kMargin + std::ssize(models) * (2 + 3 * kWide);
  const int column = has_room ? kWide : kNarrow;
  std::string head = "     N", names = "      ";
  for (const Transformer& model : models) {
    names += "  " + fmt::format("{:>{}}", cut(model.title, 3 * column), 3 * column);
    head += fmt::format("  {0:>{3}}{1:>{3}}{2:>{3}}", "ZeRO-1", "ZeRO-2", "ZeRO-3", column);
  }
  std::string text = context.paint(Role::strong, names) + "\n" + head + "\n";
  for (const int n : kDegrees) {
    text += fmt::format("{:>6}", n);
    for (const Transformer& model : models) {
      text += "  ";
      for (int zero = 1; zero <= 3; ++zero) {
        const Bytes bytes = memory_map::states_of(memory_map::parameters_of(model), training, zero, n).total();
        text += fmt::format("{:>{}}", terminal::table_gigabytes(bytes), column);
        rows.push_back({{"model", model.name}, {"dp", n}, {"zero", zero}, {"bytes", bytes.value()}});
      }
    }
    text += '\n';
  }
  if (as_json) {
    context.out << rows.dump(2) << '\n';
  } else {
    context.out << text << "\nGB (1e9 bytes) of weights, gradients and optimizer states on each of N ranks.\n";
  }
  return kPassed;
}

json stage_json(const StageMemory& stage) {
  return {{"stage", stage.stage},
          {"blocks", stage.blocks.size()},
          {"parameters", stage.parameters},
          {"weights", stage.states.weights.value()},
          {"gradients", stage.states.gradients.value()},
          {"optimizer", stage.states.optimizer.value()},
          {"gathered_weights", stage.gathered.value()},
          {"unreduced_gradients", stage.unreduced.value()},
          {"activations", stage.activations.total().value()},
          {"activations_of_blocks", stage.activations.blocks.value()},
          {"activations_of_ends", stage.activations.ends.value()},
          {"activations_recomputed", stage.activations.recomputed.value()},
          {"micro_batches_in_flight", stage.in_flight},
          {"total", stage.total().value()}};
}

int print_json(const Context& context, const Transformer& model, const Parallel& parallel, const MemoryMap& map) {
  json stages = json::array();
  for (const StageMemory& stage : map.stages) stages.push_back(stage_json(stage));
  context.out << json{{"model", model.name},
                      {"parameters", map.parameters},
                      {"activations_known", model.has_layers()},
                      {"ranks", parallel.ranks()},
                      {"fullest_stage", map.fullest().stage},
                      {"total", map.fullest().total().value()},
                      {"stages", stages}}
                     .dump(2)
              << '\n';
  return kPassed;
}

void print_line(const Context& context, const std::string& name, Bytes bytes, const std::string& why) {
  const std::string line = fmt::format("  {} {:>9}  ", padded(name, kName), terminal::size_text(bytes));
  context.out << line << context.paint(Role::dim, cut(why, std::max(20, context.width - columns_of(line)))) << '\n';
}

/// "2 Ψ/64".
std::string share_text(Count bytes, bool is_divided, int shards) {
  return is_divided && shards > 1 ? fmt::format("{} Ψ/{}", bytes, shards) : fmt::format("{} Ψ", bytes);
}

std::string blocks_text(const StageMemory& stage, Bytes one) {
  const std::string flight = stage.in_flight == 1 ? "" : fmt::format(" x {:.4g} micro-batches", stage.in_flight);
  return fmt::format("{} blocks{} x {}", stage.blocks.size(), flight, terminal::size_text(one));
}

void print_activations(const Context& context, const Transformer& model, const Parallel& parallel,
                       const Training& training, const StageMemory& stage) {
  if (!model.has_layers()) {
    context.out << context.paint(Role::dim, "  activations are not known: of this model there is only its size\n");
    return;
  }
  const Bytes one = memory_map::kept_by_one_block(model, parallel, training);
  print_line(context, "activations", stage.activations.blocks, blocks_text(stage, one));
  const bool first = stage.stage == 0, last = stage.stage + 1 == parallel.pp;
  if (first || last) {
    const char* where = !last    ? "of the embedding"
                        : !first ? "of the head, logits included"
                                 : "of embedding and head, logits included";
    print_line(context, "", stage.activations.ends, where);
  }
  if (training.recompute != Recompute::off) {
    print_line(context, "", stage.activations.recomputed, "computed again, for one block at a time");
  }
}

void print_stage(const Context& context, const Transformer& model, const Parallel& parallel, const Training& training,
                 const StageMemory& stage) {
  const int shards = parallel.shards();
  print_line(context, "weights", stage.states.weights,
             share_text(training.precision.weight, parallel.zero >= 3, shards) +
                 fmt::format(",  Ψ = {} parameters", terminal::count_text(stage.parameters)));
  print_line(context, "gradients", stage.states.gradients,
             share_text(training.precision.gradient, parallel.zero >= 2, shards));
  print_line(context, "optimizer", stage.states.optimizer,
             share_text(training.optimizer_bytes(), parallel.zero >= 1, shards));
  if (stage.gathered.value() > 0) {
    print_line(context, "gathered", stage.gathered, "two units of weights: one in use, one ahead");
  }
  if (stage.unreduced.value() > 0) {
    print_line(context, "unreduced", stage.unreduced, "two units of gradients: one filling, one on its way");
  }
  print_activations(context, model, parallel, training, stage);
  const double gib = static_cast<double>(stage.total().value()) / (1LL << 30);
  print_line(context, "total", stage.total(), fmt::format("{:.4g} GiB", gib));
}

void print_map(const Context& context, const Transformer& model, const Parallel& parallel, const Training& training,
               const MemoryMap& map) {
  context.out << context.paint(Role::strong, model.title) << ": " << terminal::count_text(map.parameters)
              << " parameters";
  if (model.has_layers()) context.out << " (" << terminal::shape_text(model) << ')';
  context.out << '\n'
              << terminal::parallel_text(parallel) << '\n'
              << terminal::training_text(model, training) << "\n\n";
  const StageMemory& fullest = map.fullest();
  if (parallel.pp > 1) {
    context.out << fmt::format("On each rank of stage {}, the fullest of 0-{}:\n", fullest.stage, parallel.pp - 1);
  } else {
    context.out << "On each rank:\n";
  }
  print_stage(context, model, parallel, training, fullest);
  if (parallel.pp == 1) return;
  const StageMemory& emptiest = map.emptiest();
  context.out << fmt::format("\nThe emptiest stage is {}: {}. --json has all of them.\n", emptiest.stage,
                             terminal::size_text(emptiest.total()));
}

int answer(const Context& context, const MemoryOptions& options) {
  const std::vector<Transformer> known = memory_map::load_transformers(context.project.transformers());
  if (options.list) return print_models(context, known, options.json);
  std::vector<Transformer> models;
  for (const std::string& text : options.models) models.push_back(memory_map::find_transformer(known, text));
  const Training training = training_of(options);
  if (options.table) {
    if (models.empty()) {
      for (const char* name : {"zero-7.5b", "zero-128b", "zero-1t"})
        models.push_back(memory_map::find_transformer(known, name));
    }
    return print_table(context, models, training, options.json);
  }
  if (models.size() != 1) {
    throw UsageError("Say which model: ./shardlings memory --model gpt2 --parallel dp=8,zero=3; --models lists them.");
  }
  const Parallel parallel = memory_map::parallel_of(options.parallel);
  const MemoryMap map = memory_map::map_memory(models[0], parallel, training);
  if (options.json) return print_json(context, models[0], parallel, map);
  print_map(context, models[0], parallel, training, map);
  return kPassed;
}

}  // namespace

/// `memory`: the map of memory of a training run.
static int memory(const Context& context, const MemoryOptions& options) {
  if (options.json) return answer(context, options);
  std::ostringstream text;
  const int status =
      answer({context.project, text, context.err, context.colour, context.charset, context.width}, options);
  context.out << context.wrapped(text.str());
  return status;
}

void add_memory(CommandLine& line) {
  constexpr Count kMost = 1 << 24;
  auto [options, verb] =
      line.verb<MemoryOptions>("memory", "how much memory training a model takes, on each of many ranks", memory);
  verb.texts("--model", options.models, "a named model, or layers=…,hidden=…,heads=…,vocabulary=…,sequence=…");
  verb.text("--parallel", options.parallel, "dp=64,zero=3,shard=8,tp=8,sp,pp=4,v=2; what is left out is 1 (zero: 0)");
  verb.text("--precision", options.precision, "mixed, mixed-f32-grads or f32");
  verb.text("--optimizer", options.optimizer, "adam, momentum or sgd");
  verb.text("--recompute", options.recompute, "off, full or selective");
  verb.text("--kept-by", options.kept_by, "whose activations: megatron (with dropout) or shardlings");
  verb.number("--sequence", options.sequence, "tokens of a sequence; otherwise the model's", {1, kMost});
  verb.number("--micro-batch", options.micro_batch, "sequences of a micro-batch", {1, kMost});
  verb.number("--micro-batches", options.micro_batches, "of a step, for pipelines", {1, kMost});
  verb.flag("--table", options.table, "states for N = 1 to 1024 ranks; the ZeRO paper's models if none is given");
  verb.flag("--models", options.list, "the named models and where their numbers come from");
  verb.flag("--json", options.json, kJsonMeaning);
}

}  // namespace shardlings::cli::verbs
