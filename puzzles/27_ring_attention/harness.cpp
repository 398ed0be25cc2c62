// Gives each rank the queries, keys and values of its positions, calls the learner's forward pass and, where the case
// has one, the backward pass, and publishes what is judged.

#include "submission/harness.h"

using namespace shardlings;
using submission::Harness;

SHARDLINGS_LEARNER_FUNCTION(ring_forward, void(Rank& rank, const AttentionShare& share));
SHARDLINGS_LEARNER_FUNCTION(ring_backward,
                            void(Rank& rank, const AttentionShare& share, ConstView grad_y, View grad_q, View grad_kv));

namespace {

/// Which of the case's tensors is which: grader.cpp draws the same ones.
enum Drawn : int { kQueries, kKeys, kValues, kGradient };

/// Keys of these positions, and below them their values.
Tensor keys_and_values(Harness& h, Range mine, Count width) {
  const Shape whole{h.kase().model.sequence, h.kase().batch, width};
  Tensor kv = h.rank().empty({2 * mine.size(), whole[1], whole[2]}, Kind::activation);
  copy(kv.rows_part({0, mine.size()}), h.normals(kKeys, whole, mine, Kind::other));
  copy(kv.rows_part({mine.size(), 2 * mine.size()}), h.normals(kValues, whole, mine, Kind::other));
  return kv;
}

}  // namespace

SHARDLINGS_HARNESS(h) {
  Rank& rank = h.rank();
  const model::ModelSpec& model = h.kase().model;
  const bool backward = h.integer("backward") > 0;
  const Count b = h.kase().batch, width = model.hidden, key_width = width / model.heads * h.integer("kv_heads");
  const Shape whole{model.sequence, b, width};
  const Range mine = rank.world().mine(model.sequence);
  const Tensor q = h.normals(kQueries, whole, mine, Kind::activation);
  const Tensor kv = keys_and_values(h, mine, key_width);
  Tensor y = rank.empty(q.shape(), Kind::activation);
  Tensor lse = rank.empty({mine.size(), b, model.heads}, Kind::activation);
  Tensor grad_y, grad_q, grad_kv;
  if (backward) {
    grad_y = h.normals(kGradient, whole, mine, Kind::activation);
    grad_q = rank.zeros(q.shape(), Kind::activation);
    grad_kv = rank.zeros(kv.shape(), Kind::activation);
  }
  h.begin();
  const AttentionShare share{model.sequence, q, kv, y, lse};
  ring_forward(rank, share);
  if (backward) ring_backward(rank, share, grad_y, grad_q, grad_kv);
  h.end();
  const auto put = [&](const char* name, ConstView part, Count columns) {
    h.put(name, part, {model.sequence * b, columns, {{mine.begin * b, mine.end * b}, {0, columns}}});
  };
  put("y", y, width);
  put("lse", lse, model.heads);
  if (!backward) return;
  put("grad_q", grad_q, width);
  put("grad_k", grad_kv.rows_part({0, mine.size()}), key_width);
  put("grad_v", grad_kv.rows_part({mine.size(), 2 * mine.size()}), key_width);
}
