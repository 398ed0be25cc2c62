// What a harness publishes of a question's answers, and how much of a number arrives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "submission/harness.h"
#include "world/world.h"

namespace shardlings::grading {
namespace {

front::RunReport asked(const std::function<void(submission::Harness&)>& body) {
  cases::Case kase;
  kase.model.layers = 0;
  kase.question = true;
  return world::run({}, [&](Rank& rank) {
    submission::Harness harness(rank, kase);
    body(harness);
  });
}

/// As the grader reads them: CheckContext::answers().
std::vector<double> arrived(const std::vector<double>& values) {
  const front::RunReport report = asked([&](submission::Harness& h) { h.answer("numbers", values); });
  EXPECT_FALSE(report.failure);
  const auto& output = report.ranks.at(0).published.at(0);
  EXPECT_EQ(output.name, "answer.numbers");
  const std::vector<float>& parts = output.values;
  const std::size_t n = (parts.size() - 1) / 2;
  EXPECT_EQ(parts.at(0), static_cast<float>(n));
  std::vector<double> numbers;
  for (std::size_t i = 1; i <= n; ++i) numbers.push_back(double{parts[i]} + double{parts[i + n]});
  return numbers;
}

TEST(HarnessAnswer, KeepsNumbersOf48Bits) {
  const std::vector<double> values = {0, -1, 0.1, 16'777'217, 123'456'789'012, 3.14159265358979, 2e-20};
  const std::vector<double> numbers = arrived(values);
  ASSERT_EQ(numbers.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(numbers[i], values[i], std::abs(values[i]) * 0x1p-47);
  EXPECT_EQ(numbers[4], values[4]) << "whole numbers of 37 bits are exact";
}

TEST(HarnessAnswer, KeepsWhatIsNoNumberAndWhatIsNothing) {
  EXPECT_TRUE(arrived({}).empty());
  EXPECT_TRUE(std::isnan(arrived({std::nan("")}).at(0)));
  EXPECT_EQ(arrived({HUGE_VAL}).at(0), HUGE_VAL);
  EXPECT_EQ(arrived({-1e300}).at(0), -HUGE_VAL) << "beyond what 32 bits hold";
}

TEST(HarnessAnswer, ThatMakesNoSenseIsRefusedByName) {
  const front::RunReport report = asked(
      [](submission::Harness&) { submission::Harness::refuse_answer("choose", "returns run 7, and there are 3"); });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::invalid_argument);
  EXPECT_THAT(report.failure->message, testing::HasSubstr("choose returns run 7, and there are 3"));
}

}  // namespace
}  // namespace shardlings::grading
