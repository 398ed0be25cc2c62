// Puzzle 90: Sum over ranks.
//
// Every rank has n numbers; afterwards every rank has their sums.
// The lesson is README.md beside this file; `./shardlings explain 90` shows it in the terminal.

#include <shardlings/puzzle.h>

using namespace shardlings;

/// `data` is the sum over all ranks of what it was.
///
/// data  (n)  f32; the same n on every rank
void sum_over_ranks(Rank& rank, View data) {
  Group& world = rank.world();

  // >>> your code (about 1 line)
  not_implemented();
  // <<<
}
