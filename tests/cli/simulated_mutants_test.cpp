// Mistakes at scale: what is wrong with a program is said of a thousand ranks in the words that are said of eight.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/text.h"
#include "cli/learner.h"
#include "support/mutants.h"

namespace shardlings::cli {
namespace {

constexpr const char* kThreeAxes = "33_three_d_parallel";
constexpr std::size_t kScreen = 4096;  ///< bytes of text, which a reader is asked to read

/// Mutants of puzzle 33 which the runtime ends.
std::vector<std::string> misuses() {
  return support::names_of_mutants(SHARDLINGS_SOURCE "/solutions", kThreeAxes,
                                   {"mismatch", "deadlock", "leak", "race", "invalid_argument"});
}

/// What is wrong, without ranks and numbers: "mismatch", or the sentence on a wrong call.
std::string kind_of(const std::string& text) {
  for (const char* kind : {"mismatch", "deadlock", "leak", "race"}) {
    if (text.find(kind) != std::string::npos) return kind;
  }
  const std::size_t begin = text.find_first_not_of('\n', text.find('\n'));  // behind the line on the layout
  std::string sentence = text.substr(begin, text.find('\n', begin) - begin);
  std::erase_if(sentence, [](char c) { return c >= '0' && c <= '9'; });
  return sentence;
}

class SimulatedMutants : public testing::TestWithParam<std::string> {};

TEST_P(SimulatedMutants, AreNamedOfManyRanksAsOfEight) {
  const Learner shardlings;
  const auto of = [&](const char* layout) {
    return shardlings({"simulate", "33", "--mutant", GetParam(), "--micro-batches", "8", "--parallel", layout,
                       "--model", "layers=14,hidden=32,heads=8,vocabulary=64,sequence=8"});
  };
  const Answer few = of("tp=2,pp=4,dp=1,v=2"), many = of("tp=4,pp=4,dp=64,v=2");
  EXPECT_EQ(few.status, 1) << few.out << few.err;
  EXPECT_EQ(many.status, 1) << many.out << many.err;
  EXPECT_EQ(kind_of(many.out), kind_of(few.out));
  EXPECT_LE(many.out.size(), kScreen) << many.out;
}

INSTANTIATE_TEST_SUITE_P(Misuse, SimulatedMutants, testing::ValuesIn(misuses()),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace shardlings::cli
