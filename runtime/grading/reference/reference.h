/// \file
/// The judge's own training step: one device, plain loops, double precision; shares no code with the runtime's kernels.
#pragma once

#include <vector>

#include "case/case.h"
#include "grading/reference/rounding.h"

namespace shardlings::grading::reference {

/// Numbers of each layer.
using Layers = std::vector<std::vector<double>>;

/// Results of training on the whole global batch (all batches, all micro-batches). Layers flat, as Model's weights.
/// Tied tensors (see model::ModelSpec) are two here: equal, each with the gradient of both, and counted once in the
/// norm.
struct Reference {
  double loss = 0;            ///< of the last step
  Layers grads;               ///< of the last step, before clipping
  Layers weights;             ///< after all steps
  Layers weights_before;      ///< at the start
  Layers m, v;                ///< Adam's moments after all steps; zero for plain SGD
  std::vector<double> norms;  ///< of the whole gradient before clipping, by step
  /// How far f32 arithmetic in any order may be from the above, per element and the same for all elements of a matrix
  /// or vector: 16 times its noise. The noise is the largest distance, anywhere in it, of three f32 computations of the
  /// same steps from the double one, and at least four roundings of its largest element. Two of the three start from
  /// weights and inputs that are off by about one rounding, so that an ill-conditioned case shows itself as such.
  ///
  /// Why: the distance of one f32 computation says how much roundings matter in this case, but is a sample of what
  /// chance makes of them; of three, the runtime's is rarely four times beyond the largest. Over 240 random models it
  /// used at most 0.23 of the tolerance (median 0.07). Mistakes are far outside: typical gradients of every matrix and
  /// vector are more than a thousand times their tolerance.
  Layers grads_tolerance;
  Layers weights_tolerance;
  Layers m_tolerance, v_tolerance;
  std::vector<double> norms_tolerance;
  double loss_tolerance = 0;
  /// Gradient of each batch's tokens alone (same denominator), for diagnosis; by batch (see Case), then layer.
  std::vector<Layers> local_grads;
};

/// In mixed precision (see reference/rounding.h) weights and moments are the optimizer's, in f32, and what is computed
/// from 16 bits is rounded where an operation stores it. The reference rounds in the same places, so that only those
/// numbers differ which the last bits of a sum push over a boundary: its noise is that of computations whose sums are
/// shaken, and at least one rounding of bf16.
Reference train_reference(const cases::Case& kase, Precision precision = Precision::full);

}  // namespace shardlings::grading::reference
