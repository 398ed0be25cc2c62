// What is counted, and when it happens, is the same where nothing is computed: of every solution, in every case.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "case/manifest.h"
#include "gpu/alike.h"
#include "grading/verdict/verdict.h"
#include "puzzles/solutions.h"

namespace shardlings::grading {
namespace {

using verdict::CaseVerdict;
using verdict::Verdict;
using world::Backend;

/// What the program asks about numbers that are computed decides what it does next.
bool reads_numbers(const std::string& puzzle) {
  return puzzle == "05_mixed_precision";
}

Verdict run(const Solution& solution, const std::vector<cases::Case>& cases, Backend backend) {
  Verdict verdict;
  for (const cases::Case& kase : cases) {
    const wire::Result result = solution.run(kase, backend);
    CaseVerdict& of = verdict.cases.emplace_back();
    of.kase = kase;
    of.ending = result.ending;
    of.explanation = result.explanation;
    for (const front::RankReport& rank : result.report.ranks) {
      of.counters.push_back(rank.counters);
      of.traces.push_back(rank.trace);
    }
  }
  return verdict;
}

class Dry : public testing::TestWithParam<std::string> {
 protected:
  const build::Toolchain toolchain_ = build::load_toolchain(SHARDLINGS_BUILD_FOLDER);
  const std::vector<cases::Case> cases_ =
      cases::load_manifest(std::string(SHARDLINGS_SOURCE_FOLDER "/puzzles/") + GetParam(), toolchain_.clusters).cases;
};

TEST_P(Dry, CountersAndTimesAreThoseOfTheCpu) {
  const Solution solution(toolchain_, GetParam());
  const Verdict dry = run(solution, cases_, Backend::dry);
  if (reads_numbers(GetParam())) {
    for (const CaseVerdict& kase : dry.cases) {
      EXPECT_EQ(kase.ending, wire::Ending::failed) << kase.kase.name;
      EXPECT_THAT(kase.explanation, testing::HasSubstr("a simulation computes no numbers")) << kase.kase.name;
    }
    return;
  }
  const Verdict cpu = run(solution, cases_, Backend::cpu);
  for (const CaseVerdict& kase : cpu.cases) EXPECT_EQ(kase.ending, wire::Ending::finished) << kase.explanation;
  EXPECT_THAT(gpu_tests::differences(cpu, dry), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Solutions, Dry, testing::ValuesIn(puzzle_ids()),
                         [](const auto& param) { return "puzzle_" + param.param; });

}  // namespace
}  // namespace shardlings::grading
