// What a grader reads of a question's answers, and how far off they may be.
#include <gtest/gtest.h>

#include <limits>

#include "grading/judge/grader.h"

namespace shardlings::grading {
namespace {

/// What came of `check.within` for the answer "speed-up", which Harness::answer() has published as `parts`.
verdict::CheckVerdict of_answer(const std::vector<float>& parts) {
  const cases::Case kase;
  wire::Result result;
  wire::Output& output = result.outputs["answer.speed-up"];
  output.rows = 1;
  output.cols = static_cast<Count>(parts.size());
  output.values = parts;
  verdict::CheckVerdict verdict;
  judge::CheckContext check(
      kase, result, []() -> const reference::Reference& { throw std::logic_error("there is no model"); }, verdict);
  check.within("speed-up", check.answer("speed-up"), 8, 2, "times", "64 s / 8 s");
  check.finish();
  return verdict;
}

TEST(Answers, MayBeSoManyPercentOff) {
  EXPECT_EQ(of_answer({1, 8, 0}).passed, true);
  EXPECT_EQ(of_answer({1, 8, 0.125F}).passed, true);
  EXPECT_EQ(of_answer({1, 8, 0.25F}).passed, false) << "what rounding has taken away counts";
  EXPECT_EQ(of_answer({1, 7.75F, 0}).passed, false);
  const verdict::CheckVerdict far = of_answer({1, 10, 0});
  EXPECT_EQ(far.passed, false);
  EXPECT_EQ(far.expected, "speed-up: 8 times = 64 s / 8 s, but for 2 %");
  EXPECT_EQ(far.found, "10 times (+25 %)");
}

TEST(Answers, ThatAreNoneFail) {
  EXPECT_EQ(of_answer({1, std::numeric_limits<float>::quiet_NaN(), 0}).found, "nan times");
  EXPECT_EQ(of_answer({1, std::numeric_limits<float>::infinity(), 0}).found, "inf times");
  EXPECT_EQ(of_answer({2, 8, 8, 0, 0}).passed, false) << "one number is asked for";
  EXPECT_EQ(of_answer({}).passed, false) << "nothing was published";
}

}  // namespace
}  // namespace shardlings::grading
