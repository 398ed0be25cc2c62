// Puzzle 22: 1F1B on links with a latency.
//
// Messages take a while to arrive. Receives are posted ahead, and a longer warm-up gives them the time.
// The lesson is README.md beside this file; `./shardlings explain 22` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <algorithm>
#include <utility>
#include <vector>

using namespace shardlings;

/// Gradients and loss of one step on m micro-batches, in a pipeline of p stages; this rank has stage r of 0 to p-1. A
/// message takes alpha from the moment at which it has been sent and its receive has been posted.
///
/// stage, batch, loss       as in puzzle 19
/// expect(shape, from)      makes room for a message of that shape and posts its receive. Returns an Incoming: after
///                          `work.wait()` its `data` may be used. From kNobody nothing comes: the wait does nothing
/// forward(i)               computes on x[i], which must be there; returns what `after` waits for
/// backward(i, move(grad))  computes on grad, frees x[i]; returns what `before` waits for
/// before, after            ranks; kNobody at the ends, where sending does nothing
///
/// Result  gradients and loss as if one device had trained on the whole batch
/// Flight  no more micro-batches have run forward on this rank and not yet backward than hiding a round trip of F + B
///         needs, with F and B those of a stage
/// Time    that of puzzle 20 without latency, and the latency once, down and up; 2 alpha is at most F + B, and all
///         stages take equally long
/// Wire    for each micro-batch and boundary: its activation once, its gradient once, each as one message
/// Work    each layer once forward and once backward for each micro-batch
/// Memory  at most what is in flight, on the device, and in each direction one message that was sent and, as long as
///         more are to come, one that is expected
///
/// Calls that you need: those from below, and world.send_async(t, to).keep(std::move(t)) as in puzzle 20.
void train_step(Rank& rank, const Model& model, const Stage& stage, const Batch& batch, View loss) {
  Group& world = rank.world();
  const int p = rank.size(), r = rank.id(), m = batch.num_micro();
  const int before = stage.is_first() ? kNobody : r - 1, after = stage.is_last() ? kNobody : r + 1;
  std::vector<Tensor> x(m), logits(m);
  std::vector<StageSaved> saved(m);

  struct Incoming {
    Tensor data;
    Work work;
  };
  // `at` is the line that calls, for reports.
  [[maybe_unused]] const auto expect = [&](Shape shape, int from, Location at = Location::current()) {
    Incoming in;
    if (from != kNobody) in.data = rank.empty(shape, Kind::activation, DType::f32, at);
    in.work = world.recv_async(in.data, from, at);
    return in;
  };
  const auto forward = [&](int i, Location at = Location::current()) {
    Tensor y = stage.forward(x[i], &saved[i], at);
    if (stage.is_last()) logits[i] = std::move(y);
    return y;
  };
  const auto backward = [&](int i, Tensor grad, Location at = Location::current()) {
    grad = stage.backward(x[i], std::move(saved[i]), std::move(grad), at);
    x[i] = {};
    return grad;
  };

  // >>> your code (about 30 lines)
  not_implemented();
  // <<<
}
