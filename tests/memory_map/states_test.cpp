// Weights, gradients and optimizer states, against table 1 of Rajbhandari et al. 2020 (arXiv 1910.02054).

#include <gtest/gtest.h>

#include <cmath>

#include "memory_map/examples.h"

namespace shardlings::grading {
namespace {

constexpr int kDegrees[] = {1, 4, 16, 64, 256, 1024};

/// Rows of the table: for each number of ranks, ZeRO-1, 2 and 3 of 7.5B, 128B and 1T, as printed there.
constexpr const char* kTable[6][9] = {
    {"120", "120", "120", "2048", "2048", "2048", "16000", "16000", "16000"},
    {"52.5", "41.3", "30", "896", "704", "512", "7000", "5500", "4000"},
    {"35.6", "21.6", "7.5", "608", "368", "128", "4750", "2875", "1000"},
    {"31.4", "16.6", "1.88", "536", "284", "32", "4187", "2218", "250"},
    {"30.4", "15.4", "0.47", "518", "263", "8", "4046", "2054", "62.5"},
    {"30.1", "15.1", "0.12", "513", "257", "2", "4011", "2013", "15.6"},
};

/// The paper rounds small numbers and cuts large ones off: either must give what it prints.
bool prints_as(double gigabytes, const std::string& printed) {
  const std::size_t point = printed.find('.');
  const double scale = point == std::string::npos ? 1 : std::pow(10, printed.size() - point - 1);
  const double wanted = std::stod(printed) * scale;
  return std::abs(std::floor(gigabytes * scale) - wanted) < 1e-6 ||
         std::abs(std::floor(gigabytes * scale + 0.5) - wanted) < 1e-6;
}

TEST(States, AreThoseOfTheZeroPapersTable) {
  const char* const models[] = {"zero-7.5b", "zero-128b", "zero-1t"};
  for (std::size_t row = 0; row < 6; ++row) {
    for (std::size_t column = 0; column < 9; ++column) {
      const Count parameters = memory_map::parameters_of(named(models[column / 3]));
      const Bytes bytes =
          memory_map::states_of(parameters, mixed(), static_cast<int>(column % 3 + 1), kDegrees[row]).total();
      EXPECT_TRUE(prints_as(static_cast<double>(bytes.value()) / 1e9, kTable[row][column]))
          << models[column / 3] << ", N = " << kDegrees[row] << ", ZeRO-" << column % 3 + 1 << ": " << bytes.value()
          << " bytes, and the paper has " << kTable[row][column];
    }
  }
}

TEST(States, WithoutShardingAre16BytesAParameter) {
  EXPECT_EQ(memory_map::states_of(1000, mixed(), 0, 64).total(), Bytes(16'000));
}

TEST(States, AreSharesOfTheLongestPart) {
  const memory_map::StateBytes bytes = memory_map::states_of(10, mixed(), 3, 4);  // parts of 3, 3, 2 and 2
  EXPECT_EQ(bytes.weights, Bytes(6));
  EXPECT_EQ(bytes.gradients, Bytes(6));
  EXPECT_EQ(bytes.optimizer, Bytes(36));
}

/// Bytes of a parameter as Megatron-LM's documents have them (docs/user-guide/features/dist_optimizer.md).
TEST(States, FollowTheRecipe) {
  memory_map::Training training;
  training.precision = memory_map::precision_of("mixed-f32-grads");
  EXPECT_EQ(memory_map::states_of(1, training, 0, 1).total(), Bytes(18));
  EXPECT_EQ(memory_map::states_of(8, training, 1, 8).total(), Bytes(8 * 6 + 12));
  training.precision = memory_map::precision_of("f32");
  EXPECT_EQ(memory_map::states_of(1, training, 0, 1).total(), Bytes(16));
  training.moments = memory_map::moments_of("sgd");
  EXPECT_EQ(memory_map::states_of(1, training, 0, 1).total(), Bytes(8));
  training.precision = memory_map::precision_of("mixed");
  EXPECT_EQ(training.optimizer_bytes(), 4);  // the f32 copy alone
}

}  // namespace
}  // namespace shardlings::grading
