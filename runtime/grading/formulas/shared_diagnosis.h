/// \file
/// Which diagnoses the shared functions of this folder can name.
///
/// A puzzle whose grader calls one of them needs a sentence and a hint for each: `verify` looks them up here. The table
/// cannot fall behind: an id that it does not have for its function does not compile.
#pragma once

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

namespace shardlings::grading::formulas {

/// One of them. A grader can name it if it includes the header and calls the function.
struct SharedDiagnosis {
  std::string_view header;  ///< without ".h"
  std::string_view function;
  std::string_view id;
};

inline constexpr std::array kSharedDiagnoses = {
    SharedDiagnosis{"pipeline_checks", "check_training", "wrong_micro_batch"},
    SharedDiagnosis{"pipeline_checks", "check_training", "divided_by_m"},
    SharedDiagnosis{"pipeline_checks", "check_training", "padding_counted"},
    SharedDiagnosis{"pipeline_checks", "check_training", "tokens_of_one"},
    SharedDiagnosis{"pipeline_checks", "check_training", "micro_batch_skipped"},
    SharedDiagnosis{"pipeline_checks", "check_training", "sum_of_means"},
    SharedDiagnosis{"pipeline_checks", "check_training", "loss_on_others"},
    SharedDiagnosis{"pipeline_checks", "check_calls", "forward_twice"},
    SharedDiagnosis{"pipeline_checks", "check_time", "forward_twice"},
    SharedDiagnosis{"pipeline_checks", "check_time", "parked_on_host"},
    SharedDiagnosis{"pipeline_checks", "check_in_flight", "all_forward_first"},
    SharedDiagnosis{"pipeline_checks", "check_in_flight", "warm_up_too_long"},
    SharedDiagnosis{"pipeline_checks", "check_messages", "collective_used"},
    SharedDiagnosis{"pipeline_checks", "check_messages", "message_in_parts"},
    SharedDiagnosis{"pipeline_checks", "check_messages", "too_many_messages"},
    SharedDiagnosis{"pipeline_checks", "check_memory", "parked_on_host"},
    SharedDiagnosis{"pipeline_checks", "check_memory", "room_made_early"},
    SharedDiagnosis{"pipeline_checks", "check_memory", "outputs_kept"},
    SharedDiagnosis{"pipeline_checks", "check_memory", "logits_kept"},
    SharedDiagnosis{"pipeline_checks", "check_memory", "activations_kept"},
    SharedDiagnosis{"pipeline_trace", "reason_of_excess", "room_made_early"},
    SharedDiagnosis{"pipeline_trace", "reason_of_excess", "outputs_kept"},
    SharedDiagnosis{"pipeline_trace", "reason_of_excess", "logits_kept"},
    SharedDiagnosis{"pipeline_trace", "reason_of_excess", "activations_kept"},
    SharedDiagnosis{"beyond_plan", "messages_only", "built_in_collective"},
    SharedDiagnosis{"beyond_plan", "nothing_on_host", "parked_on_host"},
    SharedDiagnosis{"node_mistakes", "mistake_in_tree", "exchanged_in_pairs"},
    SharedDiagnosis{"node_mistakes", "mistake_in_tree", "star_of_ranks"},
    SharedDiagnosis{"node_mistakes", "mistake_in_tree", "tree_across_nodes"},
    SharedDiagnosis{"node_mistakes", "mistake_in_tree", "every_rank_crosses"},
    SharedDiagnosis{"node_mistakes", "mistake_in_levels", "whole_data_inside"},
    SharedDiagnosis{"node_mistakes", "mistake_in_levels", "whole_data_between"},
    SharedDiagnosis{"node_mistakes", "mistake_in_levels", "flat_ring"},
    SharedDiagnosis{"node_mistakes", "mistake_in_levels", "one_port"},
    SharedDiagnosis{"node_mistakes", "mistake_in_levels", "parts_not_cut"},
    SharedDiagnosis{"node_mistakes", "mistake_in_choice", "changeover_too_high"},
    SharedDiagnosis{"node_mistakes", "mistake_in_choice", "changeover_too_low"},
    SharedDiagnosis{"node_mistakes", "mistake_in_choice", "slower_one_taken"},
    SharedDiagnosis{"gathered_units", "diagnose_unit_memory", "gathered_at_once"},
    SharedDiagnosis{"gathered_units", "diagnose_unit_memory", "first_unit_stays"},
    SharedDiagnosis{"gathered_units", "diagnose_unit_memory", "prefetched_too_far"},
    SharedDiagnosis{"gathered_units", "diagnose_unit_memory", "third_at_gather"},
    SharedDiagnosis{"gathered_units", "diagnose_unit_memory", "not_resharded"},
    SharedDiagnosis{"gathered_units", "diagnose_unit_memory", "activations_kept"},
    SharedDiagnosis{"gathered_units", "diagnose_unit_memory", "gradients_kept"},
    SharedDiagnosis{"gathered_units", "diagnose_unit_memory", "not_resharded_in_backward"},
    SharedDiagnosis{"gathered_units", "diagnose_unit_memory", "parts_copied"},
    SharedDiagnosis{"gathered_units", "diagnose_unit_memory", "third_unit"},
    SharedDiagnosis{"gathered_units", "unit_calls_mistake", "in_pieces"},
    SharedDiagnosis{"gathered_units", "unit_calls_mistake", "part_by_part"},
    SharedDiagnosis{"gathered_units", "unit_calls_mistake", "all_reduced"},
    SharedDiagnosis{"gathered_units", "unit_calls_mistake", "gathered_by_all_reduce"},
    SharedDiagnosis{"gathered_units", "gathered_too_often", "gathered_again_at_the_turn"},
    SharedDiagnosis{"gathered_units", "gathered_too_often", "first_layer_once_more"},
    SharedDiagnosis{"gathered_units", "unit_time_mistake", "parked_on_host"},
    SharedDiagnosis{"gathered_units", "unit_time_mistake", "not_prefetched_in_forward"},
    SharedDiagnosis{"gathered_units", "unit_time_mistake", "not_prefetched_in_backward"},
    SharedDiagnosis{"gathered_units", "unit_time_mistake", "reduce_waited_at_once"},
    SharedDiagnosis{"tensor_parallel", "diagnose_sum", "averaged"},
    SharedDiagnosis{"tensor_parallel", "diagnose_sum", "reduced_twice"},
    SharedDiagnosis{"tensor_parallel", "diagnose_sum", "reduced_to_one"},
    SharedDiagnosis{"tensor_parallel", "diagnose_sum_and_bias", "averaged"},
    SharedDiagnosis{"tensor_parallel", "diagnose_sum_and_bias", "reduced_twice"},
    SharedDiagnosis{"tensor_parallel", "diagnose_sum_and_bias", "reduced_to_one"},
    SharedDiagnosis{"tensor_parallel", "diagnose_sum_and_bias", "bias_missing"},
    SharedDiagnosis{"tensor_parallel", "diagnose_sum_and_bias", "bias_on_every_rank"},
    SharedDiagnosis{"grid_norm", "mistake_behind", "tied_counted_twice"},
    SharedDiagnosis{"grid_norm", "mistake_behind", "replicas_counted"},
    SharedDiagnosis{"grid_norm", "mistake_behind", "everything_counted"},
    SharedDiagnosis{"grid_norm", "mistake_behind", "norm_before_tied"},
    SharedDiagnosis{"grid_norm", "mistake_behind", "norm_before_reduction"},
    SharedDiagnosis{"grid_norm", "mistake_behind", "whole_layers_counted"},
    SharedDiagnosis{"grid_norm", "mistake_behind", "owned_from_the_part"},
    SharedDiagnosis{"grid_norm", "mistake_behind", "chunk_forgotten"},
};

constexpr bool can_say(std::string_view function, std::string_view id) {
  return std::any_of(kSharedDiagnoses.begin(), kSharedDiagnoses.end(),
                     [&](const SharedDiagnosis& known) { return known.function == function && known.id == id; });
}

/// Whether the table has for `caller` whatever it has for `called`, which names mistakes in its stead.
constexpr bool says_all_of(std::string_view caller, std::string_view called) {
  return std::all_of(kSharedDiagnoses.begin(), kSharedDiagnoses.end(), [&](const SharedDiagnosis& known) {
    return known.function != called || can_say(caller, known.id);
  });
}

/// The id of a diagnosis that a shared function names, or none.
class SharedId {
 public:
  constexpr SharedId() = default;
  /// Of an entry of the table; there is no other way to make one.
  consteval SharedId(std::string_view function, std::string_view id) : id_(id) {
    if (!can_say(function, id)) throw std::logic_error("kSharedDiagnoses has no such diagnosis of this function");
  }

  constexpr bool empty() const { return id_.empty(); }
  operator std::string() const { return std::string(id_); }
  friend constexpr bool operator==(SharedId a, std::string_view b) { return a.id_ == b; }
  friend constexpr bool operator==(SharedId a, SharedId b) = default;

 private:
  std::string_view id_;
};

}  // namespace shardlings::grading::formulas
