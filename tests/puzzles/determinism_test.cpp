// The same case gives the same counters, virtual time and output bits in every run, whatever else the machine does.
// SHARDLINGS_REPEATS says how often (3 by default).
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "case/manifest.h"
#include "grading/build/build_submission.h"
#include "grading/run/supervisor.h"
#include "puzzles/solutions.h"

namespace shardlings::grading {
namespace {

namespace fs = std::filesystem;

constexpr int kRanks = 8;  // a puzzle whose numbers fix the ranks has a case of so many

int repeats() {
  const char* text = std::getenv("SHARDLINGS_REPEATS");
  return text ? std::atoi(text) : 3;
}

/// The case with most ranks: at least eight, if it has several.
cases::Case widest_case(const cases::Manifest& manifest) {
  cases::Case widest = manifest.cases.front();
  for (const cases::Case& kase : manifest.cases) {
    if (kase.ranks > widest.ranks) widest = kase;
  }
  if (widest.ranks > 1) widest.ranks = std::max(widest.ranks, kRanks);
  return widest;
}

std::vector<std::uint32_t> bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> result;
  for (const float value : values) result.push_back(std::bit_cast<std::uint32_t>(value));
  return result;
}

void expect_same(const wire::Result& first, const wire::Result& again) {
  ASSERT_EQ(again.ending, wire::Ending::finished) << again.explanation;
  ASSERT_EQ(first.report.ranks.size(), again.report.ranks.size());
  for (std::size_t r = 0; r < first.report.ranks.size(); ++r) {
    EXPECT_EQ(first.report.ranks[r].counters, again.report.ranks[r].counters) << "rank " << r;
  }
  ASSERT_EQ(first.outputs.size(), again.outputs.size());
  for (const auto& [name, output] : first.outputs) {
    EXPECT_EQ(bits(output.values), bits(again.outputs.at(name).values)) << name;
  }
}

class Determinism : public testing::TestWithParam<std::string> {};

TEST_P(Determinism, EveryRunOfTheSolutionIsTheSame) {
  const std::string puzzle = std::string(SHARDLINGS_SOURCE_FOLDER "/puzzles/") + GetParam();
  const std::string solution = std::string(SHARDLINGS_SOURCE_FOLDER "/solutions/") + GetParam() + "/solution.cpp";
  const fs::path folder = fs::path(testing::TempDir()) / ("determinism_" + GetParam());
  fs::create_directories(folder);
  const build::Toolchain toolchain = build::load_toolchain(SHARDLINGS_BUILD_FOLDER);
  const build::BuildOutcome built =
      build::build_submission(toolchain, GetParam(), solution, puzzle + "/harness.cpp", folder.string());
  ASSERT_TRUE(built.built) << built.log;
  const cases::Case kase = widest_case(cases::load_manifest(puzzle, toolchain.clusters));
  const wire::Result first = run::run_case(built.program, kase, run::default_limits(kase.ranks));
  ASSERT_EQ(first.ending, wire::Ending::finished) << first.explanation;
  ASSERT_FALSE(first.outputs.empty());
  for (int run = 1; run < repeats() && !HasFailure(); ++run) {
    expect_same(first, run::run_case(built.program, kase, run::default_limits(kase.ranks)));
  }
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Puzzles, Determinism, testing::ValuesIn(puzzle_ids()),
                         [](const auto& param) { return "puzzle_" + param.param; });

}  // namespace
}  // namespace shardlings::grading
