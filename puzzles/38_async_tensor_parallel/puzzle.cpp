// Puzzle 38: tensor parallelism whose gathers and scatters hide behind the products, chunk by chunk.
//
// Each chunk of the positions is gathered, computed and scattered by itself, so that one of them can travel while
// another one is computed.
// The lesson is README.md beside this file; `./shardlings explain 38` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <cmath>
#include <utility>

using namespace shardlings;

/// y = gelu(x upᵀ) downᵀ, with h inputs and outputs and f in the middle, on the t ranks of rank.world(), in chunks.
///
/// x, y   (s/t, b, h)  this rank's positions. Positions are the first extent, so they lie together; t divides s
/// up     (f/t, h)     this rank's outputs of the first layer, as many as mine(f) makes them; there are no biases
/// down   (h, f/t)     this rank's inputs of the second layer
/// chunks              in so many pieces, as equal as they can be, the positions are gathered, computed and scattered
///
/// mlp_forward promises:
///
/// Result  y: of this rank's positions what one device would have
/// Wire    the bytes of one all-gather of x and one reduce-scatter of y, and no more. Each chunk is gathered by one
///         call and scattered by one call
/// Memory  beside weights, x and y there is never more than two gathered chunks, the summands of two chunks, and z
///         and a (input and output of the GELU) of one chunk take together. Nothing lies on the host
/// Time    a chunk is gathered while the one before it is computed, and scattered while the one behind it is computed
///
/// number_of_chunks is told what the machine needs, in ns, of the rank that needs most:
///
/// latency   of a gather, or of a scatter, however few bytes it moves
/// transfer  of the bytes of all positions together, beside that: gathered, or scattered
/// launch    of an operation, before it computes. A chunk has three: two products and the GELU
/// compute   of these three for all positions together, beside that
///
/// It returns a number from 1 to `positions`, which are those of one rank: with so many chunks mlp_forward takes at
/// most 3 % longer than with the best number. You may reckon with chunks that are equally long, with fractions of
/// positions.

// >>> your code (about 35 lines)
int number_of_chunks(Count positions, double latency, double transfer, double launch, double compute) {
  not_implemented();
}

void mlp_forward(Rank& rank, ConstView up, ConstView down, ConstView x, View y, int chunks) {
  not_implemented();
}
// <<<
