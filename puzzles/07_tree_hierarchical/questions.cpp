// What is asked after the pass about trees and levels.

#include "grading/formulas/node_all_reduce.h"
#include "grading/judge/grader.h"
#include "grading/judge/predictions.h"

using namespace shardlings;
using namespace shardlings::grader;

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
