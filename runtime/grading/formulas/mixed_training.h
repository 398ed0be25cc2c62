/// \file
/// Mixed precision with steps that overflow and are skipped: the scale of the loss, the loss itself, and what known
/// mistakes would leave. A case says in `overflow` and `overflow_again` which steps those are. All its steps have the
/// same batch, so one that changes nothing might as well not have been made.
#pragma once

#include <cstdint>
#include <vector>

#include "grading/formulas/training.h"

namespace shardlings::grading::formulas {

bool overflows(const cases::Case& kase, int step);
int number_of_overflows(const cases::Case& kase);
cases::Case without_overflows(const cases::Case& kase);

/// The scale of the loss and the count of clean steps, after each step.
struct Scaling {
  std::vector<double> scales, counts;
};
Scaling expected_scaling(const cases::Case& kase);
/// What put_of_rank() publishes, if it is the same on every rank.
std::vector<double> on_all_ranks(const cases::Case& kase, const std::vector<double>& values);

/// What each rank's tokens add to the loss of a step, after as many updates as the steps before it make; layers and
/// activations are bf16.
std::vector<double> mixed_loss_shares(const cases::Case& kase, int step);

/// What m would be in units of the gradient, which hardly changes from step to step, if each step that overflows had
/// multiplied it by `factor`; relative to what it should be.
double kept_of_m(const cases::Case& kase, double factor);

/// What m would be, in the same units and relative to what it should be, if the gradient of each step in which the
/// scale grows had been divided by the new scale, with a gradient of this norm.
double m_if_divided_by_new_scale(const cases::Case& kase, double norm);

/// \name Mistakes that the first moments show
/// @{
/// Rank 0 has the right ones, and some rank has none: it never updated.
bool some_ranks_idle(const judge::CheckContext& check, const reference::Layers& right);
/// The layer that overflowed has the right ones, and all others have them a number of times too large or too small: in
/// a step that is to be skipped they were updated.
bool skipped_by_layer(const judge::CheckContext& check, const reference::Layers& right);
/// Each layer was clipped by its own norm, or by that of the layers so far, from one end or from the other. Of one
/// step.
bool clipped_by_layer(const cases::Case& kase, const reference::Layers& found, const reference::Reference& right);
/// Each layer has S times what the layer above it has, relative to what both should have: S was multiplied in at every
/// layer on the way down.
bool scaled_at_every_layer(const cases::Case& kase, const reference::Layers& found, const reference::Reference& right);
/// @}

/// Of all layers together: the Euclidean norm, and the largest magnitude.
double norm_of(const reference::Layers& layers);
double largest(const reference::Layers& layers);

/// What Adam's update number `number` makes of weights, with the moments that it leaves. All are a run's own numbers,
/// so that nothing but the rounding of f32 stands between this and what the run has made.
reference::Layers updated(const cases::Case& kase, const reference::Layers& weights, const reference::Layers& m,
                          const reference::Layers& v, int number);

/// By layer: as update of which number the step from `before` to `after` comes out nearest to Adam's, with the moments
/// that it has left; 0 if it is like none.
std::vector<int> numbers_of_last_updates(const cases::Case& kase, const reference::Layers& before,
                                         const reference::Layers& m, const reference::Layers& v,
                                         const reference::Layers& after);

/// Steps in which the gradient of the loss is multiplied before the first layer goes backward. A power of two changes
/// no bit of a result, and a gradient that is NaN is so with and without: only the trace tells. A multiplied loss,
/// which comes too late, does not count.
Count steps_scaled_before_backward(const judge::CheckContext& check, int rank);

/// \name Bytes
/// @{
std::int64_t number_of_weights(const cases::Case& kase);
/// Inputs (f32, or ids) and targets, a loss for each step, and the two numbers that decide.
std::int64_t mixed_given_bytes(const cases::Case& kase);
/// The peak of a rank, whose gradients and weights are bf16 and whose states are f32: while some layer goes backward.
judge::Formula<Bytes> mixed_peak(const cases::Case& kase);
/// What a rank sends in all steps: an all-reduce of each layer's gradient of 2 bytes.
judge::Formula<Bytes> mixed_wire_bytes(const cases::Case& kase, int rank);
/// At the peak there is more of master weights, bf16 weights or moments than there is in one state.
bool state_copied(const judge::CheckContext& check, int rank);
/// All that the peak has more than `budget` are single numbers: two for each layer at most.
bool has_number_for_each_layer(const judge::CheckContext& check, int rank, Bytes budget);
/// The most that is alive after a call between a backward pass and the next forward: where the optimizer works.
std::int64_t most_after_backward(const judge::CheckContext& check, int rank);
/// What is alive when the forward pass of the first step has ended is what it would be in f32.
bool computes_in_f32(const judge::CheckContext& check, int rank);
/// @}

}  // namespace shardlings::grading::formulas
