// Gives each rank its positions of some micro-batches, calls the learner's functions, and publishes what is judged.

#include "submission/harness.h"

using namespace shardlings;
using submission::Harness;
using submission::LinearShard;

SHARDLINGS_LEARNER_FUNCTION(mlp_forward, Tensor(Rank& rank, const Linear& norm, const Linear& up, const Linear& down,
                                                ConstView x, std::vector<Tensor>& kept));
SHARDLINGS_LEARNER_FUNCTION(mlp_backward, Tensor(Rank& rank, const Linear& norm, const Linear& up, const Linear& down,
                                                 ConstView x, std::vector<Tensor>& kept, ConstView grad_y));
SHARDLINGS_LEARNER_FUNCTION(finish_step, void(Rank& rank, const Linear& norm, const Linear& up, const Linear& down));

namespace {

constexpr int kBlock = 1;  // the layer of the model whose second half this is

/// This rank's positions among those of all micro-batches, one after another.
Range positions(Harness& h, int micro) {
  const Count s = h.kase().model.sequence;
  const Range mine = h.rank().world().mine(s);
  return {micro * s + mine.begin, micro * s + mine.end};
}

void put_positions(Harness& h, const std::string& name, const Tensor& tensor, int micro) {
  const Count b = h.kase().batch, all = h.kase().micro_batches * h.kase().model.sequence * b;
  const Range mine = positions(h, micro);
  h.put(name, tensor, {all, h.kase().model.hidden, {{mine.begin * b, mine.end * b}, {0, h.kase().model.hidden}}});
}

}  // namespace

SHARDLINGS_HARNESS(h) {
  Rank& rank = h.rank();
  const Count width = h.kase().model.hidden, middle = 4 * width;
  const int micros = h.kase().micro_batches;
  const Shape all{micros * h.kase().model.sequence, h.kase().batch, width};
  LinearShard norm = h.linear(kBlock, "ln2.", {{0, width}, {0, 1}});
  LinearShard up = h.linear(kBlock, "fc.", {rank.world().mine(middle), {0, width}});
  LinearShard down = h.linear(kBlock, "fc2.", {{0, width}, rank.world().mine(middle)});
  std::vector<Tensor> x, grad_y;
  for (int i = 0; i < micros; ++i) {
    x.push_back(h.normals(0, all, positions(h, i), Kind::activation));
    grad_y.push_back(h.normals(1, all, positions(h, i), Kind::activation));
  }
  std::vector<std::vector<Tensor>> kept(x.size());
  h.begin();
  for (int i = 0; i < micros; ++i) {
    const auto at = static_cast<std::size_t>(i);
    put_positions(h, "y", mlp_forward(rank, norm.linear(), up.linear(), down.linear(), x[at], kept[at]), i);
  }
  for (int i = 0; i < micros; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const Tensor grad_x = mlp_backward(rank, norm.linear(), up.linear(), down.linear(), x[at], kept[at], grad_y[at]);
    put_positions(h, "grad_x", grad_x, i);
    kept[at].clear();
  }
  finish_step(rank, norm.linear(), up.linear(), down.linear());
  h.end();
  h.put_gradients("gradient of norm", norm);
  h.put_gradients("gradient of up", up);
  h.put_gradients("gradient of down", down);
}
