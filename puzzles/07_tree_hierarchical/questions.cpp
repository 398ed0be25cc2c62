// What is asked before and after the pass about trees and levels.

#include "grading/formulas/node_all_reduce.h"
#include "grading/formulas/training.h"
#include "grading/judge/grader.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;

SHARDLINGS_PREDICTIONS("levels, 5 nodes of 3") {
  const NodeAllReduce plan(predict.kase());
  const Count n = predict.kase().integer("elements");
  const Formula<Bytes> size = named("size", Bytes(n * kBytesOfF32)),
                       part = named("part", Bytes(n / plan.k * kBytesOfF32));
  const Formula<Count> r = plan.num_nodes(), all = plan.num_ranks();
  predict
      .number("between", "How many bytes does rank 0 send to other nodes?", 2 * share_of_others(r) * part,
              Question::Of::sent_out, 0)
      .unlike(2 * share_of_others(r) * size, "Only rank 0's part crosses from rank 0.")
      .unlike(share_of_others(r) * part, "That is one half of the ring between the nodes.")
      .unlike(2 * share_of_others(all) * size, "That is one ring over all ranks, which takes no notice of nodes.");
  predict.end("levels", "When do all ranks have all sums, by levels?", plan.levels_time(n))
      .unlike(plan.levels_time(n) / 2, "That is one half: adding up, or handing out.");
  predict.number("tree", "How long would the tree take for the same data?", plan.tree_time(n))
      .unlike(plan.tree_time(n) / 2, "That is one way: up to the root, or down again.");
  predict
      .number("changeover", "At how many bytes do both take the same time, if parts come out even?", plan.changeover())
      .unlike(named("elements", Bytes(plan.changeover().value().value() / kBytesOfF32)),
              "Those are elements, of 4 bytes each.");
}

SHARDLINGS_PREDICTIONS_AFTER("levels, 5 nodes of 3") {
  const Formula<Count> n = named("N", 8), rounds = named("log2 N", rounds_of_tree(8));
  predict.answer(1)
      .count("doubling",
             "In recursive doubling each rank exchanges its sum with the rank at distance 1, then 2, then 4, until all "
             "have the sum. How many messages of the whole size do the ranks of a node of 8 send together?",
             rounds * n, "messages")
      .unlike(2 * (n - 1), "That is the tree: every rank but the root sends once, and gets the sum once.")
      .unlike(rounds * n / 2, "In every round all ranks send, not every second one.");
}
