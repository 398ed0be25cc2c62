// Puzzle 19: GPipe.
//
// Every rank holds a few consecutive layers of the model, a stage. Micro-batches travel through all stages and back.
// The lesson is README.md beside this file; `./shardlings explain 19` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <utility>
#include <vector>

using namespace shardlings;

/// Gradients and loss of one step on m = batch.num_micro() micro-batches, in a pipeline of p = rank.size() stages.
///
/// stage                                  the layers of this rank, with their weights and gradients:
///   forward(x, &saved)                   the stage's output for its input x; fills `saved` for the way back
///   backward(x, move(saved), move(grad)) the gradient of x; adds to the gradients of the weights, zero before
///   is_first(), is_last()                it begins with the first layer, ends with the last one: both if p = 1
///   input_shape(), output_shape()        (s, b, h): what is received has one of these shapes
/// batch.micro(i).inputs   (s, b, h)   on the first stage only (a GPT has token ids (s, b)); elsewhere empty
/// batch.micro(i).targets  (s, b)      on the last stage only
/// batch.tokens_of_step()              targets that count, in all micro-batches together
/// loss                    (1)         is 0 before. The last stage leaves the loss of the step there, others leave it
///
/// Result  gradients and loss as if one device had trained on the whole batch
/// Wire    for each micro-batch and boundary: its activation once, its gradient once, each as one message
/// Time    a stage begins each forward and backward as soon as what it needs is there: first all forward, then all
///         backward
/// Work    each layer once forward and once backward for each micro-batch
/// Memory  at most m micro-batches in flight, all on the device; nothing stays that has been sent, or used for the last
///         time. The first stage may compute on the inputs of the batch or on a clone of them
///
/// Calls that you need: those of `stage`, model.loss(logits, targets, tokens, loss), clone, rank.empty(shape, kind),
/// world.send(tensor, to) and world.recv(tensor, from), which return when the other side has come.
void train_step(Rank& rank, const Model& model, const Stage& stage, const Batch& batch, View loss) {
  Group& world = rank.world();
  const int m = batch.num_micro();
  const int before = stage.is_first() ? kNobody : rank.id() - 1;  // the rank that has the stage before mine
  const int after = stage.is_last() ? kNobody : rank.id() + 1;    // and the one after it
  std::vector<Tensor> x(m);                                       // x[i]: the input of my stage for micro-batch i
  std::vector<StageSaved> saved(m);  // saved[i]: what backward of micro-batch i needs besides x[i]
  std::vector<Tensor> logits(m);     // logits[i]: the output of the last stage

  // >>> your code (about 22 lines)
  not_implemented();
  // <<<
}
