// `grade`: somebody else's file, behind walls or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/sanitizers.h"
#include "cli/error.h"
#include "cli/learner.h"

namespace shardlings::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class StrangersFile : public testing::Test {
 protected:
  StrangersFile() {
    shardlings_.folder().write("hand in/ada.cpp",
                               shardlings_.folder().read(std::string("solutions/") + kFirst + "/solution.cpp"));
  }
  Answer grade(std::vector<std::string> options) {
    options.insert(options.begin(), {"grade", "01", shardlings_.folder() / "hand in/ada.cpp", "--json"});
    return shardlings_(options);
  }

  /// Tier 1 takes root, and no sanitizer.
  const bool has_tier_1_ = geteuid() == 0 && !kAddressSanitizer && !kThreadSanitizer;
  Learner shardlings_;
};

TEST_F(StrangersFile, RunsAStrangersFileInJailsOfTierOneOrNotAtAll) {
  const Answer answer = grade({});
  const json verdict = json::parse(answer.out);
  if (has_tier_1_) {
    EXPECT_EQ(answer.status, kPassed) << answer.out;
    EXPECT_GE(verdict["tier"], 1);
  } else {
    EXPECT_EQ(answer.status, kNotJudged);
    EXPECT_THAT(verdict["reason"].get<std::string>(), HasSubstr("--trust"));
  }
}

TEST_F(StrangersFile, TrustsIfItIsTold) {
  const Answer answer = grade({"--trust"});
  EXPECT_EQ(answer.status, kPassed) << answer.out << answer.err;
  EXPECT_EQ(json::parse(answer.out)["tier"] > 0, has_tier_1_);
}

TEST_F(StrangersFile, LeavesNoOlderResultBehind) {
  const std::string file = shardlings_.folder() / "results.json";
  shardlings_.folder().write("results.json", R"({"score": 100})");
  shardlings_.folder().write("build/toolchain.json", "damaged");
  EXPECT_NE(grade({"--export", "gradescope=" + file}).status, kPassed);
  const json result = json::parse(shardlings_.folder().read("results.json"));
  EXPECT_FALSE(result.contains("score"));
  EXPECT_THAT(result["output"].get<std::string>(), HasSubstr("has not come to its end"));
}

TEST_F(StrangersFile, NeedsAPuzzleAndAFile) {
  EXPECT_EQ(shardlings_({"grade", "01"}).status, kWrongUse);
  EXPECT_EQ(shardlings_({"grade", "01", "nowhere.cpp"}).status, kWrongUse);
}

}  // namespace
}  // namespace shardlings::cli
