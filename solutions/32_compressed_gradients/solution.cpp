// Puzzle 32: compressed gradients. Of each gradient the largest k elements are sent, and the rest is owed.
//
// The lesson is README.md beside this file; `./shardlings explain 32` shows it in the terminal.

#include <shardlings/puzzle.h>

using namespace shardlings;

/// The part of a training step in which data parallel training would all-reduce a gradient of n elements, on the N
/// ranks of rank.world(). It is called once in each step, with the same residual.
///
/// grad      (n)  this rank's share of the gradient, divided by the tokens of all ranks. Leave the sum there that the
///                weights are to move by
/// residual  (n)  zeros before the first step; yours: what you leave there you find again in the next step
/// k              how many elements each rank sends, 1 to n
///
/// Rule    owed = residual + grad, of this rank. Each rank sends the k elements of it with the largest absolute values,
///         of equal ones the first; the residual is what it has not sent of what was owed
/// Result  on every rank the same sum, bit for bit, of what all ranks have sent: an element that several ranks send is
///         the sum over them, in the order of the ranks, and one that nobody sends is 0
/// Wire    k values and their k places of each rank go to all others, in two collectives at most, and in
///         no sends of your own: for all k, also where an all-reduce would send less
/// Memory  beside what is given what this rank sends, and what all ranks send: 8 (N + 1) k bytes. Nothing on the host
///
/// Calls that you need: add, scale, fill; rank.empty(shape, kind, DType::i32); world.all_gather(in, out), of any type.
/// top_k(x, k): x is (rows, n), and the result has the places of the k largest elements of each row, i32. With x as a
/// table of one column, x.reshaped({n, 1}), whose rows are elements, embedding(places, table, {0, n}) reads them, and
/// embedding_backward_add(table, places, {0, n}, values) adds to them, one place after another.
void sum_compressed(Rank& rank, View grad, View residual, Count k) {
  Group& world = rank.world();
  const Count n = grad.size();

  // >>> your code (about 14 lines)
  add(residual, grad);  // all that is owed, in the residual's place
  const View table = residual.reshaped({n, 1});
  const Tensor places = top_k(residual.reshaped({1, n}), k);
  Tensor values = embedding(places, table, {0, n});
  // What is sent is not owed any more: x - x is 0 exactly.
  scale(values, -1);
  embedding_backward_add(table, places, {0, n}, values);
  scale(values, -1);
  Tensor all_places = rank.empty(world.size() * k, Kind::buffer, DType::i32);
  Tensor all_values = rank.empty(world.size() * k, Kind::buffer);
  world.all_gather(places, all_places);
  world.all_gather(values, all_values);
  fill(grad, 0);
  embedding_backward_add(grad.reshaped({n, 1}), all_places, {0, n}, all_values);
  // <<<
}

// What it costs: (N-1) 8 k bytes a rank, since places have to travel beside values and nothing can be added up on the
// way; so at k = n/N it is an all-reduce of everything. And a residual as large as the gradient.
//
// What production does differently: sums of a few bits for each element go through an all-to-all, are added up in f32,
// and are compressed once more for the way back (1-bit Adam, ZeRO++); PowerSGD sends two thin matrices that can be
// all-reduced. All of them keep a residual, and PowerSGD's is in PyTorch.
