// Puzzle 17: attention divided by heads, embedding and loss by the vocabulary.
//
// With the MLP of puzzle 16, which is given, that makes a whole GPT on t ranks, each with 1/t of every large matrix.
// The lesson is README.md beside this file; `./shardlings explain 17` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// x, y and their gradients are (s, b, h): whole, and the same on the t = tp.size() ranks. Ids and targets are (s, b).
///
/// qkv   weight (your rows of (3h, h)), bias: rows 0 to h-1 make queries, then h make keys, then h values. Within each,
///       the heads lie one behind the other. attention(qkv, heads, &inner) wants queries, keys and values of its heads
/// proj  weight (h, columns of tp.mine(heads)), bias (h); table and head.weight (tp.mine(vocabulary), h)
///
/// Result  loss and gradients as on one device; of the weights, each rank the gradients of its own parts
/// Wire    one all-reduce wherever the ranks have parts of a sum or of a maximum: of (s, b, h), in vocab_loss of (s, b)
///         too. No more, and never the logits
/// Memory  kept: 1/t of qkv, context and inner; one tensor of logits (s, b, vocabulary/t), never two
/// Work    1/t of the matrix products, those inside attention included, none of them twice
///
/// Calls that you may not know yet, with mine = tp.mine(vocabulary): embedding(ids, table, mine), zeros for others'
/// ids; row_max(z); pick(z, ids, mine), z at the ids, 0 for others'; exp_minus_row(z, top), z = exp(z - top);
/// row_sum(z); loss_add(loss, sum, hit, top, targets, tokens), which adds (log sum + top - hit) / tokens over all
/// targets; divide_rows(z, sum); add_at(z, ids, mine, value), which adds at the ids that are mine; scale(z, factor).

// >>> your code (about 40 lines)
/// Which rows of qkv.weight this rank holds: as many ranges as you like, which lie one behind the other in its part.
std::vector<Range> qkv_rows(const Group& tp, int heads, Count head_width) {
  // The same heads of all three: a head needs its queries, its keys and its values.
  const Range mine = tp.mine(heads);
  const Count h = heads * head_width, begin = mine.begin * head_width, end = mine.end * head_width;
  return {{begin, end}, {h + begin, h + end}, {2 * h + begin, 2 * h + end}};
}

/// Returns y = proj(attention(qkv(x))). Puts into `kept` what backward needs.
Tensor attend_forward(Group& tp, const Linear& qkv, const Linear& proj, int heads, ConstView x,
                      std::vector<Tensor>& kept) {
  Tensor mixed = matmul(x, qkv.weight, nt), inner;
  add_bias(mixed, qkv.bias);
  Tensor context = attention(mixed, tp.mine(heads).size(), &inner);
  Tensor y = matmul(context, proj.weight, nt);
  tp.all_reduce(y, ReduceOp::sum);
  add_bias(y, proj.bias);
  kept.push_back(std::move(mixed));
  kept.push_back(std::move(context));
  kept.push_back(std::move(inner));
  return y;
}

/// Returns grad_x, and makes the gradients of this rank's weights, which are zero before. Leaves nothing in `kept`.
Tensor attend_backward(Group& tp, const Linear& qkv, const Linear& proj, int heads, ConstView x,
                       std::vector<Tensor>& kept, ConstView grad_y) {
  const Tensor mixed = std::move(kept[0]), context = std::move(kept[1]);
  sum_rows_add(proj.grad_bias, grad_y);
  matmul_add(proj.grad_weight, grad_y, context, tn);
  Tensor grad = attention_backward(mixed, tp.mine(heads).size(), std::move(kept[2]), matmul(grad_y, proj.weight, nn));
  sum_rows_add(qkv.grad_bias, grad);
  matmul_add(qkv.grad_weight, grad, x, tn);
  Tensor grad_x = matmul(grad, qkv.weight, nn);
  tp.all_reduce(grad_x, ReduceOp::sum);
  return grad_x;
}

/// Returns the rows of the whole table that the ids name.
Tensor embed(Group& tp, ConstView table, Count vocabulary, ConstView ids) {
  // One rank has the row, the others have zeros.
  Tensor x = embedding(ids, table, tp.mine(vocabulary));
  tp.all_reduce(x, ReduceOp::sum);
  return x;
}

/// Adds the mean cross entropy of the logits x head.weightᵀ to `loss`, makes the gradient of head.weight, which is zero
/// before, and returns grad_x. Every target counts.
Tensor vocab_loss(Group& tp, const Linear& head, Count vocabulary, ConstView x, ConstView targets, Count tokens,
                  View loss) {
  const Range mine = tp.mine(vocabulary);
  Tensor z = matmul(x, head.weight, nt);  // (s, b, vocabulary/t): all of the logits that this rank ever has
  Tensor top = row_max(z);
  tp.all_reduce(top, ReduceOp::max);
  Tensor hit = pick(z, targets, mine);
  tp.all_reduce(hit, ReduceOp::sum);
  exp_minus_row(z, top);
  Tensor sum = row_sum(z);
  tp.all_reduce(sum, ReduceOp::sum);
  loss_add(loss, sum, hit, top, targets, tokens);
  // The gradient of the logits: softmax, minus one at the target. Each rank makes its own columns.
  divide_rows(z, sum);
  add_at(z, targets, mine, -1.0F);
  scale(z, 1.0F / tokens);
  matmul_add(head.grad_weight, z, x, tn);
  Tensor grad_x = matmul(z, head.weight, nn);
  tp.all_reduce(grad_x, ReduceOp::sum);
  return grad_x;
}
// <<<

// What it costs: with the MLP a block has four all-reduces of s b h elements, two in each direction: 8 (t-1)/t s b h
// elements sent by each rank. Embedding and loss add two more for the whole model, and three of s b. The logits, which
// are larger than anything else, never travel: three numbers for each token are all that a softmax needs of the others.
//
// What production does differently: Megatron-LM pads the vocabulary to a multiple of 128 t, keeps queries, keys and
// values of one head side by side in the fused weight (so that dividing it contiguously is dividing it by heads), and
// never makes the probabilities: FlashAttention computes them again in backward. Targets that do not count are masked
// in the loss.
