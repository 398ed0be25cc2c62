// The tables that puzzles have from ./shardlings simulate: a row made anew by the command that stands beside it.
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace shardlings::cli
