// ./shardlings simulate, from the command line to its report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/learner.h"

namespace shardlings::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kGrid = "33_three_d_parallel";

TEST(Simulate, RunsTheLearnersFileOnAThousandRanks) {
  const Learner shardlings;
  shardlings.solve(kGrid);
  const Answer answer = shardlings({"simulate", "33", "--parallel", "tp=8,pp=8,dp=16", "--model",
                                    "layers=16,hidden=1024,heads=16,vocabulary=50000,sequence=1024", "--cluster",
                                    "dgx_h100", "--micro-batches", "8"});
  EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
  EXPECT_THAT(answer.out, AllOf(HasSubstr("on 1024 ranks of dgx_h100 (128 nodes)"), HasSubstr("waiting for peers"),
                                HasSubstr("kinds of ranks"), HasSubstr("none of them computed")));
}

// Closed form: 1F1B on a cluster where forward and backward take fixed times and links none ends after
// (m + p - 1)(F + B): Narayanan et al. 2021, section 2.2.
TEST(Simulate, FindsTheBubbleOfTheClosedForm) {
  const Learner shardlings;
  shardlings.solve("20_one_f_one_b");
  for (const int p : {2, 8, 64}) {
    const int m = 2 * p;
    const Answer answer =
        shardlings({"simulate", "20", "--ranks", std::to_string(p), "--micro-batches", std::to_string(m), "--model",
                    "layers=" + std::to_string(p - 2) + ",hidden=8,heads=2,vocabulary=16,sequence=4", "--json"});
    if (p == 2) {  // no block would be left beside embedding and head
      EXPECT_EQ(answer.status, 2) << answer.out;
      continue;
    }
    ASSERT_EQ(answer.status, 0) << answer.out << answer.err;
    EXPECT_EQ(json::parse(answer.out).at("end").get<std::int64_t>(), (m + p - 1) * 3'000'000) << p << " stages";
  }
}

TEST(Simulate, SaysWhatEndedIt) {
  const Learner shardlings;
  const Answer stub = shardlings({"simulate", "33"});
  EXPECT_EQ(stub.status, 1);
  EXPECT_THAT(stub.out, AllOf(HasSubstr("not implemented yet"), HasSubstr("--solution")));
  shardlings.solve(kGrid);
  const Answer full =
      shardlings({"simulate", "33", "--parallel", "tp=2,pp=2,dp=2", "--model", "gpt3-175b", "--cluster", "dgx_h100"});
  EXPECT_EQ(full.status, 1);
  EXPECT_THAT(full.out, AllOf(HasSubstr("out of memory"), HasSubstr("Alive, largest first")));
  const Answer wrong = shardlings({"simulate", "33", "--parallel", "ep=4"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("it has tp, pp, dp, v"));
}

// The diagnosis of a mistake does not depend on the number of ranks, and neither does its length.
TEST(Simulate, NamesAMisuseOfFiveHundredRanksBriefly) {
  const Learner shardlings;
  shardlings.blunder(kGrid, "wrong_group");
  const Answer answer = shardlings({"simulate", "33", "--parallel", "tp=4,pp=4,dp=32", "--model",
                                    "layers=6,hidden=32,heads=8,vocabulary=64,sequence=8"});
  EXPECT_EQ(answer.status, 1);
  EXPECT_THAT(answer.out, HasSubstr("mismatch"));
  EXPECT_LT(answer.out.size(), 5000U);
}

TEST(Simulate, SweepsLayoutsOfAsManyRanks) {
  const Learner shardlings;
  shardlings.solve(kGrid);
  const Answer table = shardlings(
      {"simulate", "33", "--ranks", "8", "--sweep", "tp=1..2,pp=1..2", "--global-batch", "16", "--batch", "1"});
  EXPECT_EQ(table.status, 0) << table.out << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("tp \\ pp"), HasSubstr("fastest that fits: ")));
  const json points = json::parse(shardlings({"simulate", "33", "--ranks", "8", "--sweep", "tp=1..4", "--json"}).out);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_EQ(points[1].at("ranks"), 8);
  EXPECT_EQ(points[2].at("possible"), false) << "two heads for four ranks";
  EXPECT_EQ(shardlings({"simulate", "33", "--sweep", "tp=8..1"}).status, 2);
}

TEST(Simulate, SaysWhichLayoutIsNearestWhereNoneFits) {
  const Learner shardlings;
  shardlings.solve(kGrid);
  const Answer table = shardlings({"simulate", "33", "--model", "gpt3-175b", "--cluster", "dgx_h100", "--ranks", "8",
                                   "--sweep", "tp=4..8,pp=1..2"});
  EXPECT_EQ(table.status, 0) << table.err;
  EXPECT_THAT(table.out, testing::ContainsRegex("None of them fits.* The nearest is tp 8, pp 1: .* GiB on the fullest "
                                                "rank, .* GiB too much"));
}

TEST(Simulate, SaysThatThereAreNoNumbersToRead) {
  const Learner shardlings;
  shardlings.solve("05_mixed_precision");
  const Answer answer = shardlings({"simulate", "05"});
  EXPECT_EQ(answer.status, 1);
  EXPECT_THAT(answer.out, HasSubstr("a simulation computes no numbers"));
}

}  // namespace
}  // namespace shardlings::cli
