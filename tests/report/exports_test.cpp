#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/exports/gradescope.h"
#include "report/exports/junit.h"
#include "report/golden.h"
#include "report/verdicts.h"

namespace shardlings::report {
namespace {

using shardlings::testing::expect_golden;
using ::testing::HasSubstr;
using ::testing::Not;
namespace samples = shardlings::testing;

TEST(Junit, ReadsAsInTheGoldenFile) {
  expect_golden("junit_failed.xml", to_junit(samples::verdict_with_failure(samples::pipeline_case(2, 2, false))));
}

TEST(Junit, WhatDidNotBuildIsAnErrorAndNoPass) {
  const std::string xml = to_junit(samples::unbuilt_verdict());
  EXPECT_THAT(xml, HasSubstr("tests=\"1\" failures=\"0\" errors=\"1\""));
  EXPECT_THAT(xml, HasSubstr("was not declared in this scope"));
}

TEST(Junit, NoCheckIsAnError) {
  EXPECT_THAT(to_junit(grading::verdict::Verdict{}), HasSubstr("errors=\"1\""));
}

TEST(Junit, EscapesWhatXmlForbids) {
  const std::string xml = to_junit(samples::hostile_verdict());
  EXPECT_THAT(xml, Not(HasSubstr("\x1b")));
  EXPECT_THAT(xml, Not(HasSubstr("\xff")));
}

TEST(Junit, WhatCouldNotBeJudgedIsAnErrorAndNoFailure) {
  const std::string xml = to_junit(samples::not_judged_verdict());
  EXPECT_THAT(xml, HasSubstr("tests=\"10\" failures=\"1\" errors=\"5\""));
  EXPECT_THAT(xml, HasSubstr("<error message=\"not judged, by no fault of the submission\">the program could not be "
                             "started: no threads &amp; no processes.</error>"));
  grading::verdict::Verdict nothing = samples::not_judged_verdict();
  nothing.cases.clear();
  EXPECT_THAT(to_junit(nothing), HasSubstr("tests=\"1\" failures=\"0\" errors=\"1\""));
}

TEST(Junit, WhatFailsOnACaseThatIsNotShownIsAFailure) {
  grading::verdict::Verdict verdict = samples::verdict_with_failure(samples::pipeline_case(2, 2, false));
  verdict.cases.clear();
  verdict.concealed = 1;
  EXPECT_THAT(to_junit(verdict), HasSubstr("[hidden]\"><failure message=\"it does not hold on a hidden case\""));
}

// Any score would be a grade.
TEST(Gradescope, HasNoScoreForWhatCouldNotBeJudged) {
  const auto json = nlohmann::json::parse(to_gradescope(samples::not_judged_verdict()));
  EXPECT_FALSE(json.contains("score"));
  EXPECT_FALSE(json.contains("tests"));
  EXPECT_THAT(json["output"].get<std::string>(), HasSubstr("no threads & no processes"));
  EXPECT_THAT(json["output"].get<std::string>(), HasSubstr("no fault of the submission"));
}

TEST(Gradescope, SaysThatAHiddenCaseFailsAndNoMore) {
  grading::verdict::Verdict verdict = samples::verdict_with_failure(samples::pipeline_case(2, 2, false));
  verdict.cases.clear();
  verdict.concealed = 1;
  EXPECT_THAT(to_gradescope(verdict), HasSubstr("It does not hold on a hidden case"));
}

TEST(Exports, NameNoCommandThatRepeatsASecret) {
  grading::verdict::Verdict verdict = samples::verdict_with_failure(samples::pipeline_case(2, 2, false));
  EXPECT_THAT(to_gradescope(verdict), HasSubstr("repeat: "));
  verdict.cases[0].reproduce.clear();
  EXPECT_THAT(to_gradescope(verdict), Not(HasSubstr("repeat: ")));
  EXPECT_THAT(to_junit(verdict), Not(HasSubstr("repeat: ")));
}

TEST(Gradescope, ReadsAsInTheGoldenFile) {
  expect_golden("gradescope_failed.json",
                to_gradescope(samples::verdict_with_failure(samples::pipeline_case(2, 2, false))));
}

TEST(Gradescope, PointsAddUp) {
  for (const auto& verdict : {samples::deadlock_verdict(), samples::unbuilt_verdict(), samples::hostile_verdict(),
                              samples::passed_verdict(samples::layers_case(2))}) {
    const auto json = nlohmann::json::parse(to_gradescope(verdict));
    int score = 0;
    int most = 0;
    for (const auto& test : json["tests"]) {
      score += test["score"].get<int>();
      most += test["max_score"].get<int>();
      EXPECT_EQ(test["status"] == "passed", test["score"] == test["max_score"]);
    }
    EXPECT_EQ(json["score"], score);
    EXPECT_EQ(most, verdict.max_points);
  }
}

TEST(Gradescope, TellsWhyNothingCouldBeRun) {
  const auto json = nlohmann::json::parse(to_gradescope(samples::unbuilt_verdict()));
  EXPECT_EQ(json["score"], 0);
  EXPECT_THAT(json["output"].get<std::string>(), HasSubstr("was not declared"));
}

}  // namespace
}  // namespace shardlings::report
