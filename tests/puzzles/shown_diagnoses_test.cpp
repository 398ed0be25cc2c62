// Every diagnosis that a puzzle has a sentence or a hint for is shown by one of its mutants: one that none shows may be
// dead, or wrong, and nobody would know.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "case/manifest.h"
#include "grading/build/toolchain.h"
#include "puzzles/solutions.h"
#include "support/mutants.h"

namespace shardlings::grading {
namespace {

/// Of puzzles that were there before this test: what no mutant of theirs shows. Most are of formulas that several
/// puzzles share, and another one's mutant shows them. It may only become shorter.
const std::map<std::string, std::set<std::string>>& shown_elsewhere_or_not_yet() {
  static const std::map<std::string, std::set<std::string>> list = {
      {"04_checkpoint_budget", {"cpu_limit"}},
      {"11_zero1", {"race"}},
      {"12_zero2", {"parts_untouched", "micro_batches_together", "in_pieces", "started_late"}},
      {"13_zero3_fsdp", {"in_pieces", "started_late"}},
      {"14_hybrid_shard", {"first_unit_stays", "all_reduced", "gathered_by_all_reduce"}},
      {"15_cpu_offload", {"in_pieces", "part_by_part"}},
      {"17_tensor_parallel_attention", {"bias_missing"}},
      {"18_sequence_parallel", {"reduced_to_one"}},
      {"19_gpipe", {"logits_kept"}},
      {"20_one_f_one_b",
       {"room_made_early", "sum_of_means", "divided_by_m", "padding_counted", "tokens_of_one", "micro_batch_skipped",
        "loss_on_others"}},
      {"21_interleaved_1f1b",
       {"room_made_early", "sum_of_means", "divided_by_m", "padding_counted", "tokens_of_one", "micro_batch_skipped",
        "loss_on_others", "forward_twice", "message_in_parts"}},
      {"22_latency_1f1b",
       {"not_finite", "sum_of_means", "divided_by_m", "tokens_of_one", "micro_batch_skipped", "loss_on_others"}},
      {"23_zero_bubble",
       {"desertion", "wrong_micro_batch", "sum_of_means", "divided_by_m", "padding_counted", "tokens_of_one",
        "micro_batch_skipped", "loss_on_others"}},
      {"24_uneven_stages", {"deadlock"}},
      {"27_ring_attention", {"invalid_argument"}},
      {"29_parameter_server", {"divided_by_row"}},
      {"31_diloco",
       {"mismatch", "invalid_argument", "lost_one_unmixed", "round_ends_late", "one_step_early", "without_streaming",
        "mixed_otherwise", "divided_twice", "momentum_dampened", "rate_left_out", "anchor_too_late", "more_at_once",
        "steps_repeated"}},
      {"32_compressed_gradients", {"mismatch", "reduced_beside"}},
      {"33_three_d_parallel",
       {"clipped_twice", "never_updated", "too_much_over_replicas", "too_much_over_world", "too_many_messages",
        "forward_twice"}},
      {"38_async_tensor_parallel", {"invalid_argument", "scattered_at_once"}},
      {"39_low_precision_gather", {"leak", "never_updated", "started_late", "whole_batch_everywhere"}},
      {"43_data_and_seeds", {"crashed", "invalid_argument", "mismatch"}},
      {"44_v_schedule", {"desertion"}},
  };
  return list;
}

class ShownDiagnoses : public testing::TestWithParam<std::string> {};

TEST_P(ShownDiagnoses, AreAllOfThePuzzle) {
  const std::string puzzle = std::string(SHARDLINGS_SOURCE_FOLDER "/puzzles/") + GetParam();
  const build::Toolchain toolchain = build::load_toolchain(SHARDLINGS_BUILD_FOLDER);
  const auto& list = shown_elsewhere_or_not_yet();
  const auto excused = list.find(GetParam());
  for (const cases::Diagnosis& diagnosis : cases::load_manifest(puzzle, toolchain.clusters).diagnoses) {
    if (excused != list.end() && excused->second.count(diagnosis.id) != 0) continue;
    EXPECT_THAT(support::names_of_mutants(SHARDLINGS_SOURCE_FOLDER "/solutions", GetParam(), {diagnosis.id}),
                testing::Not(testing::IsEmpty()))
        << "no mutant shows " << diagnosis.id;
  }
}

// What a mutant shows needs no excuse, and neither does what the puzzle does not have.
TEST_P(ShownDiagnoses, AreExcusedOnlyWhereNeeded) {
  const auto& list = shown_elsewhere_or_not_yet();
  const auto excused = list.find(GetParam());
  if (excused == list.end()) return;
  const build::Toolchain toolchain = build::load_toolchain(SHARDLINGS_BUILD_FOLDER);
  const cases::Manifest manifest =
      cases::load_manifest(SHARDLINGS_SOURCE_FOLDER "/puzzles/" + GetParam(), toolchain.clusters);
  for (const std::string& id : excused->second) {
    EXPECT_NE(manifest.diagnosis(id), nullptr) << id << " is no diagnosis of this puzzle";
    EXPECT_THAT(support::names_of_mutants(SHARDLINGS_SOURCE_FOLDER "/solutions", GetParam(), {id}), testing::IsEmpty())
        << id << " is shown";
  }
}

INSTANTIATE_TEST_SUITE_P(Puzzles, ShownDiagnoses, testing::ValuesIn(puzzle_ids()),
                         [](const auto& param) { return "puzzle_" + param.param; });

}  // namespace
}  // namespace shardlings::grading
