// The tables that puzzles have from ./shardlings simulate: a row made anew by the command that stands beside it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "case/manifest.h"
#include "cli/learner.h"

namespace shardlings::cli {
namespace {

using nlohmann::json;

/// Seconds of a step of puzzle 33's solution.
double simulated_seconds(const std::vector<std::string>& options) {
  const Learner shardlings;
  std::vector<std::string> command = {"simulate", "33", "--solution", "--json"};
  command.insert(command.end(), options.begin(), options.end());
  const Answer answer = shardlings(command);
  EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
  return json::parse(answer.out).at("end").get<double>() / 1e9;
}

cases::Manifest manifest_of(const std::string& id) {
  return cases::load_manifest(SHARDLINGS_SOURCE "/puzzles/" + id, SHARDLINGS_SOURCE "/runtime/front/clock/clusters");
}

TEST(SimulatedTables, OfPuzzle42HaveWhatSimulateSays) {
  const cases::Manifest puzzle = manifest_of("42_scaling");
  const cases::Case& kase = *puzzle.find_case("18 billion on H100");
  for (const std::size_t row : {std::size_t{0}, std::size_t{2}, std::size_t{5}}) {
    const int gpus = static_cast<int>(kase.list("gpus").at(row));
    const int sequences = static_cast<int>(kase.list("sequences").at(row));
    const double seconds =
        simulated_seconds({"--model", "megatron-18.4b", "--cluster", "dgx_h100", "--stack", "megatron-2022",
                           "--recompute", "full", "--parallel", "tp=8,pp=1,dp=" + std::to_string(gpus / 8), "--batch",
                           "4", "--global-batch", std::to_string(sequences)});
    EXPECT_NEAR(kase.list("seconds").at(row), seconds, 1e-4 * seconds) << gpus << " GPUs";
  }
}

/// Of puzzle 34's tables: what tests/bench/layouts.py has printed.
std::size_t row_of(const cases::Case& kase, const std::map<std::string, double>& sizes) {
  for (std::size_t row = 0; row < kase.list("tp").size(); ++row) {
    const bool is_meant = std::all_of(sizes.begin(), sizes.end(),
                                      [&](const auto& size) { return kase.list(size.first).at(row) == size.second; });
    if (is_meant) return row;
  }
  ADD_FAILURE() << "there is no such row";
  return 0;
}

constexpr const char* kSmallModel = "layers=30,hidden=3072,heads=32,vocabulary=51200,sequence=2048";

TEST(SimulatedTables, OfPuzzle34HaveWhatASweepFinds) {
  const cases::Manifest puzzle = manifest_of("34_planner");
  const cases::Case& kase = *puzzle.find_case("3.6 billion on 32 A100");
  const Learner shardlings;
  const Answer answer = shardlings({"simulate", "33", "--solution", "--json", "--model", kSmallModel, "--cluster",
                                    "dgx_a100", "--stack", "megatron-2022", "--ranks", "32", "--global-batch", "256",
                                    "--fold", "--sweep", "tp=1..2,pp=1..1,batch=2..2,recompute=off,selective"});
  ASSERT_EQ(answer.status, 0) << answer.out << answer.err;
  const json points = json::parse(answer.out);
  ASSERT_EQ(points.size(), 4U);
  double best = HUGE_VAL;
  for (const json& point : points) {
    const double tp = point["sizes"]["tp"], recomputed = point["sizes"]["recompute"] == "off" ? 0 : 1;
    const double seconds = point["end"].get<double>() / 1e9, gib = point["peak"].get<double>() / (1 << 30);
    const std::size_t row =
        row_of(kase, {{"tp", tp}, {"pp", 1}, {"chunks", 1}, {"batch", 2}, {"recomputed", recomputed}});
    EXPECT_NEAR(kase.list("seconds").at(row), seconds, 1e-4 * seconds);
    EXPECT_NEAR(kase.list("gib").at(row), gib, 1e-4 * gib);
    best = std::min(best, seconds);
  }
  double least = HUGE_VAL;
  for (std::size_t row = 0; row < kase.list("tp").size(); ++row) {
    if (kase.list("gib")[row] <= kase.number("memory_gib")) least = std::min(least, kase.list("seconds")[row]);
  }
  EXPECT_NEAR(least, best, 1e-4 * best) << "what a plan is compared with";
}

/// What a block takes, from the differences between one and two of them.
TEST(SimulatedTables, OfPuzzle34HaveTheProfileOfABlock) {
  const cases::Manifest puzzle = manifest_of("34_planner");
  const cases::Case& kase = *puzzle.find_case("3.6 billion on 32 A100");
  double seconds[2][2] = {};
  for (const int layers : {1, 2}) {
    for (const int micro_batches : {1, 2}) {
      const std::string model =
          "layers=" + std::to_string(layers) + ",hidden=3072,heads=32,vocabulary=51200,sequence=2048";
      seconds[layers - 1][micro_batches - 1] = simulated_seconds(
          {"--model", model, "--cluster", "dgx_a100", "--stack", "megatron-2022", "--parallel", "tp=1", "--batch", "1",
           "--micro-batches", std::to_string(micro_batches), "--recompute", "off", "--unlimited"});
    }
  }
  const double one = seconds[0][1] - seconds[0][0], two = seconds[1][1] - seconds[1][0];
  EXPECT_NEAR(kase.list("block_seconds").front(), two - one, 1e-5 * one);
  EXPECT_NEAR(kase.list("head_seconds").front(), 2 * one - two, 1e-5 * one);
}

}  // namespace
}  // namespace shardlings::cli
