/// \file
/// What graders of training steps have in common: bytes of the layers, calls in the trace, and how alike two sets of
/// tensors are, for telling mistakes apart.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grading/judge/compare.h"
#include "grading/judge/grader.h"

namespace shardlings::grading::formulas {

/// \name Bytes
/// @{
/// What a layer's calls hold for one micro-batch; the formulas are those of model/memory.h.
struct LayerBytes {
  std::int64_t weights = 0;
  std::int64_t input = 0;           ///< x[l]
  std::int64_t output = 0;          ///< x[l + 1]
  std::int64_t input_gradient = 0;  ///< what backward returns: nothing for token ids
  std::int64_t saved = 0;           ///< saved[l]
  std::int64_t forward = 0;         ///< the most that forward holds, output included, if nothing is saved
  std::int64_t forward_saving = 0;  ///< the same, saved[l] included
  std::int64_t backward = 0;        ///< the most that backward holds, with the gradient it is given and saved[l]
  std::int64_t backward_input = 0;  ///< the same of backward_input, with what it keeps
  std::int64_t kept = 0;            ///< what it leaves in saved[l] for backward_weights
  bool weights_read_x = true;       ///< backward_weights reads x[l]
};
/// `dtype` is that of weights and activations.
std::vector<LayerBytes> layer_bytes(const cases::Case& kase, DType dtype = DType::f32);
/// The same for one rank's part of the case's model.
std::vector<LayerBytes> layer_bytes(const cases::Case& kase, const model::ModelStructure& part,
                                    DType dtype = DType::f32);
/// 0 for a layer that is not there.
std::int64_t weights_at(const std::vector<LayerBytes>& layers, std::size_t l);
std::int64_t weight_bytes(const std::vector<LayerBytes>& layers);
std::int64_t number_of_layers(const cases::Case& kase);
/// Inputs and targets of all micro-batches of a rank.
std::int64_t batch_bytes(const cases::Case& kase);
/// @}

/// \name Terms
/// @{
/// Letters of the glossary, for formulas of this case.
struct Letters {
  explicit Letters(const cases::Case& kase);
  judge::Formula<Count> n;     ///< N, the ranks
  judge::Formula<Count> m;     ///< micro-batches of a rank
  judge::Formula<Count> l;     ///< L, the layers of the model; 0 without one
  judge::Formula<Nanos> f, b;  ///< F and B, virtual times of a layer's forward and backward, on a cluster with a table
};
/// "(N-1)/N": what is not a rank's own, if all have equal parts.
judge::Formula<Count> share_of_others(const judge::Formula<Count>& ranks);
/// A formula for one step, times their number where a case has several: "steps x (…)".
template <class Amount>
judge::Formula<Amount> in_all_steps(const cases::Case& kase, const judge::Formula<Amount>& step) {
  return kase.steps == 1 ? step : judge::named("steps", Count(kase.steps)) * step;
}
/// @}

/// \name Calls
/// @{
/// Calls of the model of one kind on rank 0.
std::int64_t count_of(const judge::CheckContext& check, front::EventKind kind);
/// @}

/// \name Likeness
/// @{
/// Outputs name.0, name.1, … of a run; empty if there are none.
reference::Layers found_layers(const wire::Result& result, const std::string& name);
/// The same of one rank, where all ranks published the whole.
reference::Layers layers_of_rank(const wire::Result& result, const std::string& name, int rank);
/// a + factor b. Layers of different sizes give an empty result.
reference::Layers combine(const reference::Layers& a, double factor, const reference::Layers& b);
reference::Layers scaled(const reference::Layers& a, double factor);
/// What the case's limit makes of a gradient of this norm: min(1, limit / norm).
double clip_factor_of(const cases::Case& kase, double norm);
bool all_finite(const reference::Layers& a);
/// How near two sets of numbers must be to be told as the same: what roundings leave of computations in f32, and in
/// bf16. Every known mistake is computed exactly, so numbers that are only roughly like it come from another one.
inline constexpr double kAlikeInF32 = 1e-4;
inline constexpr double kAlikeInBf16 = 1e-2;
/// The Euclidean distance of a and b is at most `within` of b's length.
bool alike(const reference::Layers& a, const reference::Layers& b, double within = kAlikeInF32);
/// The r with a = r b, if there is one in the sense of alike(); 0 if a is zero.
std::optional<double> constant_ratio(const reference::Layers& a, const reference::Layers& b,
                                     double within = kAlikeInF32);
/// Equal but for that part of it.
bool near(std::optional<double> found, double expected, double within = kAlikeInF32);
/// @}

}  // namespace shardlings::grading::formulas
