// Gives every rank the matrices and its own gradients of them, asks who owns which, takes the steps, and publishes what
// every rank has afterwards.

#include "submission/harness.h"

#include "deals.h"

using namespace shardlings;
using submission::Harness;

SHARDLINGS_LEARNER_FUNCTION(deal, std::vector<int>(const std::vector<Shape>& shapes, int ranks));
SHARDLINGS_LEARNER_FUNCTION(muon_step,
                            void(Rank& rank, const std::vector<int>& owner, TrainState& state, float lr, float beta));

namespace {

/// Those of step `step` on this rank, whose tokens are its own.
std::vector<Tensor> gradients(Harness& h, const std::vector<Shape>& shapes, int step) {
  std::vector<Tensor> grads;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const int which = (step * static_cast<int>(shapes.size()) + static_cast<int>(i)) * h.rank().size() + h.rank().id();
    grads.push_back(h.normals(which, shapes[i], Kind::gradient));
    h.mark_layer(grads.back(), static_cast<int>(i));
  }
  return grads;
}

/// What the learner says, if every matrix has an owner.
std::vector<int> owners(const std::vector<Shape>& shapes, int ranks) {
  const std::vector<int> owner = deal(shapes, ranks);
  const auto refuse = [](const std::string& message) { throw InvalidArgument(message.c_str(), detail::kNoPlace); };
  if (owner.size() != shapes.size()) {
    refuse("deal returns " + std::to_string(owner.size()) + " owners; there are " + std::to_string(shapes.size()) +
           " matrices");
  }
  for (std::size_t i = 0; i < owner.size(); ++i) {
    if (owner[i] >= 0 && owner[i] < ranks) continue;
    refuse("deal gives matrix " + std::to_string(i) + " to rank " + std::to_string(owner[i]) + "; ranks are 0 to " +
           std::to_string(ranks - 1));
  }
  return owner;
}

/// What the learner says of the matrices that are drawn, deal by deal.
std::vector<float> owners_of_drawn(std::uint64_t seed) {
  std::vector<float> all;
  for (const DrawnDeal& drawn : drawn_deals(seed)) {
    std::vector<Shape> shapes;
    for (const MatrixSize& matrix : drawn.matrices) shapes.push_back({matrix.rows, matrix.cols});
    for (const int owner : owners(shapes, drawn.ranks)) all.push_back(static_cast<float>(owner));
  }
  return all;
}

}  // namespace

SHARDLINGS_HARNESS(h) {
  TrainState state;
  std::vector<Shape> shapes;
  const Model model = h.model();
  for (int l = 0; l < model.num_layers(); ++l) {
    const Entry& weight = model.entries(l).front();
    shapes.push_back({weight.rows, weight.cols});
    state.weights.push_back(h.weights(l, weight.name, {0, weight.rows}, {0, weight.cols}));
  }
  state.optimizer.resize(shapes.size());
  std::vector<std::vector<Tensor>> grads;
  for (int step = 0; step < h.kase().steps; ++step) grads.push_back(gradients(h, shapes, step));
  const std::vector<float> drawn = owners_of_drawn(h.kase().seed);
  h.begin();
  const std::vector<int> owner = owners(shapes, h.rank().size());
  for (std::vector<Tensor>& of_step : grads) {
    state.grads = std::move(of_step);
    muon_step(h.rank(), owner, state, static_cast<float>(h.kase().number("lr")),
              static_cast<float>(h.kase().number("beta")));
  }
  h.end();
  for (std::size_t i = 0; i < shapes.size(); ++i) h.put("matrix." + std::to_string(i), state.weights.at(i));
  std::vector<float> momentum;  // elements of each matrix's
  for (const auto& of_matrix : state.optimizer) momentum.push_back(static_cast<float>(of_matrix.m.size()));
  h.put_of_rank("momentum", h.tensor(momentum, Kind::other));
  h.put("owners", h.tensor({owner.begin(), owner.end()}, Kind::other));
  h.put("owners_of_drawn", h.tensor(drawn, Kind::other));
}
