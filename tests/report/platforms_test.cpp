// The forms of courses' platforms: what each must hold, for every kind of verdict.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "report/exports/autolab.h"
#include "report/exports/classroom50.h"
#include "report/exports/gradescope.h"
#include "report/exports/prairielearn.h"
#include "report/exports/submitty.h"
#include "report/golden.h"
#include "report/platforms.h"
#include "report/verdicts.h"

namespace shardlings::report {
namespace {

using nlohmann::json;
using shardlings::testing::expect_golden;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
namespace samples = shardlings::testing;

grading::verdict::Verdict failed() {
  return samples::verdict_with_failure(samples::pipeline_case(2, 2, false));
}

TEST(PrairieLearn, ScoreIsTheShareOfThePoints) {
  const auto verdict = failed();
  const json result = json::parse(to_prairielearn(verdict));
  EXPECT_TRUE(result["gradable"].get<bool>());
  EXPECT_DOUBLE_EQ(result["score"].get<double>(), double(verdict.points) / verdict.max_points);
  EXPECT_GT(result["score"].get<double>(), 0);
  int points = 0;
  for (const json& test : result["tests"]) points += test["points"].get<int>();
  EXPECT_EQ(points, verdict.points);
}

TEST(PrairieLearn, ShowsTheTimelineAsAPicture) {
  const json result = json::parse(to_prairielearn(failed()));
  ASSERT_EQ(result["images"].size(), 1U);
  EXPECT_THAT(result["images"][0]["url"].get<std::string>(), StartsWith("data:image/svg+xml;base64,PHN2Zy"));
}

TEST(PrairieLearn, WhatDoesNotBuildCostsNoAttempt) {
  const json result = json::parse(to_prairielearn(samples::unbuilt_verdict()));
  EXPECT_FALSE(result["gradable"].get<bool>());
  EXPECT_THAT(result["format_errors"][0].get<std::string>(), HasSubstr("was not declared in this scope"));
}

TEST(PrairieLearn, StaysBelowAMegabyte) {
  auto verdict = failed();
  verdict.cases.front().checks[2].details.assign(100'000, "a line that is said again and again");
  const std::string text = to_prairielearn(verdict);
  EXPECT_LE(text.size(), 1'000'000U);
  EXPECT_THAT(text, HasSubstr("the rest is left out here"));
}

TEST(Autolab, EndsWithThePoints) {
  const auto verdict = failed();
  const auto lines = lines_of(to_autolab(verdict));
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(json::parse(lines.back()), json({{"scores", {{verdict.puzzle, verdict.points}}}}));
  const json marks = json::parse(lines[lines.size() - 2]);
  EXPECT_EQ(marks["_presentation"], "semantic");
  EXPECT_EQ(marks["Checks"].size(), verdict.checks.size());
}

TEST(Autolab, GivesNoPointsWhereNothingCouldBeJudged) {
  const auto lines = lines_of(to_autolab(samples::not_judged_verdict()));
  EXPECT_EQ(json::parse(lines.back())["scores"], json::object());
}

TEST(Submitty, SaysWhyAChecksDoesNotHold) {
  const json result = json::parse(to_submitty(failed()));
  EXPECT_EQ(result["data"]["status"], "failure");
  std::string all;
  for (const json& message : result["data"]["message"]) all += message["message"].get<std::string>() + "\n";
  EXPECT_THAT(all, HasSubstr("expected: "));
  EXPECT_EQ(json::parse(to_submitty(samples::passed_verdict(samples::layers_case(2))))["data"]["score"], 1.0);
}

TEST(Classroom50, PointsAreThoseOfTheTests) {
  const auto verdict = failed();
  const json result = json::parse(to_classroom50(verdict, samples::classroom_submission()));
  int score = 0, most = 0;
  for (const json& test : result["tests"]) {
    score += test["score"].get<int>();
    most += test["max-score"].get<int>();
  }
  EXPECT_EQ(result["score"], score);
  EXPECT_EQ(result["max-score"], most);
  EXPECT_GT(most, score);
  EXPECT_EQ(result["owner"], "ada");
}

TEST(Classroom50, SaysWhatTheCompilerSaysFirst) {
  auto verdict = failed();
  verdict.status = grading::verdict::Status::did_not_build;
  verdict.build_log =
      "In file included from puzzle.cpp:1:\npuzzle.cpp:7:3: error: no such thing\npuzzle.cpp:8: error: b\n";
  const json result = json::parse(to_classroom50(verdict, samples::classroom_submission()));
  for (const json& test : result["tests"]) {
    EXPECT_EQ(test["output"], "The source does not compile: puzzle.cpp:7:3: error: no such thing");
  }
  EXPECT_FALSE(result["tests"].empty());
}

TEST(Classroom50, GivesNoPointsWhereNothingCouldBeJudged) {
  const json result = json::parse(to_classroom50(samples::not_judged_verdict(), samples::classroom_submission()));
  EXPECT_EQ(result["max-score"], 0);
  EXPECT_TRUE(result["tests"].empty());
}

// What a submission prints reaches every form.
// A platform colours what it lists as passed or failed.
TEST(Platforms, ListABonusOnceItIsWon) {
  const auto open = samples::platform_texts(samples::verdict_with_bonus(false));
  for (const auto& [name, text] : samples::platform_texts(samples::verdict_with_bonus(true))) {
    const bool lists_what_holds = name != "submitty";
    if (lists_what_holds) {
      EXPECT_THAT(text, HasSubstr("As cheap as any plan")) << name;
    }
    EXPECT_THAT(open.at(name), Not(HasSubstr("\"failed\""))) << name;
    EXPECT_THAT(open.at(name), Not(HasSubstr("\"passed\": false"))) << name;
    EXPECT_THAT(open.at(name), Not(HasSubstr("\"passed\":false"))) << name;
    EXPECT_THAT(open.at(name), Not(HasSubstr("information"))) << name;
    if (name == "classroom50") continue;  // it has no text for the whole
    EXPECT_THAT(open.at(name), HasSubstr("Still open, for 25 points more: As cheap as any plan.")) << name;
  }
}

TEST(Platforms, GiveNoMoreThanAllPointsWhereTheyCannot) {
  const auto won = samples::verdict_with_bonus(true);
  EXPECT_EQ(nlohmann::json::parse(to_prairielearn(won))["score"], 1.0);
  EXPECT_EQ(nlohmann::json::parse(to_submitty(won))["data"]["score"], 1.0);
  EXPECT_EQ(nlohmann::json::parse(to_gradescope(won))["score"], won.max_points + 25);
}

TEST(Platforms, ShowNothingThatMovesACursor) {
  for (const auto& [name, text] : samples::platform_texts(samples::hostile_verdict())) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << name;
    EXPECT_THAT(text, Not(HasSubstr("\xff"))) << name;
    EXPECT_THAT(text, Not(HasSubstr("\\u001b"))) << name;
  }
}

// Gradescope's has a file of its own; the picture in PrairieLearn's is timeline_svg(), which has its own tests.
TEST(Platforms, ReadAsInTheGoldenFiles) {
  for (auto& [name, text] : samples::platform_texts(failed())) {
    if (name == "gradescope") continue;
    if (name != "prairielearn") {
      expect_golden(name + "_failed.txt", text);
      continue;
    }
    json result = json::parse(text);
    result.erase("images");
    expect_golden("prairielearn_failed.json", result.dump(2) + "\n");
  }
}

}  // namespace
}  // namespace shardlings::report
