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
std::vector<Count> sequences_of_step(const DataRun& run, const Grid& grid, Count cursor) {
  not_implemented();
}

Count next_cursor(const DataRun& run, [[maybe_unused]] const Grid& grid, Count cursor) {
  not_implemented();
}

Draws draws_of(const DataRun& run, const Grid& grid, Count cursor, const DroppedLayer& x) {
  not_implemented();
}

void share_weights(const Grid& grid, View weights) {
  not_implemented();
}

std::vector<PackedToken> packed_tokens(const DataRun& run, const Grid& grid, const Packing& packing, Count cursor) {
  not_implemented();
}

Count loss_tokens(const DataRun& run, const Packing& packing, Count cursor) {
  not_implemented();
}

Count next_packed_cursor(const DataRun& run, const Packing& packing, Count cursor) {
  not_implemented();
}
// <<<
