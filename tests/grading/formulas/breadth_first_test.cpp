// Pipelines of sharded stages: closed forms by hand, and the solution of puzzle 25 against them on all its cases.
#include "grading/formulas/breadth_first.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "case/manifest.h"
#include "puzzles/solutions.h"

namespace shardlings::grading {
namespace {

/// Six layers of 12 weights (the last one 8) on two stages of three ranks; 48 bytes are 16 + 16 + 16.
cases::Case six_layers(int chunks, int micro_batches) {
  cases::Case kase;
  kase.ranks = 6;
  kase.batches = 3;
  kase.micro_batches = micro_batches;
  kase.model.layers = 6;
  kase.model.hidden = 3;
  kase.model.outputs = 2;
  kase.model.sequence = 2;
  kase.batch = 1;
  kase.cluster.ranks_per_node = 3;
  kase.cluster.uses_table = true;
  kase.cluster.table.forward = Nanos(10);
  kase.cluster.table.backward = Nanos(20);
  kase.cluster.links[0] = {Nanos(2), 1e9};
  kase.numbers = {{"stages", 2}, {"chunks", chunks}};
  return kase;
}

TEST(BreadthFirst, TakesAllMicroBatchesThroughAChunk) {
  const formulas::Pipeline pipeline = formulas::pipeline_of(formulas::pipeline_axis(six_layers(2, 3)));
  const formulas::Order order = formulas::breadth_first(pipeline);
  const formulas::Order expected = {{true, 0, 0},  {true, 1, 0},  {true, 2, 0},  {true, 0, 1},
                                    {true, 1, 1},  {true, 2, 1},  {false, 0, 1}, {false, 1, 1},
                                    {false, 2, 1}, {false, 0, 0}, {false, 1, 0}, {false, 2, 0}};
  EXPECT_EQ(order, expected);
}

TEST(BreadthFirst, TimeIsThatOfInterleavingAndTheEnds) {
  const std::int64_t gather = 2 * (2 + 16);  // (D-1) (alpha + part / W)
  EXPECT_EQ(formulas::breadth_first_time(six_layers(3, 4)).value().value(), gather + (3 * 4 + 1) * 30 + gather);
  EXPECT_EQ(formulas::breadth_first_time(six_layers(3, 1)).value().value(), gather + (2 * 2 + 1 + 1) * 30 + gather)
      << "fewer than p";
  EXPECT_EQ(formulas::breadth_first_time(six_layers(1, 4)).value().value(), 3 * gather + (4 + 1) * 90 + 3 * gather);
}

TEST(BreadthFirst, BytesDoNotDependOnMicroBatches) {
  for (const int m : {1, 2, 7}) {
    const cases::Case kase = six_layers(3, m);
    EXPECT_EQ(formulas::gathered_bytes(kase, 1).value().value(), 3 * 32 + 2 * 32 + 3 * 32)
        << "scattered, gathered again, gathered";
    // Stage 5 has 8 weights: 3, 3 and 2 of them. Rank 5 has the last part, and sends on all but the first one.
    EXPECT_EQ(formulas::gathered_bytes(kase, 5).value().value(), 2 * (32 + 32) + 4 * (8 - 3) + 32 + 32 + 4 * (8 - 2));
  }
}

TEST(BreadthFirst, HoldsTwoUnitsOfEach) {
  const cases::Case kase = six_layers(3, 2);
  const formulas::PipelineMemory memory = formulas::breadth_first_memory(kase, 0);
  const formulas::PipelineMemory whole = formulas::memory_along(
      formulas::pipeline_axis(kase), 0, formulas::breadth_first(formulas::pipeline_of(formulas::pipeline_axis(kase))),
      {.rounds_in_flight = true});
  const std::int64_t parts = 2 * 3 * 16, all_whole = 2 * 3 * 48;
  const auto units = [&](std::size_t slot) { return memory.during[slot] - whole.during[slot] + all_whole - parts; };
  EXPECT_EQ(units(0), 2 * 48) << "chunks 0 and 1";
  EXPECT_EQ(units(4), 2 * 48) << "chunk 2, and beside its forward chunk 1, which is the next to go backward";
  EXPECT_EQ(units(6), 2 * 48 + 48) << "weights of chunks 2 and 1, gradients of chunk 2";
  EXPECT_EQ(units(8), 4 * 48) << "weights of 1 and 0, gradients of 1 and 2";
  EXPECT_EQ(units(10), 48 + 2 * 48) << "weights of 0, gradients of 0 and 1";
}

TEST(BreadthFirst, SaysOfWhatTheMemoryAfterASlotIsMade) {
  const cases::Case kase = six_layers(3, 2);
  const formulas::PipelineMemory memory = formulas::breadth_first_memory(kase, 0);
  for (std::size_t slot = 0; slot < memory.after.size(); ++slot) {
    EXPECT_EQ(formulas::breadth_first_memory_after(kase, 0, slot).value().value(), memory.after[slot]) << slot;
  }
  const std::int64_t rest = memory.after[0] - 2 * 3 * 16 - 2 * 48;
  EXPECT_EQ(formulas::breadth_first_memory_after(kase, 0, 0).text(),
            "2 x parts + two units of weights + batch, loss, activations, messages so far = 2 x 48 + 96 + " +
                std::to_string(rest));
}

// Bytes, peaks and the end of the step are those of the formulas, on every rank of every case of the puzzle.
TEST(BreadthFirst, IsWhatTheSolutionDoes) {
  const build::Toolchain toolchain = build::load_toolchain(SHARDLINGS_BUILD_FOLDER);
  const std::string folder = std::string(SHARDLINGS_SOURCE_FOLDER) + "/puzzles/25_pipeline_fsdp";
  const Solution solution(toolchain, "25_pipeline_fsdp");
  for (const cases::Case& kase : cases::load_manifest(folder, toolchain.clusters).cases) {
    SCOPED_TRACE(kase.name);
    const wire::Result result = solution.run(kase);
    ASSERT_EQ(result.ending, wire::Ending::finished) << result.explanation;
    Nanos end(0);
    for (int rank = 0; rank < kase.ranks; ++rank) {
      const front::Counters& counters = result.report.ranks[static_cast<std::size_t>(rank)].counters;
      const cases::Case column = formulas::pipeline_axis(kase);
      EXPECT_EQ(counters.peak.value(), formulas::breadth_first_memory(kase, rank).peak.value().value())
          << "rank " << rank;
      EXPECT_EQ(counters.bytes_sent().value(),
                formulas::gathered_bytes(kase, rank).value().value() +
                    formulas::message_bytes(formulas::pipeline_of(column), rank / formulas::data_axis(kase).ranks)
                        .value()
                        .value());
      end = std::max(end, counters.end);
    }
    EXPECT_EQ(end.value(), formulas::breadth_first_time(kase).value().value());
  }
}

}  // namespace
}  // namespace shardlings::grading
