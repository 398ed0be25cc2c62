// Puzzle 43: data and seeds.
//
// Which data each rank of a grid reads, packed or not, and which random numbers it draws, so that any grid trains as
// one device would. The lesson is README.md beside this file; `./shardlings explain 43` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <vector>

using namespace shardlings;

/// grid has the axes "dp" (replicas of the model), "pp" (its layers: stage r has grid.along("pp").part(run.layers, r))
/// and "tp" (parts of each layer). All ranks have the same `run`. A cursor counts the sequences that the run has read
/// since it began: by all replicas together, and over all epochs. One device, which is to be equalled, does this:
///
/// Epoch    number e = cursor / run.sequences reads every sequence once, in the order shuffled(run.sequences,
///          run.seed + e). A step reads the next run.batch of that order; the last one of an epoch reads what is left
/// Dropout  before that of a layer's activation (s, B, w), with B sequences in the step, element (i, j, k) draws number
///          (j s + i) w + k of the stream 2 · (cursor · run.layers + l) + site, under run.seed. Here l is the layer's
///          number in the whole model, site 0 for its inner activation and 1 for its output, and s is x.sequence
///
/// Of the sequences of a step, in their order, replica r has grid.along("dp").part(B, r); of the w columns of an inner
/// activation rank r has grid.along("tp").part(w, r). Of a layer's output every rank of "tp" has all columns.
/// sequences_of_step  the numbers of the sequences that this rank's replica reads in the step that begins at the
///                    cursor, in their order; none where there are fewer than replicas
/// next_cursor        where the next step begins. A run may go on from it in another grid
/// draws_of           what this rank's part of activation x, shape (s, own sequences, own columns), draws in that step:
///                    number first + i by_position + j by_sequence + k for its element (i, j, k)
/// share_weights      `weights`, of this rank's layers and columns, are right on replica 0. Afterwards they are so on
///                    all replicas. No rank sends more than the bytes of its weights once

/// Where the data set has documents.
struct Packing {
  std::vector<Count> lengths;  // tokens of each document
  Count sequence = 0;          // length s of a packed sequence, in tokens
};
/// Token numbers: all tokens of document 0, then of 1, …, in the order of the documents' numbers, not of the epoch.
/// `target` is the one to predict, -1 if there is none; `sees` is the first position of its sequence that it may see.
struct PackedToken {
  Count token = 0, target = -1, sees = 0;
};
/// Packing (43b): there run.sequences counts documents, and a cursor counts tokens. Epoch e = cursor / all tokens lays
/// the documents one behind another in the order shuffled(run.sequences, run.seed + e). A step cuts run.batch sequences
/// from the cursor on, also through documents; at an epoch's end a step may have fewer than run.batch sequences, and
/// its last one fewer than s tokens. Of the step's B sequences replica r has grid.along("dp").part(B, r).
/// packed_tokens       the tokens of this replica's sequences, one sequence behind another. The target of each is the
///                     next token of its document, wherever that lies. It sees its own document alone
/// loss_tokens         how many tokens of the step have a target, on all replicas: the loss is divided by that
/// next_packed_cursor  where the next step begins, in whatever grid, and with sequences of whatever length

// >>> your code (about 46 lines)
/// What the step at the cursor reads of its epoch.
Range step_at(const DataRun& run, Count cursor) {
  const Count begin = cursor % run.sequences;
  return {begin, std::min(begin + run.batch, run.sequences)};
}

std::vector<Count> sequences_of_step(const DataRun& run, const Grid& grid, Count cursor) {
  const auto epoch = static_cast<std::uint64_t>(cursor / run.sequences);
  const std::vector<Count> order = shuffled(run.sequences, run.seed + epoch);
  const Range step = step_at(run, cursor), mine = grid.along("dp").mine(step.size());
  const auto begin = order.begin() + step.begin;
  return {begin + mine.begin, begin + mine.end};
}

Count next_cursor(const DataRun& run, [[maybe_unused]] const Grid& grid, Count cursor) {
  return cursor + step_at(run, cursor).size();
}

Draws draws_of(const DataRun& run, const Grid& grid, Count cursor, const DroppedLayer& x) {
  // Where this rank's part begins in the activation of one device: at its replica's first sequence, its first column.
  const Count sequence = grid.along("dp").mine(step_at(run, cursor).size()).begin;
  const Count column = x.inner ? grid.along("tp").mine(x.width).begin : 0;
  const Count layer = grid.along("pp").mine(run.layers).begin + x.layer;
  const Count stream = 2 * (cursor * run.layers + layer) + (x.inner ? 0 : 1);
  const Count by_sequence = x.sequence * x.width;
  return {run.seed, static_cast<std::uint64_t>(stream), sequence * by_sequence + column, x.width, by_sequence};
}

void share_weights(const Grid& grid, View weights) {
  grid.along("dp").broadcast(weights, 0);
}

/// The step at the cursor, as one device reads it.
std::vector<PackedToken> packed_step(const DataRun& run, const Packing& packing, Count cursor) {
  std::vector<Count> begins{0};  // of the documents in the data set; last: all tokens
  for (const Count length : packing.lengths) begins.push_back(begins.back() + length);
  const Count first = cursor % begins.back(), end = std::min(first + run.batch * packing.sequence, begins.back());
  std::vector<PackedToken> tokens;
  Count at = 0;  // place in the epoch
  for (const Count document : shuffled(run.sequences, run.seed + static_cast<std::uint64_t>(cursor / begins.back()))) {
    for (Count i = 0; i < packing.lengths[document]; ++i, ++at) {
      if (at < first || at >= end) continue;
      const Count token = begins[document] + i, position = (at - first) % packing.sequence;
      const bool is_last = i + 1 == packing.lengths[document];
      tokens.push_back({token, is_last ? -1 : token + 1, std::max(position - i, Count(0))});
    }
  }
  return tokens;
}

std::vector<PackedToken> packed_tokens(const DataRun& run, const Grid& grid, const Packing& packing, Count cursor) {
  const std::vector<PackedToken> step = packed_step(run, packing, cursor);
  const Count all = static_cast<Count>(step.size()), s = packing.sequence;
  const Range mine = grid.along("dp").mine((all + s - 1) / s);
  return {step.begin() + std::min(mine.begin * s, all), step.begin() + std::min(mine.end * s, all)};
}

Count loss_tokens(const DataRun& run, const Packing& packing, Count cursor) {
  Count count = 0;
  for (const PackedToken& own : packed_step(run, packing, cursor)) count += own.target >= 0 ? 1 : 0;
  return count;
}

Count next_packed_cursor(const DataRun& run, const Packing& packing, Count cursor) {
  return cursor + static_cast<Count>(packed_step(run, packing, cursor).size());
}
// <<<

// What it costs: one broadcast at the beginning of the run, and nothing after it. No mask is kept, and no order and no
// packing is sent: seed, cursor and the documents' lengths say what anybody reads and draws.
//
// What production does differently: Megatron-LM gives the ranks of tensor parallelism a generator each, with other
// seeds for what is divided, and saves its state in checkpoints; so masks depend on the layout. PyTorch's DTensor
// counts offsets into one stream, as here. torchtitan and MosaicML's StreamingDataset save a cursor by which a run can
// go on with another number of ranks. Megatron-LM packs documents as here, but once for the whole run, into an index on
// disk, so its sequences cannot change their length on the way.
