#include "memory_map/memory_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/parts.h"
#include "model/activations.h"

namespace shardlings::memory_map {
namespace {

using model::LayerStructure;

[[noreturn]] void refuse(const std::string& why) {
  throw std::invalid_argument(why);
}

Count divided(Count n, int parts) {
  return part_of(n, parts, 0).size();  // the longest
}

Count sequence_of(const Transformer& model, const Training& training) {
  return training.sequence > 0 ? training.sequence : model.sequence;
}

model::ActivationFormat format_of(const Training& training) {
  const bool small = training.kept_by == KeptBy::shardlings;
  return {training.precision.activation, !small, small};
}

/// All sums must fit into 64 bits, by far.
void check_size(const Transformer& model, const Training& training, Count sequence) {
  constexpr double kMost = 1e17;
  const auto h = static_cast<double>(model.hidden), s = static_cast<double>(sequence);
  const double blocks = static_cast<double>(model.layers) * (training.micro_batches + 1.0);
  const double tokens = s * static_cast<double>(training.micro_batch);
  const double elements =
      blocks * (h * h + tokens * (h + s * model.heads)) + static_cast<double>(model.vocabulary) * (h + tokens) + s * h;
  if (elements > kMost) refuse("a model, sequence or batch of that size is beyond this calculator");
}

void check_divisible(const Transformer& model, const Parallel& parallel, Count sequence) {
  if (parallel.sp && parallel.tp == 1) refuse("sp needs tensor parallelism: tp above 1");
  if (parallel.dp % parallel.shards() != 0) {
    refuse(fmt::format("dp = {} ranks cannot be divided into groups of shard = {}", parallel.dp, parallel.shard));
  }
  if (parallel.virtual_stages > 1 && parallel.pp == 1) refuse("v needs a pipeline: pp above 1");
  if (!model.has_layers()) return;
  if (model.heads % parallel.tp != 0) {
    refuse(fmt::format("{} heads cannot be divided over tp = {}", model.heads, parallel.tp));
  }
  if (model.key_value_heads % parallel.tp != 0) {
    refuse(
        fmt::format("{} heads of keys and values cannot be divided over tp = {}", model.key_value_heads, parallel.tp));
  }
  if (parallel.sp && sequence % parallel.tp != 0) {
    refuse(fmt::format("a sequence of {} cannot be divided over tp = {}", sequence, parallel.tp));
  }
  if (parallel.pp > model.layers) {
    refuse(fmt::format("{} blocks are too few for pp = {}", model.layers, parallel.pp));
  }
  const int chunks = parallel.pp * parallel.virtual_stages;
  if (parallel.virtual_stages > 1 && model.layers % chunks != 0) {
    refuse(fmt::format("{} blocks cannot be divided into pp x v = {} chunks", model.layers, chunks));
  }
}

/// Parameters of a layer on one of tp ranks.
Count parameters_on_rank(const LayerStructure& layer, int tp, bool without_matrix) {
  Count sum = 0;
  for (const Entry& entry : layer.entries) {
    if (without_matrix && entry.split != Split::whole) continue;
    const Count rows = entry.split == Split::rows ? divided(entry.rows, tp) : entry.rows;
    const Count cols = entry.split == Split::cols ? divided(entry.cols, tp) : entry.cols;
    sum += rows * cols;
  }
  return sum;
}

/// Sums of tensors that a block keeps: of all of them, of its input, and of what selective recomputation drops.
struct BlockBytes {
  Bytes all, input, inner_attention;
};

BlockBytes block_bytes(const Transformer& model, const Parallel& parallel, const Training& training) {
  BlockBytes sums;
  const Count sequence = sequence_of(model, training);
  for (const model::KeptTensor& tensor :
       kept_by_block(block_of(model), sequence, training.micro_batch, format_of(training))) {
    const bool is_divided = tensor.divided || parallel.sp;
    const Bytes bytes(is_divided ? divided(tensor.bytes.value(), parallel.tp) : tensor.bytes.value());
    if (sums.all == Bytes(0)) sums.input = bytes;  // x is the first of the list
    sums.all += bytes;
    if (tensor.inner_attention) sums.inner_attention += bytes;
  }
  return sums;
}

Bytes kept(const BlockBytes& block, Recompute recompute) {
  switch (recompute) {
    case Recompute::off: return block.all;
    case Recompute::selective: return block.all - block.inner_attention;
    case Recompute::full: return block.input;
  }
  return block.all;
}

class Mapper {
 public:
  Mapper(const Transformer& model, const Parallel& parallel, const Training& training)
      : model_(model), parallel_(parallel), training_(training), sequence_(sequence_of(model, training)) {
    check_size(model, training, sequence_);
    check_divisible(model, parallel, sequence_);
    model_.sequence = std::max(model.sequence, sequence_);  // positions need an embedding each
    if (model_.has_layers()) structure_ = structure_of(model_);
  }

  MemoryMap map() const {
    MemoryMap result;
    result.parameters = parameters_of(model_);
    for (int stage = 0; stage < parallel_.pp; ++stage) {
      result.stages.push_back(model_.has_layers() ? stage_memory(stage) : states_alone(stage));
    }
    return result;
  }

 private:
  bool first(int stage) const { return stage == 0; }
  bool last(int stage) const { return stage + 1 == parallel_.pp; }

  StageMemory states_alone(int stage) const {
    StageMemory memory;
    memory.stage = stage;
    memory.parameters = divided(divided(parameters_of(model_), parallel_.pp), parallel_.tp);
    memory.states = states_of(memory.parameters, training_, parallel_.zero, parallel_.shards());
    return memory;
  }

