// Gives each rank a gradient in each step, lets the learner's function sum what the ranks send of them, moves the
// weights by that, and publishes what went in and what came out.

#include "submission/harness.h"

#include "pulled.h"

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(sum_compressed, void(Rank& rank, View grad, View residual, Count k));

SHARDLINGS_HARNESS(h) {
  const Count n = h.integer("elements"), k = h.integer("k"), steps = h.kase().steps;
  const bool pulled = is_pulled(h.kase()), recorded = h.integer("recorded") != 0;
  // Small integers for each step, or tenths that no float is equal to; or the targets of this rank's loss.
  Tensor data =
      pulled ? h.tensor(targets_of(h.kase(), h.rank().id()), Kind::other) : h.integers(steps * n, Kind::other);
  if (is_rounded(h.kase())) scale(data, 0.1F);
  Tensor weights = h.rank().zeros(n, Kind::parameter);
  Tensor grad = h.rank().zeros(n, Kind::gradient), residual = h.rank().zeros(n, Kind::gradient);
  const Shape all{recorded ? steps : 0, n};
  Tensor grads = h.rank().zeros(all, Kind::other), sums = h.rank().zeros(all, Kind::other),
         residuals = h.rank().zeros(all, Kind::other);
  h.begin();
  for (Count step = 0; step < steps; ++step) {
    if (pulled) {
      copy(grad, weights);
      axpy(grad, -1, data);
      scale(grad, 1 / static_cast<float>(h.rank().size()));
    } else {
      copy(grad, data.part({step * n, (step + 1) * n}));
    }
    const Range row{step * n, (step + 1) * n};
    if (recorded) copy(grads.part(row), grad);
    sum_compressed(h.rank(), grad, residual, k);
    if (recorded) copy(sums.part(row), grad);
    if (recorded) copy(residuals.part(row), residual);
    axpy(weights, -static_cast<float>(h.kase().number("lr")), grad);
  }
  h.end();
  h.put_of_rank("gradients", grads);
  h.put_of_rank("sums", sums);
  h.put_of_rank("residuals", residuals);
  h.put_of_rank("weights in the end", weights);
}
