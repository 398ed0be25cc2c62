#include "report/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "report/rank_choice.h"
#include "report/totals.h"
#include "report/verdicts.h"

namespace shardlings::report {
namespace {

using front::EventKind;
using front::RankTrace;
using shardlings::testing::event;
using shardlings::testing::kMs;
using shardlings::testing::pipeline_case;
using ::testing::ElementsAre;

// A letter for each kind of cell, its digit where it has one, '|' where a block begins that looks like its neighbour.
std::string row_text(const Row& row) {
  constexpr std::string_view kLetters = ".FBWLUOCsrx";
  std::string text;
  for (const Cell& cell : row.cells) {
    text += cell.begins ? '|' : cell.digit != 0 ? cell.digit : kLetters[static_cast<std::size_t>(cell.paint)];
  }
  return text;
}

std::vector<std::string> texts(const Timeline& timeline) {
  std::vector<std::string> all;
  for (const Row& row : timeline.rows) all.push_back(row_text(row));
  return all;
}

RankTrace trace_of(std::vector<front::Event> events) {
  RankTrace trace;
  trace.events = std::move(events);
  return trace;
}

TEST(Timeline, OfAPipelineIsThatOfTheTextbook) {
  const Timeline timeline = lay_out(pipeline_case(2, 2, false).traces, 9);
  EXPECT_TRUE(timeline.exact);
  EXPECT_EQ(timeline.numbering, Numbering::micro_batch);
  EXPECT_EQ(timeline.end, 9 * kMs);
  EXPECT_THAT(texts(timeline), ElementsAre("01...0B1B", ".010B1B.."));
}

TEST(Timeline, MakesEveryColumnTheSameSpanWhereThereIsRoom) {
  EXPECT_EQ(lay_out(pipeline_case(2, 2, false).traces, 26).columns, 18);
  EXPECT_EQ(lay_out(pipeline_case(2, 2, false).traces, 1000).columns, 72) << "no wider than can be compared";
}

TEST(Timeline, ShowsTheLargestShareWhereColumnsAreCoarse) {
  const auto trace =
      trace_of({event(EventKind::forward, Nanos(0), Nanos(60)), event(EventKind::update, Nanos(60), Nanos(101))});
  const Timeline timeline = lay_out({trace}, 10);
  EXPECT_FALSE(timeline.exact);
  EXPECT_THAT(texts(timeline), ElementsAre("FFFFFFUUUU"));
}

TEST(Timeline, TellsTheHalvesOfABackwardApart) {
  const auto trace =
      trace_of({event(EventKind::forward, Nanos(0), Nanos(2)), event(EventKind::backward_input, Nanos(2), Nanos(4)),
                event(EventKind::backward_weights, Nanos(4), Nanos(6))});
  EXPECT_THAT(texts(lay_out({trace}, 6)), ElementsAre("FFBBWW"));
}

TEST(Timeline, LeavesIdleTimeEmpty) {
  const auto trace =
      trace_of({event(EventKind::forward, Nanos(0), Nanos(2)), event(EventKind::wait, Nanos(2), Nanos(6)),
                event(EventKind::update, Nanos(6), Nanos(8))});
  EXPECT_THAT(texts(lay_out({trace}, 4)), ElementsAre("F..U"));
}

TEST(Timeline, ShowsAShortBlockWhereTheRankWouldBeIdle) {
  const auto trace =
      trace_of({event(EventKind::forward, Nanos(0), Nanos(499)), event(EventKind::update, Nanos(750), Nanos(751)),
                event(EventKind::forward, Nanos(900), Nanos(1000))});
  EXPECT_THAT(texts(lay_out({trace}, 10)), ElementsAre("FFFFF..U.F"));
}

TEST(Timeline, GivesCommunicationARowOfItsOwn) {
  const auto trace = trace_of({event(EventKind::backward, Nanos(0), Nanos(2), -1, 1),
                               event(EventKind::backward, Nanos(2), Nanos(4), -1, 0),
                               event(EventKind::collective, Nanos(2), Nanos(4), -1, 1)});
  const Timeline timeline = lay_out({trace}, 4);
  EXPECT_EQ(timeline.numbering, Numbering::layer);
  ASSERT_EQ(timeline.rows.size(), 2U);
  EXPECT_EQ(timeline.rows[0].lane, front::Lane::compute);
  EXPECT_EQ(timeline.rows[1].lane, front::Lane::intra_node);
  EXPECT_THAT(texts(timeline), ElementsAre("1B0B", "..1C"));
}

TEST(Timeline, ShowsBothWaysAtOnce) {
  const auto trace = trace_of({event(EventKind::send, Nanos(0), Nanos(2)), event(EventKind::recv, Nanos(1), Nanos(3))});
  EXPECT_THAT(texts(lay_out({trace}, 3)), ElementsAre("sxr"));
}

TEST(Timeline, NumbersAMicroBatchOnceAndNotEachOfItsLayers) {
  std::vector<front::Event> events;
  for (int i = 0; i < 4; ++i) events.push_back(event(EventKind::forward, Nanos(i), Nanos(i + 1), i / 2, i % 2));
  const Timeline timeline = lay_out({trace_of(events)}, 4);
  EXPECT_THAT(texts(timeline), ElementsAre("0F1F"));
  std::vector<int> hues;
  for (const Cell& cell : timeline.rows[0].cells) hues.push_back(cell.hue);
  EXPECT_THAT(hues, ElementsAre(0, 1, 0, 1)) << "layers keep their colours";
}

TEST(Timeline, ColoursStagesWhereRanksHaveDifferentLayers) {
  std::vector<RankTrace> traces(2);
  for (int layer = 0; layer < 4; ++layer) {
    traces[static_cast<std::size_t>(layer / 2)].events.push_back(
        event(EventKind::forward, Nanos(layer), Nanos(layer + 1), 0, layer));
  }
  const RunBlocks run = blocks_of(traces);
  EXPECT_EQ(run.colouring, Colouring::stage);
  ASSERT_EQ(run.lanes.size(), 2U);
  for (int stage = 0; stage < 2; ++stage) {
    for (const Block& block : run.lanes[static_cast<std::size_t>(stage)].blocks) EXPECT_EQ(block.hue, stage);
  }
}

TEST(Timeline, ColoursTheChunksOfAnInterleavedScheduleApart) {
  std::vector<RankTrace> traces(2);
  for (int layer = 0; layer < 4; ++layer) {
    traces[static_cast<std::size_t>(layer % 2)].events.push_back(
        event(EventKind::forward, Nanos(layer), Nanos(layer + 1), 0, layer));
  }
  const RunBlocks run = blocks_of(traces);
  EXPECT_EQ(run.lanes[0].blocks[0].hue, 0);
  EXPECT_EQ(run.lanes[0].blocks[1].hue, 2);
  EXPECT_EQ(run.lanes[1].blocks[1].hue, 3);
}

TEST(Timeline, ColoursLayersWhereAllRanksComputeThem) {
  const RunBlocks run = blocks_of(shardlings::testing::overlap_case(3, 4).traces);
  EXPECT_EQ(run.colouring, Colouring::layer);
  for (const LaneBlocks& lane : run.lanes) {
    for (const Block& block : lane.blocks) EXPECT_EQ(block.hue, block.number);
  }
}

TEST(Timeline, HasARowForEveryLaneThatWasUsed) {
  auto inter = event(EventKind::collective, Nanos(2), Nanos(4));
  inter.lane = front::Lane::inter_node;
  const auto trace =
      trace_of({event(EventKind::forward, Nanos(0), Nanos(4)), event(EventKind::send, Nanos(0), Nanos(2)), inter});
  const Timeline timeline = lay_out({trace, trace_of({event(EventKind::forward, Nanos(0), Nanos(4))})}, 4);
  EXPECT_THAT(texts(timeline), ElementsAre("FFFF", "ss..", "..CC", "FFFF"));
}

TEST(Lanes, AllHaveNames) {
  std::set<std::string_view> names;
  for (int lane = 0; lane < front::kLanes; ++lane) {
    EXPECT_FALSE(name_of(static_cast<front::Lane>(lane)).name.empty());
    names.insert(name_of(static_cast<front::Lane>(lane)).name);
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(front::kLanes)) << "each its own";
}

TEST(Timeline, MarksWhereEqualBlocksWithoutNumbersMeet) {
  const auto trace =
      trace_of({event(EventKind::operation, Nanos(0), Nanos(2)), event(EventKind::operation, Nanos(2), Nanos(4))});
  EXPECT_THAT(texts(lay_out({trace}, 4)), ElementsAre("OO|O"));
}

TEST(Timeline, WritesTheLastDigitWhereThereIsNoRoom) {
  std::vector<front::Event> events{event(EventKind::forward, Nanos(0), Nanos(1), 11),
                                   event(EventKind::forward, Nanos(1), Nanos(2), 12)};
  EXPECT_THAT(texts(lay_out({trace_of(events)}, 2)), ElementsAre("12"));
  EXPECT_THAT(texts(lay_out({trace_of(events)}, 4)), ElementsAre("1F2F"));
  EXPECT_THAT(texts(lay_out({trace_of(events)}, 6)), ElementsAre("11F12F"));
}

TEST(Timeline, IgnoresWhatTakesNoTimeAndWhatIsInsideACall) {
  auto inner = event(EventKind::operation, Nanos(0), Nanos(4));
  inner.depth = 1;
  const auto trace =
      trace_of({event(EventKind::forward, Nanos(0), Nanos(4)), inner, event(EventKind::loss, Nanos(4), Nanos(4))});
  EXPECT_THAT(texts(lay_out({trace}, 4)), ElementsAre("FFFF"));
}

TEST(Timeline, LeavesRowsOfTheProgramOutWhereNobodyComputes) {
  const Timeline timeline = lay_out(shardlings::testing::ring_case(3).traces, 4);
  ASSERT_EQ(timeline.rows.size(), 3U);
  for (const Row& row : timeline.rows) {
    EXPECT_EQ(row.lane, front::Lane::intra_node);
    EXPECT_EQ(row_text(row), "xxxx");
  }
}

TEST(EqualRanks, JoinsNeighboursThatShowTheSame) {
  auto traces = shardlings::testing::overlap_case(6, 2).traces;
  traces[3].events.pop_back();  // a wait: nothing to see
  traces[4].events.erase(traces[4].events.begin());
  const auto ranges = equal_ranks(lay_out(traces, 80));
  ASSERT_EQ(ranges.size(), 3U);
  EXPECT_EQ(ranges[0].last, 3);
  EXPECT_EQ(ranges[1].first, 4);
  EXPECT_EQ(ranges[2].first, 5);
}

TEST(Timeline, NeverShowsABackwardAsANumberAlone) {
  std::vector<front::Event> events{event(EventKind::forward, Nanos(0), Nanos(1), 0),
                                   event(EventKind::backward, Nanos(1), Nanos(2), 1),
                                   event(EventKind::update, Nanos(2), Nanos(3), -1, 0)};
  EXPECT_THAT(texts(lay_out({trace_of(events)}, 3)), ElementsAre("0BU"));
}

std::vector<RankRange> single(int ranks) {
  std::vector<RankRange> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back({rank, rank});
  return all;
}

TEST(ShownRanks, AreAllWhereTheyFit) {
  const auto shown = shown_ranks(single(5), 5, 2, 3);
  EXPECT_EQ(shown.size(), 5U);
  for (const ShownRanks& ranks : shown) {
    EXPECT_EQ(ranks.left_out_before, 0);
    EXPECT_EQ(ranks.why, "");
  }
}

TEST(ShownRanks, AreFirstLastPeakAndSlowestOfMany) {
  const auto shown = shown_ranks(single(64), 12, 40, 7);
  ASSERT_EQ(shown.size(), 4U);
  EXPECT_EQ(shown[1].ranks.first, 7);
  EXPECT_EQ(shown[1].why, "ends last");
  EXPECT_EQ(shown[1].left_out_before, 6);
  EXPECT_EQ(shown[2].ranks.first, 40);
  EXPECT_EQ(shown[2].why, "highest peak");
  EXPECT_EQ(shown[2].left_out_before, 32);
  EXPECT_EQ(shown[3].ranks.first, 63);
  int ranks = 4;
  for (const ShownRanks& entry : shown) ranks += entry.left_out_before;
  EXPECT_EQ(ranks, 64) << "every rank is shown or counted";
}

TEST(Timeline, OfNothingIsEmpty) {
  EXPECT_EQ(lay_out({}, 80).columns, 0);
  EXPECT_EQ(lay_out({RankTrace{}, RankTrace{}}, 80).columns, 0);
}

TEST(MemoryCurve, ShowsTheMostWithinEachColumn) {
  RankTrace trace;
  trace.memory = {
      {Nanos(0), {Bytes(1)}}, {Nanos(1), {Bytes(9)}}, {Nanos(1), {Bytes(2)}}, {Nanos(4), {Bytes(1), Bytes(2)}}};
  EXPECT_THAT(memory_curve(trace, Nanos(6), 3), ElementsAre(9, 2, 3));
  EXPECT_THAT(memory_curve(trace, Nanos(6), 6), ElementsAre(1, 9, 2, 2, 3, 3));
}

TEST(MemoryCurve, CountsWhatIsFreedAtTheBeginOfAColumnOnlyBefore) {
  RankTrace trace;
  trace.memory = {{Nanos(0), {Bytes(8)}}, {Nanos(2), {Bytes(1)}}};
  EXPECT_THAT(memory_curve(trace, Nanos(4), 2), ElementsAre(8, 1));
}

TEST(MemoryCurve, OfNothingIsEmpty) {
  EXPECT_TRUE(memory_curve(RankTrace{}, Nanos(4), 2).empty());
}

TEST(Totals, OfAPipelineHaveTheBubbleOfTheClosedForm) {
  // (p - 1) / (m + p - 1) of the time; Huang et al. 2019.
  for (const int ranks : {1, 2, 4, 8}) {
    const Totals totals = totals_of(pipeline_case(ranks, 6, false).counters);
    EXPECT_NEAR(totals.idle, static_cast<double>(ranks - 1) / (6 + ranks - 1), 1e-12) << ranks;
  }
}

TEST(Totals, NameTheRankOfThePeakAndWhatWasSent) {
  std::vector<front::Counters> counters(3);
  counters[1].peak = Bytes(5);
  counters[1].peak_line = 12;
  counters[2].peak = Bytes(5);
  counters[2].traffic[{}].sent = Bytes(7);
  const Totals totals = totals_of(counters);
  EXPECT_EQ(totals.peak_rank, 1) << "the first of equals";
  EXPECT_EQ(totals.peak_line, 12);
  EXPECT_EQ(totals.sent, Bytes(7));
  EXPECT_EQ(totals.sent_by_most, Bytes(7));
  EXPECT_FALSE(totals.sent_equal);
  EXPECT_EQ(totals.idle, 0) << "where no time passed";
}

TEST(Totals, WithoutOverlapWhatWasHiddenWouldHaveBeenWaitedFor) {
  EXPECT_EQ(end_without_overlap({}), Nanos(0));
  std::vector<front::Counters> counters(2);
  counters[0].end = Nanos(90);
  counters[0].overlapped_transfer = Nanos(50);
  counters[1].end = Nanos(100);
  EXPECT_EQ(end_without_overlap(counters), Nanos(100)) << "the slowest rank has hidden nothing";
  counters[1].exposed_transfer = Nanos(9);
  counters[1].overlapped_transfer = Nanos(20);
  EXPECT_EQ(end_without_overlap(counters), Nanos(120)) << "what is exposed is in its end";
  counters[1].busy[static_cast<std::size_t>(front::Lane::to_host)] = Nanos(4);
  counters[1].busy[static_cast<std::size_t>(front::Lane::host)] = Nanos(5);
  counters[1].busy[static_cast<std::size_t>(front::Lane::to_device)] = Nanos(6);
  counters[1].waited_for_host = Nanos(10);
  EXPECT_EQ(end_without_overlap(counters), Nanos(125));
}

}  // namespace
}  // namespace shardlings::report