  StageMemory stage_memory(int stage) const {
    StageMemory memory;
    memory.stage = stage;
    memory.blocks = part_of(model_.layers, parallel_.pp, stage);
    memory.in_flight = static_cast<double>(chunks_in_flight(stage)) / parallel_.virtual_stages;
    Count before = 0;
    Count largest_pair = 0;
    for (Count unit : units(stage, memory.blocks)) {
      memory.parameters += unit;
      const StateBytes states = states_of(unit, training_, parallel_.zero, parallel_.shards());
      memory.states.weights += states.weights;
      memory.states.gradients += states.gradients;
      memory.states.optimizer += states.optimizer;
      largest_pair = std::max(largest_pair, before + unit);
      before = unit;
    }
    if (parallel_.shards() > 1 && parallel_.zero >= 3)
      memory.gathered = Bytes(training_.precision.weight * largest_pair);
    if (parallel_.shards() > 1 && parallel_.zero >= 2)
      memory.unreduced = Bytes(training_.precision.gradient * largest_pair);
    memory.activations = activations(stage, memory.blocks.size());
    return memory;
  }

  /// Parameters on this rank of each layer of a stage, in order.
  std::vector<Count> units(int stage, Range blocks) const {
    std::vector<Count> sizes;
    const auto size_of_layer = [&](std::size_t l, bool without_matrix) {
      return parameters_on_rank(structure_.layers[l], parallel_.tp, without_matrix);
    };
    if (first(stage)) sizes.push_back(size_of_layer(0, false));
    for (Count block = blocks.begin; block < blocks.end; ++block) {
      sizes.push_back(size_of_layer(static_cast<std::size_t>(block + 1), false));
    }
    // Where first and last stage are one, a tied head has no matrix of its own; otherwise each of them has a copy.
    if (last(stage)) sizes.push_back(size_of_layer(structure_.layers.size() - 1, model_.tied && first(stage)));
    return sizes;
  }

  /// Chunks of the model, of one micro-batch each, whose activations a stage keeps at once; a rank has v chunks.
  int chunks_in_flight(int stage) const {
    const int p = parallel_.pp, v = parallel_.virtual_stages;
    const int m = training_.micro_batches > 0 ? training_.micro_batches : 2 * p;
    if (v == 1) return std::min(p - stage, m);
    return std::min(2 * (p - stage - 1) + (v - 1) * p + 1, m * v);
  }

  ActivationBytes activations(int stage, Count blocks) const {
    const BlockBytes block = block_bytes(model_, parallel_, training_);
    const int chunks = chunks_in_flight(stage), v = parallel_.virtual_stages;
    ActivationBytes bytes;
    bytes.blocks = kept(block, training_.recompute) * (chunks * (blocks / v));
    bytes.recomputed = block.all - kept(block, training_.recompute);
    if (first(stage)) bytes.ends += embedding_bytes() * ((chunks + v - 1) / v);
    if (last(stage)) bytes.ends += head_bytes();
    return bytes;
  }

  /// Of an activation of the usual width; divided with the sequence.
  Count rows() const { return divided(sequence_ * training_.micro_batch, parallel_.sp ? parallel_.tp : 1); }

  /// For one micro-batch: token ids, or the mask of the dropout behind the embedding.
  Bytes embedding_bytes() const {
    constexpr Count kId = 4;
    const bool has_dropout = training_.kept_by == KeptBy::megatron && model_.blocks == model::ModelSpec::Blocks::gpt;
    if (!has_dropout) return Bytes(kId * sequence_ * training_.micro_batch);
    return Bytes(rows() * model_.hidden);
  }

  /// Input of the final layer norm, that of the head's matrix, and the logits in f32.
  Bytes head_bytes() const {
    constexpr Count kLogit = 4;
    constexpr Count kStatistics = 8;
    const Bytes logits(kLogit * sequence_ * training_.micro_batch * divided(model_.vocabulary, parallel_.tp));
    const Bytes statistics(training_.kept_by == KeptBy::shardlings ? kStatistics * rows() : 0);
    return Bytes(2 * training_.precision.activation * rows() * model_.hidden) + statistics + logits;
  }

  Transformer model_;
  Parallel parallel_;
  Training training_;
  Count sequence_;
  model::ModelStructure structure_;
};

bool has_less(const StageMemory& a, const StageMemory& b) {
  return a.total() < b.total();
}

}  // namespace

StateBytes states_of(Count parameters, const Training& training, int zero, int shards) {
  const Count share = divided(parameters, shards);
  StateBytes bytes;
  bytes.weights = Bytes(training.precision.weight * (zero >= 3 ? share : parameters));
  bytes.gradients = Bytes(training.precision.gradient * (zero >= 2 ? share : parameters));
  bytes.optimizer = Bytes(training.optimizer_bytes() * (zero >= 1 ? share : parameters));
  return bytes;
}

const StageMemory& MemoryMap::fullest() const {
  return *std::max_element(stages.begin(), stages.end(), has_less);
}

const StageMemory& MemoryMap::emptiest() const {
  return *std::min_element(stages.begin(), stages.end(), has_less);
}

MemoryMap map_memory(const Transformer& model, const Parallel& parallel, const Training& training) {
  return Mapper(model, parallel, training).map();
}

Bytes kept_by_one_block(const Transformer& model, const Parallel& parallel, const Training& training) {
  if (!model.has_layers()) refuse(model.name + " has no layers, only a number of parameters");
  check_divisible(model, parallel, sequence_of(model, training));
  return kept(block_bytes(model, parallel, training), training.recompute);
}

}  // namespace shardlings::memory_map
