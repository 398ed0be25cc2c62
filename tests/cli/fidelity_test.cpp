// Published steps and memories, simulated from the command line: each is as far off as docs/reference/fidelity.md says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "cli/learner.h"
#include "simulation/stack_file.h"

namespace shardlings::cli {
namespace {

using nlohmann::json;

const json& published() {
  static const json rows = json::parse(read_whole_file(SHARDLINGS_SOURCE "/tests/bench/fidelity.json"));
  return rows;
}

/// Larger ones take too long for a test: tests/bench/fidelity.py runs all.
constexpr int kMostRanks = 64;

json simulated(const Learner& shardlings, const json& row) {
  const auto text = [&](const char* key) { return row.at(key).get<std::string>(); };
  const auto number = [&](const char* key) { return std::to_string(row.at(key).get<int>()); };
  std::vector<std::string> arguments = {
      "simulate",       "33",      "--solution",    "--json",          "--unlimited",           "--cluster",
      text("cluster"),  "--stack", text("stack"),   "--model",         text("model"),           "--parallel",
      text("parallel"), "--batch", number("batch"), "--micro-batches", number("micro_batches"), "--recompute",
      text("recompute")};
  for (const json& option : row.value("options", json::array())) arguments.push_back(option.get<std::string>());
  const Answer answer = shardlings(arguments);
  EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
  return json::parse(answer.out);
}

TEST(Fidelity, StepsAreAsFarOffAsIsSaid) {
  const Learner shardlings;
  for (const json& row : published().at("steps")) {
    if (row.at("ranks").get<int>() > kMostRanks) continue;
    const double ours = simulated(shardlings, row).at("end").get<double>() / 1e9;
    EXPECT_NEAR(ours / row.at("seconds").get<double>() - 1, row.at("error").get<double>(), 0.001) << row.at("name");
  }
}

TEST(Fidelity, TrustLinesSayTheErrorsOfAllRows) {
  std::map<std::string, std::vector<double>> errors;
  for (const json& row : published().at("steps")) {
    errors[row.at("stack").get<std::string>()].push_back(std::abs(row.at("error").get<double>()));
  }
  for (const auto& [stack, of] : errors) {
    const simulation::StackFile file = simulation::load_stack(SHARDLINGS_SOURCE "/runtime/front/clock/stacks", stack);
    const simulation::OnCluster* on = file.on_cluster("dgx_a100");
    ASSERT_NE(on, nullptr) << stack;
    double sum = 0;
    for (const double error : of) sum += error;
    EXPECT_EQ(on->rows, static_cast<int>(of.size())) << stack;
    EXPECT_NEAR(on->mean_error, sum / static_cast<double>(of.size()), 0.001) << stack;
    EXPECT_NEAR(on->worst_error, *std::max_element(of.begin(), of.end()), 0.001) << stack;
  }
}

// The formulas count what is kept from forward to backward, `again` what is computed again for one block; a run has
// what that block works with beside it.
TEST(Fidelity, ActivationsAreThoseOfThePaper) {
  const Learner shardlings;
  for (const json& row : published().at("activations")) {
    const auto ours = simulated(shardlings, row).at("peak_by_kind").at("activation").get<double>();
    const double formula = row.at("bytes").get<double>() + row.value("again", 0.0);
    EXPECT_GE(ours, formula) << row.at("name");
    const double most = row.at("recompute") == "full" ? 1.05 : 1.01;  // little is kept, so that work counts for more
    EXPECT_LT(ours, most * formula) << row.at("name");
  }
}

// Rajbhandari et al. 2020, table 1: 4 + 12/N bytes for each weight. The later stages have two whole layers beside it.
TEST(Fidelity, ModelStatesAreThoseOfZero) {
  constexpr std::int64_t kBlocks = 8, kHidden = 512, kVocabulary = 4096, kSequence = 64;
  constexpr std::int64_t kWeights =
      kBlocks * (12 * kHidden * kHidden + 13 * kHidden) + (2 * kVocabulary + kSequence + 2) * kHidden;
  const Learner shardlings;
  for (const json& row : published().at("states")) {
    if (row.at("ranks").get<int>() > kMostRanks) continue;
    const Answer answer =
        shardlings({"simulate", row.at("puzzle").get<std::string>(), "--solution", "--json", "--unlimited", "--cluster",
                    "dgx_a100", "--precision", row.value("precision", "mixed"), "--batch", "1", "--micro-batches", "1",
                    "--ranks", std::to_string(row.at("ranks").get<int>()), "--model",
                    "layers=8,hidden=512,heads=8,vocabulary=4096,sequence=64"});
    ASSERT_EQ(answer.status, 0) << answer.out << answer.err;
    const json kinds = json::parse(answer.out).at("peak_by_kind");
    const double ours = (kinds.at("parameter").get<double>() + kinds.at("gradient").get<double>() +
                         kinds.at("optimizer").get<double>()) /
                        kWeights;
    const auto formula = row.at("bytes_a_weight").get<double>();
    const bool is_first = row.at("puzzle") == "11_zero1";
    const double layers = is_first ? 0 : 2 * 2 * 2 * 1.0 * (12 * kHidden * kHidden + 13 * kHidden) / kWeights;
    EXPECT_GE(ours, formula * (1 - 1e-5)) << row.at("name");
    EXPECT_LE(ours, formula * (1 + 1e-4) + layers) << row.at("name");
  }
}

}  // namespace
}  // namespace shardlings::cli
