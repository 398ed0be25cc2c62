/// \file
/// What graders of fully sharded training (FSDP) have in common: layers are units whose weights are gathered for
/// forward and for backward, one ahead, and whose gradients are scattered while the next one is computed. How they name
/// what is wrong with memory and time.
///
/// Diagnoses (the puzzle's manifest has the sentences):
///
/// | id                         | what shows it                                                                     |
/// |----------------------------|-----------------------------------------------------------------------------------|
/// | gathered_at_once           | after forward of layer 0 the weights of all layers are there                      |
/// | prefetched_too_far         | after forward of a layer the next but one is there, or an earlier one             |
/// | third_at_gather            | none of this is so, but there is a third unit for a moment                        |
/// | first_unit_stays           | after forward of the layers in between the weights of layer 0 are still there     |
/// | not_resharded              | after forward of the last layer the weights of all are there                      |
/// | activations_kept           | after backward of layer 0 the inputs of all others are still there                |
/// | gradients_kept             | after backward of layer 0 gradients of whole layers are there                     |
/// | not_resharded_in_backward  | after backward of layer 0 weights of whole layers are there                       |
/// | parts_copied               | after backward of layer 0 there is another set of parts, if a part is no unit     |
/// | third_unit                 | after backward of layer 0 there are a layer's weights, or its gradient, too many  |
/// | not_prefetched_in_forward  | gathers run between layers going forward, none beside one                         |
/// | not_prefetched_in_backward | likewise                                                                          |
/// | reduce_waited_at_once      | reduce-scatters run between layers going backward, none beside one                |
#pragma once

#include <cstddef>
#include <cstdint>

#include "grading/formulas/shared_diagnosis.h"
#include "grading/formulas/training.h"

namespace shardlings::grading::formulas {

/// After each forward of the first step there are two units of weights beside parts and activations at most: that
/// layer's and the one that is needed next, which after the last layer is the one below. Nor are there more at any
/// other time. The step's peak, which is that of two units and two gradients, would not notice a third unit in forward,
/// or in backward before the second gradient is there.
bool holds_two_units(judge::CheckContext& check, const cases::Case& node, int rank);

/// Why a rank's peak is too high. `node` is the case as those see it who divide everything among themselves: see
/// step_cost.h, node_of(). Says nothing if nothing of the above is certain.
void diagnose_unit_memory(judge::CheckContext& check, const cases::Case& node, int rank);

/// How often a rank gathers the weights of a layer before its first update; in the whole run where it makes none. What
/// is gathered when the layer has gone backward for the last time is not its weights.
std::int64_t gathers_of_layer(const judge::CheckContext& check, int rank, Count layer);

/// The cause of too many collectives or bytes, where it shows in the calls: `gathers` and `scatters` are those of the
/// whole run. None if nothing is certain.
///
/// | id                         | what shows it                                                                     |
/// |----------------------------|-----------------------------------------------------------------------------------|
/// | all_reduced                | gradients go through all-reduces, and reduce-scatters are missing                 |
/// | gathered_by_all_reduce     | weights go through all-reduces, and all-gathers are missing                       |
/// | part_by_part               | messages, broadcasts or reduces, and one of the two is missing                    |
/// | in_pieces                  | more calls than layers, and no more bytes                                         |
SharedId unit_calls_mistake(const judge::CheckContext& check, int rank, const cases::Case& node);

/// A layer is gathered by one all-gather for its forward, and by another for its backward unless it is still whole
/// then: of L layers the last one need not be, nor another one that fits into two units. Where other calls carry
/// weights or are taken for an all-gather, the number has to be exact.
bool gathers_by_layer(judge::CheckContext& check, int rank);

/// Which layer a rank gathers more often than for its forward and its backward: the last one, whose weights are there
/// when backward begins, or the first one, after which there is none to gather. None if it is neither.
///
/// | id                         | what shows it                                                                     |
/// |----------------------------|-----------------------------------------------------------------------------------|
/// | gathered_again_at_the_turn | the last of several layers is gathered twice                                      |
/// | first_layer_once_more      | layer 0 is gathered a third time; if there is no other layer, a second time       |
SharedId gathered_too_often(const judge::CheckContext& check, int rank);

/// Why the step takes too long: the diagnosis, or none if nothing takes turns with computation. Where something is
/// copied to the host's memory or from it, that is the reason.
SharedId unit_time_mistake(const judge::CheckContext& check, int rank);

}  // namespace shardlings::grading::formulas
