// What a submission leaves behind: whatever the bytes are, they are read or refused, never believed.
#include <gtest/gtest.h>

#include <iostream>
#include <random>

#include "fuzz/fuzz.h"
#include "submission/wire/sample_report.h"

namespace shardlings::grading {
namespace {

/// What has been read names nothing that is not there.
void expect_sound(const wire::Result& result) {
  for (const front::RankReport& rank : result.report.ranks) {
    for (const front::Event& event : rank.trace.events) {
      EXPECT_LT(event.name, rank.trace.names.size());
      EXPECT_LT(event.group, static_cast<int>(rank.trace.groups.size()));
    }
  }
}

TEST(FuzzResults, DamagedBytesAreReadOrRefused) {
  const std::string good = wire::pack_report(sample_report());
  std::mt19937_64 random(fuzz::seed(5));
  const std::int64_t tries = fuzz::tries(3000);
  std::int64_t refused = 0;
  for (std::int64_t i = 0; i < tries; ++i) {
    std::string bytes = good;
    for (std::uint64_t changes = 1 + random() % 6; changes > 0; --changes) {
      bytes[random() % bytes.size()] = static_cast<char>(random() % 4 == 0 ? random() % 4 : random());
    }
    if (i % 8 == 0) bytes.resize(random() % bytes.size());
    wire::Result result;
    if (readable(bytes, result)) {
      expect_sound(result);
    } else {
      ++refused;
    }
  }
  std::cout << tries << " results, " << refused << " of them refused\n";
  EXPECT_GT(refused, tries / 3);
}

TEST(FuzzResults, NoiseIsRefused) {
  std::mt19937_64 random(fuzz::seed(6));
  for (std::int64_t i = fuzz::tries(2000); i > 0; --i) {
    std::string bytes(random() % 300, 0);
    for (char& byte : bytes) byte = static_cast<char>(random());
    wire::Result result;
    EXPECT_FALSE(readable(bytes, result));
  }
}

}  // namespace
}  // namespace shardlings::grading
