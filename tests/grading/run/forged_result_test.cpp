// Programs that end as if all were well, and have written something of their own where the result is looked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "grading/run/case_of_sum.h"
#include "grading/run/ending.h"
#include "grading/run/submission_folder.h"
#include "grading/run/supervisor.h"
#include "submission/wire/memory_file.h"

namespace shardlings::grading {
namespace {

/// A program that writes these bytes over the whole file in memory and ends as if all were well.
wire::Result run_forger(const std::string& bytes) {
  const SubmissionFolder folder("");
  const std::string forged = folder.folder() + "/forged", program = folder.folder() + "/program";
  std::ofstream(forged, std::ios::binary) << bytes;
  std::ofstream(program) << "#!/bin/sh\ncat " << forged << " >&3\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  return run::run_case(program, case_of_sum("2 ranks", 6), run::default_limits(2));
}

TEST(ForgedResult, IsNoise) {
  std::mt19937 random(8);
  for (const std::size_t size : {std::size_t{0}, std::size_t{10}, std::size_t{5000}, std::size_t{200'000}}) {
    std::string noise(size, 0);
    for (char& byte : noise) byte = static_cast<char>(random());
    const wire::Result result = run_forger(noise);
    EXPECT_EQ(result.ending, wire::Ending::early_exit);
    EXPECT_TRUE(result.outputs.empty());
  }
}

TEST(ForgedResult, HasAnEndMarkAndNothingElse) {
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{40}, std::uint64_t{1} << 62U, ~std::uint64_t{0}}) {
    wire::FileHeader header;
    header.case_size = ~std::uint64_t{0};
    header.ranks = 0xFFFFFFFF;
    header.hello = wire::FileHeader::kHello;
    header.end = wire::FileHeader::kEnd;
    header.result_size = size;
    const wire::Result result = run_forger(std::string(reinterpret_cast<const char*>(&header), sizeof header));
    EXPECT_EQ(result.ending, wire::Ending::early_exit);
    EXPECT_THAT(result.explanation, testing::StartsWith("the program's result is damaged"));
  }
}

}  // namespace
}  // namespace shardlings::grading
