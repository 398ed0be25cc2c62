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
  int best = 1;
  double least = 0;
  for (int q = 1; q <= positions; ++q) {
    const double move = latency + transfer / q, work = 3 * launch + compute / q;
    // The first gather and the last scatter hide behind nothing. In between a chunk is computed while the next one
    // comes and the one before it leaves.
    const double time = 2 * move + work + (q - 1) * std::max(work, 2 * move);
    if (q > 1 && time >= least) continue;
    least = time;
    best = q;
  }
  return best;
}

void mlp_forward(Rank& rank, ConstView up, ConstView down, ConstView x, View y, int chunks) {
  Group tp = rank.world();
  const Count mine = x.shape()[0];
  // Chunk c has some positions of EVERY rank. Neither layer mixes positions, so their order does not matter in between:
  // the scatter gives each rank back those that it has put in.
  const auto rows = [&](int c) { return Range{mine * c / chunks, mine * (c + 1) / chunks}; };
  const auto room = [&](int c) {
    return rank.empty({tp.size() * rows(c).size(), x.shape()[1], x.shape()[2]}, Kind::buffer);
  };
  Tensor next = room(0), leaving;
  Work gathered = tp.all_gather_async(x.rows_part(rows(0)), next), scattered;
  for (int c = 0; c < chunks; ++c) {
    gathered.wait();
    const Tensor whole = std::move(next);
    if (c + 1 < chunks) {  // travels while this chunk is computed
      next = room(c + 1);
      gathered = tp.all_gather_async(x.rows_part(rows(c + 1)), next);
    }
    Tensor summands = matmul(gelu(matmul(whole, up, nt)), down, nt);
    scattered.wait();  // that of the chunk before had as long
    leaving = std::move(summands);
    scattered = tp.reduce_scatter_async(leaving, y.rows_part(rows(c)), ReduceOp::sum);
  }
  scattered.wait();
}
// <<<

// What it costs: the bytes of puzzle 18, cut into q pieces, and q times the latency of a gather and of a scatter. What
// was exposed in full is exposed for one chunk. Each chunk launches three operations of its own, and smaller products
// make less of a device: so q has an optimum.
//
// What production does differently: one product is cut, not the pair. Transformer Engine (Megatron-LM's
// --tp-comm-overlap) and PyTorch's asynchronous tensor parallelism pass the ranks' parts round a ring, or fetch them by
// copy engines, and begin with a rank's own part, which need not travel: then even the first chunk is hidden. Flux goes
// further and cuts inside the kernel, by tiles of the product. Domino cuts the batch and overlaps whole layers, as
// here.
