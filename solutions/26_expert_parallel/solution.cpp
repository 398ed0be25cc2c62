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
  const Count tokens = std::ssize(scores) / experts;
  std::vector<int> choice(tokens * k), order(experts);
  for (Count t = 0; t < tokens; ++t) {
    const float* score = &scores[t * experts];
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return score[a] > score[b]; });
    std::copy_n(order.begin(), k, choice.begin() + t * k);
  }
  std::vector<Count> taken(experts);
  for (int j = 0; j < k; ++j) {
    for (Count t = 0; t < tokens; ++t) {
      int& expert = choice[t * k + j];
      if (taken[expert] < capacity) {
        ++taken[expert];
      } else {
        expert = kNobody;
      }
    }
  }
  return choice;
}

/// Rows that arrive: E/e numbers from each rank, one for each expert of this one.
std::vector<Count> arriving(Rank& rank, Group ep, const std::vector<Count>& counts) {
  const Count n = std::ssize(counts);
  Tensor told = rank.empty(n, Kind::buffer, DType::i32), heard = rank.empty(n, Kind::buffer, DType::i32);
  for (Count i = 0; i < n; ++i) fill(told.part({i, i + 1}), static_cast<float>(counts[i]));
  ep.all_to_all(told, heard);
  std::vector<Count> rows;
  for (Count i = 0; i < n; ++i) rows.push_back(static_cast<Count>(rank.read(heard.part({i, i + 1}))));
  return rows;
}

void expert_layer(Rank& rank, const ExpertShare& share) {
  Group ep = share.ep, replicas = share.replicas;
  const Count own = std::ssize(share.weights), h = share.x.cols();
  const std::vector<Count> counts = arriving(rank, ep, share.counts);
  std::vector<Count> sends(ep.size()), receives(ep.size());
  for (Count i = 0; i < std::ssize(counts); ++i) {
    sends[i / own] += share.counts[i];
    receives[i / own] += counts[i];
  }
  const Count m = std::reduce(receives.begin(), receives.end());
  // Rows arrive by rank, and those of one rank by expert: an expert's rows are in e stretches.
  const auto for_stretches = [&](auto compute) {
    Count begin = 0;
    for (Count i = 0; i < std::ssize(counts); begin += counts[i++]) {
      if (counts[i] > 0) compute(i % own, Range{begin, begin + counts[i]});
    }
  };
  const Range tokens{0, share.x.rows()};
  Tensor out = embedding(share.token, share.x, tokens), in = rank.empty({m, h}, Kind::activation), result;
  ep.all_to_all_rows(out, sends, in, receives);
  {
    Tensor sum = rank.zeros({m, h}, Kind::activation);
    for_stretches([&](Count i, Range r) { matmul_add(sum.rows_part(r), in.rows_part(r), share.weights[i], nt); });
    result = relu(sum);
  }
  ep.all_to_all_rows(result, receives, out, sends);
  scale_rows(out, share.factor);
  embedding_backward_add(share.y, share.token, tokens, out);

  out = Tensor();  // before the next one is made
  out = embedding(share.token, share.grad_y, tokens);
  scale_rows(out, share.factor);
  Tensor grad = rank.empty({m, h}, Kind::activation);
  ep.all_to_all_rows(out, sends, grad, receives);
  const Tensor inner = relu_backward(result, grad);  // the result is above 0 where its sum was
  fill(grad, 0);
  for_stretches([&](Count i, Range r) {
    matmul_add(share.grads[i], inner.rows_part(r), in.rows_part(r), tn);
    matmul_add(grad.rows_part(r), inner.rows_part(r), share.weights[i], nn);
  });
  ep.all_to_all_rows(grad, receives, out, sends);
  embedding_backward_add(share.grad_x, share.token, tokens, out);
  for (const View& of_expert : share.grads) replicas.all_reduce(of_expert, ReduceOp::sum);
}
// <<<

// What it costs: a row crosses the network four times, h numbers each: k T h (e-1)/e out and as many in, forward and
// backward. The weights stay where they are, E/e of them on a rank. A layer takes as long as its fullest rank.
//
// What production does differently: rows are sorted on the device, by kernels that need no host; the products of all
// experts are one grouped kernel; a token whose experts share a node crosses the network once; and the bytes travel
// while another micro-batch computes.
