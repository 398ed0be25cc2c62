/// \file
/// The judge's own training step: one device, plain loops, double precision; shares no code with the runtime's kernels.
#pragma once

#include <vector>

#include "grading/case.h"

namespace shardlings::grading {

/// Results of training on the whole global batch (all ranks, all micro-batches). Layers flat, as Model's weights.
struct Reference {
  double loss = 0;                                  ///< of the last step
  std::vector<std::vector<double>> grads;           ///< of the last step
  std::vector<std::vector<double>> weights;         ///< after all steps
  std::vector<std::vector<double>> weights_before;  ///< at the start
  /// How far honest f32 arithmetic in any order may be from the above, per element: 16 times the difference between
  /// the same steps in float and in double, with the tensor's largest as a floor.
  std::vector<std::vector<double>> grads_tolerance;
  std::vector<std::vector<double>> weights_tolerance;
  double loss_tolerance = 0;
  /// Gradient of each rank's own tokens alone (same denominator), for diagnosis; by rank, then layer.
  std::vector<std::vector<std::vector<double>>> local_grads;
};

Reference train_reference(const Case& kase);

}  // namespace shardlings::grading
