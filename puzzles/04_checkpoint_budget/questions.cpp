// What is asked before the puzzle and after the pass.

#include "grading/judge/grader.h"
#include "grading/judge/predictions.h"
#include "plans.h"

using namespace shardlings;
using namespace shardlings::grader;
using namespace shardlings::checkpoint_budget;

SHARDLINGS_PREDICTIONS("6 layers") {
  const Case& kase = predict.kase();
  const PlannedLayers layers = planned_layers(kase);
  const std::int64_t budget = kase.integer("budget");
  const CheckpointPlan best = best_plan(layers, budget).value();
  const CheckpointPlan nothing(layers.size(), false), everything(layers.size(), true);
  const auto at_the_end = [](PlannedLayer& layer, bool last) {
    if (!last) layer.kept_work = layer.again_work = 0;
  };
  const auto flops_of = [&](const CheckpointPlan& plan) { return Flops(recomputed_flops(layers, plan)); };
  const Formula<Bytes> all_kept = named("activations if all is kept", Bytes(activation_peak(layers, nothing)));
  const Formula<Bytes> needed = named("activations of the best plan", Bytes(activation_peak(layers, best)));
  predict
      .peak("peak", 0, "How many bytes of device memory are alive at the worst moment of the best plan?",
            fixed_bytes(kase) + needed)
      .unlike(needed, "Weights, gradients, batch and loss are there as well.")
      .unlike(fixed_bytes(kase) + all_kept, "That is with everything kept: it is above the budget.");
  predict
      .number("excess", "By how many bytes would the activations be over the budget if all of Saved were kept?",
              all_kept - named("budget", Bytes(budget)))
      .unlike(all_kept, "That is all of it. The budget is for activations alone: take it away.");
  predict
      .number("operations", "How many operations do all second forwards of the best plan take?",
              named("second forwards of the best plan", flops_of(best)))
      .unlike(flops_of(greedy_plan(layers, budget, larger)),
              "That is the largest first, which frees more than is needed.")
      .unlike(flops_of(greedy_plan(layers, budget, cheaper_byte)),
              "That is the cheapest byte first: enough to pass. Another set of layers does it for less.")
      .unlike(Flops(flops_if(kase, at_the_end).value()), "That plan fits at the last layer. Does it at the others?")
      .unlike(flops_of(everything), "That is every layer. Only some have to be computed again.");
}

SHARDLINGS_PREDICTIONS_AFTER("6 layers") {
  const Formula<Count> layers = named("layers", 100);
  predict.answer(1)
      .count("entries", "100 layers have exactly as many bytes each. How many entries does the table have at most?",
             layers + 1, "entries")
      .unlike(layers, "That nothing is kept is a sum, too.");
}
