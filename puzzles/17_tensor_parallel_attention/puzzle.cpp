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
  not_implemented();
}

/// Returns y = proj(attention(qkv(x))). Puts into `kept` what backward needs.
Tensor attend_forward(Group& tp, const Linear& qkv, const Linear& proj, int heads, ConstView x,
                      std::vector<Tensor>& kept) {
  not_implemented();
}

/// Returns grad_x, and makes the gradients of this rank's weights, which are zero before. Leaves nothing in `kept`.
Tensor attend_backward(Group& tp, const Linear& qkv, const Linear& proj, int heads, ConstView x,
                       std::vector<Tensor>& kept, ConstView grad_y) {
  not_implemented();
}

/// Returns the rows of the whole table that the ids name.
Tensor embed(Group& tp, ConstView table, Count vocabulary, ConstView ids) {
  not_implemented();
}

/// Adds the mean cross entropy of the logits x head.weightᵀ to `loss`, makes the gradient of head.weight, which is zero
/// before, and returns grad_x. Every target counts.
Tensor vocab_loss(Group& tp, const Linear& head, Count vocabulary, ConstView x, ConstView targets, Count tokens,
                  View loss) {
  not_implemented();
}
// <<<
