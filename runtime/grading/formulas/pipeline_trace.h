/// \file
/// What a run's trace shows of a pipeline: the slots of each rank with their lines, which of them is the first to come
/// late, and what is alive after them that should not be.
///
/// | id               | what shows it                                                                               |
/// |------------------|---------------------------------------------------------------------------------------------|
/// | room_made_early  | too much is alive at the first slot, or at the first one backward, and less of it later     |
/// | outputs_kept     | after forward slots that send, it grows by their output each time                           |
/// | logits_kept      | on the last stage it grows by the logits in each backward                                   |
/// | activations_kept | it grows with one slot backward after the other, and not before them                        |
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grading/formulas/pipeline.h"
#include "grading/formulas/shared_diagnosis.h"

namespace shardlings::grading::formulas {

/// A slot with its first and its last call of the model.
struct FoundSlot {
  Slot slot;
  front::Event first, last;
};
/// In program order.
std::vector<FoundSlot> slots_found(const judge::CheckContext& check, const Pipeline& pipeline, int rank);

/// By rank and slot: when it can begin if each rank goes along its order and sends what it has computed at once. Empty
/// if the orders wait for one another.
std::vector<std::vector<Nanos>> earliest_begins(const cases::Case& kase, const Pipeline& pipeline,
                                                const std::function<Order(int)>& order, Mail mail);

/// By rank and slot: when it has to begin at the latest for the step to be over at `end`, as what comes after it on its
/// rank has, and what its message is waited for by. `begins` are the earliest ones of these orders.
std::vector<std::vector<Nanos>> latest_begins(const cases::Case& kase, const Pipeline& pipeline,
                                              const std::function<Order(int)>& order,
                                              const std::vector<std::vector<Nanos>>& begins, Nanos end);

/// Where a slow run first falls behind.
struct Delay {
  wire::Place where;
  std::string text;
};
/// The first slot, in virtual time, that is another one than in the order or begins too late for the step to end at
/// step_time(). Nothing if these orders do not take that.
std::optional<Delay> first_delay(const judge::CheckContext& check, const Pipeline& pipeline,
                                 const std::function<Order(int)>& order, Mail mail);

/// By slot of the rank: what is alive after its last call beyond what the order that it took needs (below 0: less).
std::vector<std::int64_t> excess_after_slots(const judge::CheckContext& check, const Pipeline& pipeline, int rank,
                                             Mail mail);
/// The mistake behind such an excess, if its course tells one.
SharedId reason_of_excess(const Pipeline& pipeline, int rank, const Order& order,
                          const std::vector<std::int64_t>& excess);

}  // namespace shardlings::grading::formulas
