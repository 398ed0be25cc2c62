// Cross entropy over a vocabulary that is divided over ranks (Shoeybi et al. 2019, section 3): of the others' logits a
// rank needs three numbers for each token.
#include <utility>

#include "api/access.h"
#include "front/model/layers.h"

namespace shardlings::front {
namespace {

/// For each token 1 if its target counts, else 0; in the type of `like`.
Tensor which_count(ConstView like, ConstView targets, Count vocabulary, Location at) {
  Rank rank = detail::Access::rank(detail::Access::port(targets), {});
  Tensor ones = rank.empty({vocabulary, 1}, Kind::activation, like.dtype(), at);
  fill(ones, 1, at);
  return embedding(targets, ones, {0, vocabulary}, at);
}

/// Exponentials to probabilities; to zeros where the target does not count, since the sum there becomes infinite.
void normalise(View z, Tensor sum, ConstView targets, Count vocabulary, Location at) {
  const Tensor counted = which_count(z, targets, vocabulary, at);
  divide_rows(sum.reshaped({sum.size(), 1}, at), counted, at);
  divide_rows(z, sum, at);
}

}  // namespace

Tensor divided_loss(Group tp, const DividedVocabulary& ids, Tensor logits, ConstView targets, Count tokens, View loss,
                    Location at) {
  Tensor z = std::move(logits);
  Tensor top = row_max(z, at);
  tp.all_reduce(top, ReduceOp::max, at);
  Tensor hit = pick(z, targets, ids.mine, at);
  tp.all_reduce(hit, ReduceOp::sum, at);
  exp_minus_row(z, top, at);
  Tensor sum = row_sum(z, at);
  tp.all_reduce(sum, ReduceOp::sum, at);
  loss_add(loss, sum, hit, top, targets, tokens, at);
  top = {};
  hit = {};
  normalise(z, std::move(sum), targets, ids.all, at);
  add_at(z, targets, ids.mine, -1.0F, at);
  scale(z, 1.0F / static_cast<float>(tokens), at);
  return z;
}

}  // namespace shardlings::front
