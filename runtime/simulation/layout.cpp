#include "simulation/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <utility>

#include "base/suggest.h"
#include "case/case_numbers.h"
#include "front/clock/cluster.h"
#include "memory_map/transformer.h"

namespace shardlings::simulation {
namespace {

using cases::Axis;
using cases::Case;
using cases::Manifest;

[[noreturn]] void refuse(const std::string& why) {
  throw std::runtime_error(why);
}

std::vector<std::string> divided(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Ranks, or chunks, by axis; what is not named is 1.
std::map<std::string, int> sizes_of(const Manifest& puzzle, const std::string& parallel) {
  std::map<std::string, int> sizes;
  std::vector<std::string> known;
  for (const Axis& axis : puzzle.axes) {
    sizes[axis.name] = 1;
    known.push_back(axis.name);
  }
  if (known.empty()) {
    refuse(fmt::format("The ranks of puzzle {} have no axes: say --ranks, and leave --parallel away", puzzle.id));
  }
  for (const std::string& part : divided(parallel)) {
    const auto [name, value] = cases::number_from("--parallel", part);
    if (sizes.count(name) == 0) {
      refuse(fmt::format("Puzzle {} has no axis '{}': it has {}", puzzle.id, name, fmt::join(known, ", ")));
    }
    constexpr int kMost = 1 << 20;
    if (value < 1 || value > kMost || value != static_cast<double>(static_cast<int>(value))) {
      refuse(fmt::format("--parallel {}: a whole number of 1 or more", part));
    }
    sizes[name] = static_cast<int>(value);
  }
  return sizes;
}

int ranks_of(const std::map<std::string, int>& sizes) {
  std::int64_t ranks = 1;
  for (const auto& [name, size] : sizes) ranks = std::min<std::int64_t>(ranks * (name == "v" ? 1 : size), 1 << 20);
  return static_cast<int>(ranks);
}

void use_layout(const Manifest& puzzle, const Wish& wish, Case& kase) {
  const bool shares = kase.batches > 0;
  if (!wish.parallel.empty()) {
    const std::map<std::string, int> sizes = sizes_of(puzzle, wish.parallel);
    kase.ranks = ranks_of(sizes);
    if (wish.ranks != 0 && wish.ranks != kase.ranks) {
      refuse(fmt::format("--parallel {} has {} ranks, and --ranks says {}", wish.parallel, kase.ranks, wish.ranks));
    }
    for (const Axis& axis : puzzle.axes) {
      if (!axis.number.empty()) kase.numbers[axis.number] = sizes.at(axis.name);
    }
    const auto replicas = sizes.find("dp");
    if (shares) kase.batches = replicas == sizes.end() ? 1 : replicas->second;
  } else if (wish.ranks != 0) {
    const bool is_one_axis = std::all_of(puzzle.axes.begin(), puzzle.axes.end(),
                                         [](const Axis& axis) { return axis.name == "v" || axis.number.empty(); });
    if (!is_one_axis) {
      refuse(fmt::format("How are the {} ranks divided? Say --parallel {}=…", wish.ranks, puzzle.axes.front().name));
    }
    kase.ranks = wish.ranks;
    if (shares && kase.batches > 1) kase.batches = wish.ranks;
  }
}

void use_numbers(const Wish& wish, Case& kase) {
  for (const std::string& text : wish.set) cases::set_number(kase, cases::number_from("--set", text));
}

void use_global_batch(const Wish& wish, Case& kase) {
  if (wish.global_batch == 0) return;
  if (wish.micro_batches > 0) refuse("--global-batch and --micro-batches say the same: give one of them");
  const Count each = kase.batch * kase.num_batches();
  if (wish.global_batch % each != 0) {
    refuse(fmt::format("--global-batch {}: not a multiple of {} sequences, a micro-batch on each of {} replicas",
                       wish.global_batch, each, kase.num_batches()));
  }
  kase.micro_batches = static_cast<int>(wish.global_batch / each);
}

/// As ./shardlings memory calls it: sums of gradients have 32 bits, all else as in mixed precision.
constexpr const char* kF32Gradients = "mixed-f32-grads";

bool has_stack(const Wish& wish) {
  return !wish.stack.empty() && wish.stack != kOwnStack;
}

void use_cluster(const Wish& wish, const Files& files, Case& kase) {
  if (!wish.cluster.empty()) {
    const auto speeds = wish.ideal ? front::Speeds::peak : front::Speeds::measured;
    kase.cluster = front::load_cluster(files.clusters, wish.cluster, speeds);
    kase.capacity = kase.cluster.device_memory;
  }
  const bool keeps_sums = wish.precision == kF32Gradients;
  if (!wish.precision.empty() && wish.precision != "f32" && wish.precision != "mixed" && !keeps_sums) {
    refuse(fmt::format("--precision {}: it is f32, mixed or {}", wish.precision, kF32Gradients));
  }
  // What others have built computes in 16 bits, unless somebody says otherwise.
  kase.cluster.mixed = wish.precision.empty() ? has_stack(wish) : wish.precision != "f32";
  kase.cluster.f32_gradients = keeps_sums;
  if (wish.unlimited) kase.capacity = kUnlimited;
}

void use_recompute(const Wish& wish, Case& kase) {
  if (wish.recompute.empty()) return;
  const auto recompute = model::kRecomputeWords.find(wish.recompute);
  if (!recompute) refuse(fmt::format("--recompute {}: it is off, full or selective", wish.recompute));
  if (!kase.has_model() || kase.model.family != model::ModelSpec::Family::gpt) {
    refuse("--recompute is about transformer blocks, and the model of this puzzle has none");
  }
  kase.execution.recompute = *recompute;
}

/// Optimizer and clipping stay the case's, and of a GPT whether weights are tied.
void use_model(const Wish& wish, const Files& files, model::ModelSpec& spec) {
  const memory_map::Transformer named =
      memory_map::find_transformer(memory_map::load_transformers(files.models), wish.model);
  if (!named.has_layers()) {
    refuse(fmt::format("Of the model '{}' only the number of parameters is known: it has no layers", wish.model));
  }
  memory_map::take_sizes(named, spec);
  if (spec.blocks == model::ModelSpec::Blocks::llama) spec.tied = named.tied;
}

/// What is measured of the stack on this cluster takes the place of what is measured of the cluster alone.
void take(const front::Efficiency& of_stack, front::Efficiency& efficiency) {
  const auto take_one = [](const std::optional<double>& from, std::optional<double>& to) {
    if (from) to = from;
  };
  take_one(of_stack.matmul, efficiency.matmul);
  take_one(of_stack.memory, efficiency.memory);
  take_one(of_stack.intra_node, efficiency.intra_node);
  take_one(of_stack.inter_node, efficiency.inter_node);
}

/// How many ranks, or chunks, an axis has in the case; 1 if the puzzle has no such axis.
Count size_of(const Manifest& puzzle, const Case& kase, const std::string& name) {
  for (const Axis& axis : puzzle.axes) {
    if (axis.name == name) return axis.number.empty() ? kase.ranks : kase.integer(axis.number);
  }
  return 1;
}

/// Of an activation each of t ranks has a part with sequence parallelism, and sends that. Without it a stack may still
/// send the parts, and gather them inside the node (Narayanan et al. 2021, section 4.1).
void share_activations(const StackFile& file, int t, bool is_sequence_parallel, front::Cluster& cluster) {
  if (t == 1) return;
  const double part = 1.0 / t;
  if (is_sequence_parallel) {
    cluster.activation_share = cluster.message_share = part;
  } else if (file.scatters_messages) {
    const double inside = cluster.links[0].bytes_per_second, between = cluster.links[1].bytes_per_second;
    cluster.message_share = part + (1 - part) * between / inside;
  }
}

/// A puzzle whose ranks are all along tp is about a part of a layer: its harness takes matrices of a GPT's block by
/// their names, and of a perceptron's middle by its width.
bool is_made_of_a_gpts_matrices(const Manifest& puzzle) {
  return puzzle.axes.size() == 1 && puzzle.axes.front().name == "tp";
}

/// What the stack's file says of the case's cluster. Of Llama's layers there are no operations, so that ours are a
/// file, too.
std::optional<OnCluster> use_stack(const Manifest& puzzle, const Wish& wish, const Files& files, Case& kase) {
  const bool is_llama = kase.model.blocks == model::ModelSpec::Blocks::llama;
  if (!has_stack(wish) && !is_llama) return std::nullopt;
  if (!kase.has_model() || kase.model.family != model::ModelSpec::Family::gpt) {
    refuse("--stack is about transformer blocks, and the model of this puzzle has none");
  }
  if (is_llama && is_made_of_a_gpts_matrices(puzzle)) {
    refuse(
        fmt::format("Puzzle {} makes a part of a GPT's block of operations itself, and Llama's blocks have other "
                    "matrices. There are GPTs of the same width and depth: llama-70b-as-gpt and llama-405b-as-gpt",
                    puzzle.number));
  }
  if (has_stack(wish) && kase.cluster.uses_table) {
    refuse(fmt::format("--stack needs a cluster with speeds, such as dgx_a100: on {} calls take fixed times",
                       kase.cluster.name));
  }
  const StackFile file = load_stack(files.stacks, has_stack(wish) ? wish.stack : kOwnStack);
  if (is_llama && !file.knows_llama) {
    refuse(
        fmt::format("The software stack {} is known for the blocks of a GPT alone; those of Llama have others, such "
                    "as torch-flash, or ours",
                    file.stack->name));
  }
  model::SoftwareStack stack = *file.stack;
  const auto is_missing = [&](const model::StackRow& row) { return row.llama && !is_llama; };
  std::erase_if(stack.forward, is_missing);
  std::erase_if(stack.backward, is_missing);
  stack.sequence_parallel = stack.sequence_parallel && !wish.no_sequence_parallel;
  const OnCluster* on = file.on_cluster(kase.cluster.name);
  if (on != nullptr && !wish.ideal) take(on->efficiency, kase.cluster.efficiency);
  share_activations(file, static_cast<int>(size_of(puzzle, kase, "tp")), stack.sequence_parallel, kase.cluster);
  kase.execution.stack = std::make_shared<const model::SoftwareStack>(std::move(stack));
  return on == nullptr ? std::nullopt : std::optional(*on);
}

/// Where the chunks of a rank take turns, micro-batches come in multiples of the stages. What the wish says nothing of
/// becomes one.
void check_turns(const Manifest& puzzle, const Wish& wish, Case& kase) {
  const auto stages = static_cast<int>(size_of(puzzle, kase, "pp"));
  if (!puzzle.interleaved || size_of(puzzle, kase, "v") == 1 || kase.micro_batches % stages == 0) return;
  const bool is_set = std::any_of(wish.set.begin(), wish.set.end(),
                                  [](const std::string& text) { return text.starts_with("micro_batches="); });
  const bool is_said = wish.micro_batches > 0 || wish.global_batch > 0 || is_set;
  if (is_said) {
    refuse(
        fmt::format("With several chunks on a rank micro-batches come in multiples of the {} stages, and there are {}",
                    stages, kase.micro_batches));
  }
  kase.micro_batches += stages - kase.micro_batches % stages;
}

/// That the harness can divide the model so: said here, before thousands of ranks say it.
void check_division(const Manifest& puzzle, const Case& kase) {
  if (!kase.has_model() || puzzle.axes.empty()) return;
  const auto layers = static_cast<Count>(model::make_structure(kase.model).layers.size());
  const Count dealt = kase.execution.stack ? layers - 2 : layers;
  const Count stages = size_of(puzzle, kase, "pp") * size_of(puzzle, kase, "v");
  if (stages > dealt) {
    refuse(fmt::format("{} layers, embedding and head {}, are too few for {} stages", dealt,
                       dealt == layers ? "among them" : "not counted", stages));
  }
  const bool is_gpt = kase.model.family == model::ModelSpec::Family::gpt;
  if (is_gpt) model::make_part(kase.model, static_cast<int>(size_of(puzzle, kase, "tp")), 0);
}

std::string name_of(const Wish& wish, const Case& kase) {
  std::string name = fmt::format("{} ranks", kase.ranks);
  if (!wish.parallel.empty()) name += ", " + wish.parallel;
  if (!wish.model.empty()) name += ", " + wish.model;
  return name;
}

}  // namespace

WishedCase wished_case(const Manifest& puzzle, const Wish& wish, const Files& files) {
  const Case* base = wish.base.empty() ? &puzzle.cases.front() : puzzle.find_case(wish.base);
  if (base == nullptr) refuse(fmt::format("Puzzle {} has no case '{}'", puzzle.id, wish.base));
  Case kase = *base;
  kase.hidden = false;
  kase.uneven_tokens = kase.empty_batch = false;
  use_layout(puzzle, wish, kase);
  if (!wish.model.empty()) {
    if (!kase.has_model()) refuse(fmt::format("Puzzle {} has no model that --model could replace", puzzle.id));
    use_model(wish, files, kase.model);
  }
  use_cluster(wish, files, kase);
  use_recompute(wish, kase);
  WishedCase wished;
  wished.on_cluster = use_stack(puzzle, wish, files, kase);
  if (wish.micro_batches > 0) kase.micro_batches = wish.micro_batches;
  if (wish.batch > 0) kase.batch = wish.batch;
  use_global_batch(wish, kase);
  use_numbers(wish, kase);
  check_turns(puzzle, wish, kase);
  kase.name = name_of(wish, kase);
  if (kase.ranks % kase.num_batches() != 0) {
    refuse(fmt::format("{} ranks cannot share {} batches evenly", kase.ranks, kase.batches));
  }
  check_division(puzzle, kase);
  kase.folded = wish.fold;
  wished.kase = std::move(kase);
  return wished;
}

Case case_of(const Manifest& puzzle, const Wish& wish, const Files& files) {
  return wished_case(puzzle, wish, files).kase;
}

}  // namespace shardlings::simulation
