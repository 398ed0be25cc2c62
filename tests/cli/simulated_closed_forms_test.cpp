// What the papers' closed forms say of thousands of ranks, of the programs that learners write.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/learner.h"
#include "model/structure.h"

namespace shardlings::cli {
namespace {

using nlohmann::json;

json simulated(const Learner& shardlings, const std::string& puzzle, int ranks, std::vector<std::string> more) {
  std::vector<std::string> words = {"simulate", puzzle, "--solution", "--json", "--ranks", std::to_string(ranks)};
  words.insert(words.end(), more.begin(), more.end());
  const Answer answer = shardlings(words);
  EXPECT_EQ(answer.status, 0) << answer.out << answer.err;
  return answer.status == 0 ? json::parse(answer.out) : json();
}

// Links that are alike everywhere: 1 us, and a byte in each nanosecond.
const std::vector<std::string> kLinks = {"--set", "latency_ns=1000", "--set", "bytes_per_second=1e9"};

// 2 (N-1) (alpha + S/(N W)) and 2 (N-1)/N S bytes: Patarasuk and Yuan 2009, section 3.
TEST(ClosedForms, OfARing) {
  const Learner shardlings;
  constexpr int kPart = 16;  // bytes
  for (const int n : {8, 256, 1024}) {
    std::vector<std::string> words = kLinks;
    words.insert(words.end(), {"--set", "elements=" + std::to_string(n * kPart / 4)});
    const json run = simulated(shardlings, "06", n, words);
    EXPECT_EQ(run.at("end"), 2 * (n - 1) * (1000 + kPart)) << n;
    EXPECT_EQ(run.at("kinds").at(0).at("sent"), 2 * (n - 1) * kPart) << n;
  }
}

// Up and down a binomial tree: 2 log2(N) (alpha + S/W): Thakur, Rabenseifner and Gropp 2005, section 4.
TEST(ClosedForms, OfATree) {
  const Learner shardlings;
  for (const int levels : {3, 6, 10}) {
    std::vector<std::string> words = kLinks;
    words.insert(words.end(), {"--set", "elements=64"});
    EXPECT_EQ(simulated(shardlings, "07", 1 << levels, words).at("end"), 2 * levels * (1000 + 4 * 64)) << levels;
  }
}

// Rajbhandari et al. 2020, section 7: with (N-1)/N of the bytes of all weights in each collective, stage 1 sends 2 of
// these, stage 2 one more for each further micro-batch, and stage 3 three, but that the layer at the turn from forward
// to backward is gathered once.
TEST(ClosedForms, OfTheBytesOfZeRO) {
  const Learner shardlings;
  constexpr int kRanks = 4096;
  model::ModelSpec spec;
  spec.family = model::ModelSpec::Family::gpt;
  spec.layers = 2;
  spec.hidden = 256;
  spec.heads = 4;
  spec.outputs = 4096;
  spec.sequence = 4;
  const model::ModelStructure structure = model::make_structure(spec);
  double all = 0;
  for (const model::LayerStructure& layer : structure.layers) all += static_cast<double>(layer.range.size());
  const auto last = static_cast<double>(structure.layers.back().range.size());
  const auto sent = [&](const char* puzzle, const char* micro_batches) {
    const json run = simulated(shardlings, puzzle, kRanks,
                               {"--model", "layers=2,hidden=256,heads=4,vocabulary=4096,sequence=4", "--micro-batches",
                                micro_batches, "--unlimited"});
    double most = 0;
    for (const json& kind : run.at("kinds")) most = std::max(most, kind.at("sent").get<double>());
    return most / (4.0 * (kRanks - 1) / kRanks);
  };
  constexpr double kOfParts = 2e-3;  // parts of 4,096 ranks are a few elements longer or shorter
  EXPECT_NEAR(sent("11", "1") / (2 * all), 1, kOfParts);
  EXPECT_NEAR(sent("12", "2") / (3 * all), 1, kOfParts);
  EXPECT_NEAR(sent("13", "1") / (3 * all - last), 1, kOfParts);
}

// Qi et al. 2024 (arXiv 2401.10241), section 6: with passes that take equally long no rank of a V schedule waits
// between its first pass and its last one, on 2p chunks of 0.5 ms for each pass; and a rank in the middle sends four
// messages for each micro-batch, twice as many as in a straight pipeline.
TEST(ClosedForms, OfAVSchedule) {
  const Learner shardlings;
  constexpr std::int64_t kPass = 500'000, kMessage = 4 * 2 * 2 * 8;
  for (const int p : {4, 16, 64}) {
    const int m = 2 * p;
    const std::string model = "layers=" + std::to_string(2 * p - 2) + ",hidden=8,heads=2,vocabulary=16,sequence=2";
    const json run =
        simulated(shardlings, "44", p, {"--micro-batches", std::to_string(m), "--model", model, "--batch", "2"});
    EXPECT_EQ(run.at("end"), (6 * m + p - 1) * kPass) << p;
    std::int64_t most = 0;
    for (const json& kind : run.at("kinds")) {
      EXPECT_EQ(kind.at("computing"), 6 * m * kPass) << p;
      most = std::max(most, kind.at("sent").get<std::int64_t>());
    }
    EXPECT_EQ(most, 4 * m * kMessage) << p;
  }
}

}  // namespace
}  // namespace shardlings::cli
