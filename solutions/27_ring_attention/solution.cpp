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
  Group& cp = rank.world();
  const int c = cp.size(), me = cp.rank(), next = (me + 1) % c, before = (me + c - 1) % c;
  const int heads = static_cast<int>(share.lse.cols());
  const auto first = [&](int r) { return cp.part(share.sequence, r).begin; };
  ConstView here = share.kv;
  Tensor held;
  for (int j = 0; j < c; ++j) {
    const int owner = (me - j + c) % c;  // of the keys that are here
    Tensor coming, lse;
    Work sent, received;
    if (j + 1 < c) {
      coming = room(rank, share, (owner + c - 1) % c);
      sent = cp.send_async(here, next);
      received = cp.recv_async(coming, before);
    }
    if (owner <= me) {  // keys behind all queries are passed on unread
      const Tensor y = partial_attention(share.q, here, {heads, first(me), first(owner)}, &lse);
      if (j == 0) {
        copy(share.y, y);
        copy(share.lse, lse);
      } else {
        merge_attention(share.y, share.lse, y, lse);
      }
    }
    sent.wait();
    received.wait();
    held = std::move(coming);
    here = held;
  }
}

void ring_backward(Rank& rank, const AttentionShare& share, ConstView grad_y, View grad_q, View grad_kv) {
  Group& cp = rank.world();
  const int c = cp.size(), me = cp.rank(), next = (me + 1) % c, before = (me + c - 1) % c;
  const int heads = static_cast<int>(share.lse.cols());
  const auto first = [&](int r) { return cp.part(share.sequence, r).begin; };
  ConstView here = share.kv;
  Tensor held, leaving;  // leaving: a gradient on its way to the next rank
  Work left;
  for (int j = 0; j < c; ++j) {
    const int owner = (me - j + c) % c;
    Tensor coming, others, grad;
    Work sent, received, arrived;
    if (j > 1) {  // what the ranks before have added up for these keys; it was sent before the next keys were
      others = room(rank, share, owner);
      arrived = cp.recv_async(others, before);
    }
    if (j + 1 < c) {
      coming = room(rank, share, (owner + c - 1) % c);
      sent = cp.send_async(here, next);
      received = cp.recv_async(coming, before);
    }
    // Of its own keys a rank's contribution stays at home: what travels begins at the next rank.
    if (j > 0) grad = rank.zeros(here.shape(), Kind::buffer);
    if (owner <= me) {
      const View sum = j == 0 ? grad_kv : View(grad);
      partial_attention_backward_add(grad_q, sum, share.q, here, share.y, share.lse, grad_y,
                                     {heads, first(me), first(owner)});
    }
    arrived.wait();
    if (others) add(grad, others);
    left.wait();
    leaving = std::move(grad);
    if (j > 0) left = cp.send_async(leaving, next);
    sent.wait();
    received.wait();
    held = std::move(coming);
    here = held;
  }
  if (c == 1) return;
  Tensor home = room(rank, share, me);
  cp.recv(home, before);
  left.wait();
  add(grad_kv, home);
}
// <<<

// What it costs: each of the three rounds sends (c-1) 2 b s/c u elements. Keys and values go round twice, since
// forward cannot keep them; gradients go round once. That is what gathering everything costs, with 2/c of the memory in
// forward and 5/(2c) of it in backward.
//
// What production does differently: Megatron-LM and torchtitan do not give a rank consecutive positions, since then the
// last rank computes twice as much as the mean (puzzle 28). Where heads share keys, keys are small, and Llama 3 gathers
// them whole before attention: one kernel for all keys, any mask, and a wait that is short beside the products.
