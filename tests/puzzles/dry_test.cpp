// What is counted, and when it happens, is the same where nothing is computed, and where calls of the model are
// repeated from recipes: of every solution, in every case, and of mutants, whose errors are the same words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "case/manifest.h"
#include "gpu/alike.h"
#include "grading/verdict/verdict.h"
#include "puzzles/solutions.h"
#include "support/mutants.h"

namespace shardlings::grading {
namespace {

using verdict::CaseVerdict;
using verdict::Verdict;
using world::Backend;

/// What the program asks about numbers that are computed decides what it does next.
bool reads_numbers(const std::string& puzzle) {
  return puzzle == "05_mixed_precision";
}

void add(const cases::Case& kase, const wire::Result& result, Verdict& verdict) {
  CaseVerdict& of = verdict.cases.emplace_back();
  of.kase = kase;
  of.ending = result.ending;
  of.explanation = result.explanation;
  for (const front::RankReport& rank : result.report.ranks) {
    of.counters.push_back(rank.counters);
    of.traces.push_back(rank.trace);
  }
}

Verdict verdict_of(const cases::Case& kase, const wire::Result& result) {
  Verdict verdict;
  add(kase, result, verdict);
  return verdict;
}

/// Simulated as `./shardlings simulate` does it: without a trace. Traced ranks do not use recipes.
wire::Result simulated(const Solution& solution, cases::Case kase, bool recipes) {
  kase.traced = std::vector<int>();
  kase.recipes = recipes;
  return solution.run(kase, Backend::dry);
}

Verdict run(const Solution& solution, const std::vector<cases::Case>& cases, Backend backend) {
  Verdict verdict;
  for (const cases::Case& kase : cases) add(kase, solution.run(kase, backend), verdict);
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

TEST_P(Dry, RecipesChangeNothing) {
  const Solution solution(toolchain_, GetParam());
  for (const cases::Case& kase : cases_) {
    SCOPED_TRACE(kase.name);
    const wire::Result made = simulated(solution, kase, false), repeated = simulated(solution, kase, true);
    EXPECT_EQ(made.explanation, repeated.explanation);
    EXPECT_THAT(gpu_tests::differences(verdict_of(kase, made), verdict_of(kase, repeated)), testing::IsEmpty());
  }
}

/// "id/mutant". Those of puzzle 33 that are misuse, which depends on what ranks do together, and one more; with
/// SHARDLINGS_DRY_MUTANTS=all every mutant of every puzzle, which takes minutes. Not the one that reads other numbers
/// than those that its harness gives a simulation to read.
std::vector<std::string> mutants() {
  const char* wish = std::getenv("SHARDLINGS_DRY_MUTANTS");
  const bool all = wish != nullptr && std::string(wish) == "all";
  const std::set<std::string> misuse = {"mismatch", "deadlock", "leak", "race", "invalid_argument"};
  std::vector<std::string> list;
  if (!all) list.emplace_back("01_training_step/asks_with_an_empty_tensor");  // which finds its rank by the fiber
  for (const std::string& id : all ? puzzle_ids() : std::vector<std::string>{"33_three_d_parallel"}) {
    for (const std::string& name :
         support::names_of_mutants(SHARDLINGS_SOURCE_FOLDER "/solutions", id, all ? std::set<std::string>() : misuse)) {
      if (name != "counts_are_own") list.push_back(id + "/" + name);
    }
  }
  return list;
}

class DryMutants : public testing::TestWithParam<std::string> {};

TEST_P(DryMutants, EndAsOnTheCpu) {
  const std::string id = GetParam().substr(0, GetParam().find('/')), name = GetParam().substr(id.size() + 1);
  const build::Toolchain toolchain = build::load_toolchain(SHARDLINGS_BUILD_FOLDER);
  const Solution mutant(toolchain, id, name);
  for (const cases::Case& kase :
       cases::load_manifest(std::string(SHARDLINGS_SOURCE_FOLDER "/puzzles/") + id, toolchain.clusters).cases) {
    SCOPED_TRACE(kase.name);
    const wire::Result cpu = mutant.run(kase), dry = mutant.run(kase, Backend::dry);
    const wire::Result made = simulated(mutant, kase, false), repeated = simulated(mutant, kase, true);
    EXPECT_EQ(repeated.explanation, made.explanation);
    EXPECT_THAT(gpu_tests::differences(verdict_of(kase, made), verdict_of(kase, repeated)), testing::IsEmpty());
    if (dry.explanation.find("a simulation computes no numbers") != std::string::npos) continue;
    EXPECT_EQ(name_of(dry.ending), std::string(name_of(cpu.ending))) << dry.explanation;
    if (cpu.ending == wire::Ending::failed || cpu.ending == wire::Ending::finished) {
      EXPECT_EQ(dry.explanation, cpu.explanation);
    }
    if (cpu.ending != wire::Ending::finished) continue;
    EXPECT_THAT(gpu_tests::differences(verdict_of(kase, cpu), verdict_of(kase, dry)), testing::IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Puzzles, DryMutants, testing::ValuesIn(mutants()), [](const auto& param) {
  std::string name = param.param;
  std::replace(name.begin(), name.end(), '/', '_');
  return "puzzle_" + name;
});

INSTANTIATE_TEST_SUITE_P(Solutions, Dry, testing::ValuesIn(puzzle_ids()),
                         [](const auto& param) { return "puzzle_" + param.param; });

}  // namespace
}  // namespace shardlings::grading
