// The main function of programs that train with the step of a puzzle that knows no grid, but a limit of the gradient's
// norm, such as 11 and 12.
#include "train/trainer.h"

using namespace shardlings;

void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, float limit, View loss);

namespace {

void step(Rank& rank, const Model& model, const GridShare& share, const Batch& batch, float limit, View loss) {
  train_step(rank, model, share.state, batch, limit, loss);
}

}  // namespace

int main(int argc, char** argv) {
  return train::train_main(argc, argv, &step);
}
