#include "case/given_seed.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "base/file.h"
#include "base/text.h"

namespace shardlings::cases {
namespace {

TEST(GivenSeed, IsAnotherOneForEachSeedAndNeverThatOne) {
  std::set<std::uint64_t> given;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    Case kase;
    kase.seed = seed;
    EXPECT_EQ(given_seed(kase), given_seed(kase));
    EXPECT_GT(given_seed(kase) >> 32U, 0U) << "all 64 bits are drawn, so that a half of them is noticed";
    given.insert(given_seed(kase));
  }
  EXPECT_EQ(given.size(), 1000U);
  for (std::uint64_t seed = 0; seed < 1000; ++seed) EXPECT_FALSE(given.contains(seed));
}

/// printf 'given to the learner: 1' | sha256sum, its first 16 digits.
TEST(GivenSeed, IsTheBeginningOfAHash) {
  Case kase;
  kase.seed = 1;
  EXPECT_EQ(given_seed(kase), 0x80A6F9BC7240749DU);
}

/// Whoever reads a case's seed in a harness may draw with it, and give it to nobody.
TEST(GivenSeed, IsWhatHarnessesGiveToLearners) {
  std::set<std::string> readers;
  for (const auto& puzzle : std::filesystem::directory_iterator(SHARDLINGS_SOURCE_FOLDER "/puzzles")) {
    const std::string text = read_file((puzzle.path() / "harness.cpp").string()).value_or("");
    for (const std::string& line : lines_of(text)) {
      if (line.find("kase().seed") != std::string::npos) readers.insert(puzzle.path().filename().string() + ":" + line);
    }
  }
  EXPECT_EQ(readers, (std::set<std::string>{
                         "38_async_tensor_parallel:  const std::vector<float> chosen = choices(h.kase().seed);",
                         "40_distributed_muon:  const std::vector<float> drawn = owners_of_drawn(h.kase().seed);"}))
      << "these two draw machines and matrices";
}

}  // namespace
}  // namespace shardlings::cases
