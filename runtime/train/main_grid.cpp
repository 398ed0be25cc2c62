// The main function of programs that train with the step of puzzle 33: that of the project, or the learner's.
#include "train/trainer.h"

void train_step(shardlings::Rank& rank, const shardlings::Model& model, const shardlings::GridShare& share,
                const shardlings::Batch& batch, float limit, shardlings::View loss);

int main(int argc, char** argv) {
  return shardlings::train::train_main(argc, argv, &train_step);
}
