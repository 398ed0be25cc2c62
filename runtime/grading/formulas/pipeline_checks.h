/// \file
/// Checks that the puzzles on pipelines share, and how they name what is wrong.
///
/// Diagnoses that they give (the puzzle's manifest has the sentences):
///
/// | id                  | what shows it                                                                            |
/// |---------------------|------------------------------------------------------------------------------------------|
/// | wrong_micro_batch   | a gradient arrives for one micro-batch, and another one's activations go backward         |
/// | sum_of_means        | each micro-batch's loss was divided by its own tokens                                    |
/// | divided_by_m        | gradients are m times too small                                                          |
/// | padding_counted     | the loss was divided by all targets, those that are padding included                     |
/// | micro_batch_skipped | the gradient of one micro-batch is missing                                               |
/// | forward_twice       | more calls of forward than micro-batches and layers                                      |
/// | all_forward_first   | too much is in flight, and even the last rank goes forward with all of it first          |
/// | warm_up_too_long    | too much is in flight otherwise                                                          |
/// | collective_used     | a collective carried what belongs into messages                                          |
/// | too_many_messages   | more messages, or larger ones, than one for each micro-batch, boundary and direction     |
/// | message_in_parts    | the bytes are right, and there are more messages                                         |
/// | loss_on_others      | the loss is right on the last rank, and others have something there, too                 |
/// | tokens_of_one       | the loss was divided by m times the tokens of one micro-batch                            |
/// | parked_on_host      | something was copied between the device's memory and the host's                          |
///
/// Those about memory are in pipeline_trace.h.
#pragma once

#include <cstdint>
#include <functional>

#include "grading/formulas/pipeline.h"

namespace shardlings::grading::formulas {

/// The slots of a rank, in program order, as its calls of the model show them.
Order order_found(const judge::CheckContext& check, const Pipeline& pipeline, int rank);

/// Gradients "grads.l" of all layers and the shares "loss by rank" (that of the last stage is all of it) are those of
/// one device.
void check_training(judge::CheckContext& check, const Pipeline& pipeline);
/// Every layer has been called m times forward and m times backward, on its own rank.
void check_calls(judge::CheckContext& check, const Pipeline& pipeline);
/// Some rank has more calls of forward than micro-batches and layers.
bool works_twice(const judge::CheckContext& check, const Pipeline& pipeline);
/// The step is over at step_time(). False if it is not: the line is then that of the first slot that falls behind
/// `order`, and work done twice or copies to the host are named.
bool check_time(judge::CheckContext& check, const Pipeline& pipeline, const std::function<Order(int)>& order,
                Mail mail);
/// A rank had at most so many micro-batches (chunks of them, if v > 1) in flight: forward, and not yet backward. Judged
/// by the Saved that were alive, which nobody can do without. False if there were more.
bool check_in_flight(judge::CheckContext& check, const Pipeline& pipeline, int rank, const judge::Formula<Count>& most);
/// Every rank has sent one message for each micro-batch, boundary and direction, message_bytes() in all, and nothing
/// went through collectives.
void check_messages(judge::CheckContext& check, const Pipeline& pipeline);
/// The peak of every rank is at most that along `order(rank)`, nothing that was used for the last time is alive after a
/// slot backward, and nothing was copied to the host.
void check_memory(judge::CheckContext& check, const Pipeline& pipeline, const std::function<Order(int)>& order,
                  Mail mail);

/// Without interleaving: some message was posted only after the rank had computed something else in between.
bool sends_late(const judge::CheckContext& check, const Pipeline& pipeline);

}  // namespace shardlings::grading::formulas
