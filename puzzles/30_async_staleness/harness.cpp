// Gives the server the weights and each worker its target, lets each do its part, and publishes the weights and how old
// the gradients were.

#include "submission/harness.h"

#include <string>

#include "plan.h"

using namespace shardlings;

SHARDLINGS_LEARNER_FUNCTION(serve, std::vector<int>(Rank& rank, int steps, int bound, bool by_staleness, float lr,
                                                    View weights));
SHARDLINGS_LEARNER_FUNCTION(work, void(Rank& rank, int steps, int slowness, float curvature, ConstView target));

SHARDLINGS_HARNESS(h) {
  const AsyncPlan plan(h.kase());
  Rank& rank = h.rank();
  if (rank.id() > 0) {
    const Tensor target = h.normals(AsyncPlan::target(rank.id()), {plan.size}, Kind::other);
    h.begin();
    work(rank, plan.steps, plan.slowness_of(rank.id()), plan.curvature, target);
    return h.end();
  }
  Tensor weights = h.normals(AsyncPlan::weights(), {plan.size}, Kind::parameter);
  h.begin();
  const std::vector<int> staleness = serve(rank, plan.steps, plan.bound, plan.by_staleness, plan.lr, weights);
  h.end();
  h.put("weights_of_server", weights);
  h.put("staleness", h.tensor({staleness.begin(), staleness.end()}, Kind::other));
}
