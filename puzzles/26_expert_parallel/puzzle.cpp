// Puzzle 26: a layer of experts that are divided over ranks, forward and backward.
//
// A router sends each token to some of many experts. Tokens travel to the ranks that have these, and results travel
// back. The lesson is README.md beside this file; `./shardlings explain 26` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <numeric>
#include <vector>

using namespace shardlings;

/// The router: (T, k) numbers, choice j of token t at t k + j, from its scores, (T, E) of them. Choice j is the expert
/// with the j-th best score of the token, of equal scores the one with the lower number. But an expert takes no more
/// than `capacity` rows of this rank: all first choices in the order of the tokens, then all second ones, and so on. A
/// choice for which no room is left is kNobody: that row is dropped.
///
/// The layer, for each row i with its token t and its expert's weight w:
///
///   y[t] += factor[i] relu(x[t] wT)
///
/// share.ep           e ranks that have all E experts together: rank r of it those from r E/e on
/// share.replicas     the ranks with the same experts as this one
/// share.x, .grad_y   (T, h)        this rank's tokens, and the gradient of y
/// share.token        (n) i32       the token of each row that goes out; rows are ordered by expert, then by token
/// share.factor       (n)           what each row's result is multiplied with
/// share.counts       E numbers     rows of this rank for each expert: known here, and not where they arrive
/// share.weights      E/e of (h, h) of this rank's experts
/// share.grads        like weights  zeros, for the gradients of them
/// share.y, .grad_x   (T, h)        zeros, for the result and for the gradient of x
///
/// Result  y and grad_x of this rank's tokens, and grads summed over the tokens of all ranks
/// Wire    rows there and back, in forward and in backward, none of them to its own rank; the counts that the receiver
///         needs; one all-reduce of each gradient, over the ranks that have it. The host reads at most E numbers
/// Work    a row is multiplied with its expert's weight: once in forward, twice in backward
/// Memory  beside what is given: four tensors of the rows that arrive, and one of the rows that go out. Before there
///         are any rows: two tensors of the counts. Nothing lies on the host

// >>> your code (about 78 lines)
std::vector<int> route(const std::vector<float>& scores, int experts, int k, Count capacity) {
  not_implemented();
}

void expert_layer(Rank& rank, const ExpertShare& share) {
  not_implemented();
}
// <<<
