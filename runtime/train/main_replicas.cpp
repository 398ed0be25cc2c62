// The main function of programs that train with the step of a puzzle that knows no grid and no limit, such as 02 and
// 09.
#include "train/trainer.h"

using namespace shardlings;

void train_step(Rank& rank, const Model& model, TrainState& state, const Batch& batch, View loss);

namespace {

void step(Rank& rank, const Model& model, const GridShare& share, const Batch& batch, float /*limit*/, View loss) {
  train_step(rank, model, share.state, batch, loss);
}

}  // namespace

int main(int argc, char** argv) {
  return train::train_main(argc, argv, &step);
}
