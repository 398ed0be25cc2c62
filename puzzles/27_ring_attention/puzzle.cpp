// Puzzle 27: attention over sequences of which each rank holds a part, forward and backward.
//
// Every query needs the keys and values of all positions before it, and no rank can hold those of all.
// The lesson is README.md beside this file; `./shardlings explain 27` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <utility>

using namespace shardlings;

/// Causal attention of sequences whose positions are divided over the c ranks of rank.world(). Rank r has positions
/// part(sequence, r), n of them: consecutive ones, and one more on some ranks than on others.
///
/// sequence  positions of all ranks together
/// q         (n, b, h)      queries of this rank's positions
/// kv        (2 n, b, u)    their keys and, below them, their values; u is less than h where heads share keys
/// y, lse    (n, b, h), (n, b, heads)  room for the result of ring_forward; ring_backward finds it there
/// grad_y    shape of y     its gradient, of this rank's positions
/// grad_q, grad_kv          shapes of q and kv; zeros at first
///
/// Forward:
/// Result  y and lse: for this rank's queries what one device would have, with the keys of all positions that they see
/// Wire    the bytes of one all-gather of all keys and values, and no more
/// Memory  beside what is given: keys and values of two ranks, and one partial y and lse. Nothing lies on the host
/// Time    while a rank computes with some keys, the next ones are on their way
///
/// Backward:
/// Result  grad_q and grad_kv: of this rank's positions, from the gradients of ALL queries
/// Wire    keys and values as in forward, and of their gradients no hop that the sums do not need
/// Memory  beside what is given: keys and values of two ranks, and of their gradients what comes in, what this rank has
///         just computed, and what goes out. Nothing lies on the host
/// Time    a rank waits for a message only when it has nothing left to compute

/// Room for the keys and values of rank `owner`, or for their gradients.
Tensor room(Rank& rank, const AttentionShare& share, int owner) {
  const Count n = rank.world().part(share.sequence, owner).size();
  return rank.empty({2 * n, share.kv.shape()[1], share.kv.cols()}, Kind::buffer);
}

// >>> your code (about 60 lines)
void ring_forward(Rank& rank, const AttentionShare& share) {
  not_implemented();
}

void ring_backward(Rank& rank, const AttentionShare& share, ConstView grad_y, View grad_q, View grad_kv) {
  not_implemented();
}
// <<<
