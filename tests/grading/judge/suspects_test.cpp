#include "grading/judge/suspects.h"

#include <gtest/gtest.h>

namespace shardlings::grading::judge {
namespace {

using Suspects = std::vector<Suspect>;

TEST(CommonSuspect, IsTheOneThatAllCasesHave) {
  const Suspects first = {{"a", "limit_ignored", 0.1}, {"b", "half_counted", 0.1}};
  const Suspects second = {{"b", "half_counted", 0.1}, {"c", "one_counted", 0.1}};
  EXPECT_EQ(common_suspect({first, second}), "half_counted");
  EXPECT_EQ(common_suspect({first}), "");
  EXPECT_EQ(common_suspect({}), "");
}

TEST(CommonSuspect, IsNoneIfACaseHasNone) {
  EXPECT_EQ(common_suspect({{{"a", "limit_ignored", 0.1}}, {}}), "");
}

TEST(CommonSuspect, IsNotNamedIfItMayBeChance) {
  const Suspects likely = {{"a", "limit_ignored", 0.3}};
  EXPECT_EQ(common_suspect({likely}), "");
  EXPECT_EQ(common_suspect({likely, likely}), "limit_ignored");  // twice by chance: 0.09
}

TEST(CommonSuspect, HasNoNameWithoutASentence) {
  EXPECT_EQ(common_suspect({{{"a", "", 0.001}}}), "");
  EXPECT_EQ(common_suspect({{{"a", "", 0.001}, {"b", "half_counted", 0.001}}}), "");
}

TEST(CommonSuspect, IsOneInSeveralWays) {
  EXPECT_EQ(common_suspect({{{"a", "swapped", 0.01}, {"b", "swapped", 0.01}}}), "swapped");
}

TEST(CommonSuspect, StandsForThoseThatItsSentenceCovers) {
  const auto both = [](double chance) {
    return std::vector<Suspects>{{{"a", "limit_ignored", chance}, {"b", "half_counted", 0.1, "limit_ignored"}}};
  };
  EXPECT_EQ(common_suspect(both(1e-6)), "limit_ignored");
  EXPECT_EQ(common_suspect(both(1e-3)), "");
}

}  // namespace
}  // namespace shardlings::grading::judge
