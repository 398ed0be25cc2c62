// `./shardlings predict` as a program.

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/terminal.h"

namespace shardlings::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kPredicted = "09_data_parallel";

TEST(Predict, JudgesAnswersAtOnceAndCountsThem) {
  const Learner shardlings;
  const Answer right = shardlings({"predict", "09", "sent=5.7KB", "time=13.7ms"});
  EXPECT_EQ(right.status, 0);
  EXPECT_THAT(right.out, AllOf(HasSubstr("sent: 5.566 KiB (5700 B): right"), HasSubstr("time: 13.7 ms: right"),
                               HasSubstr("Predicted so far: 2 of 3."), Not(HasSubstr("5712"))));
  EXPECT_THAT(shardlings({"list", "--all"}).out, HasSubstr("predicted 2 of 3"));

  const Answer wrong = shardlings({"predict", "09", "sent=2856"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.out,
              AllOf(HasSubstr("Too small. That is the reduce-scatter alone"), HasSubstr("Predicted so far: 2 of 3")))
      << "what was right stays right";
}

TEST(Predict, TellsTheNumbersOnlyWhereTheyMayBeSeen) {
  const Learner shardlings;
  const std::string formula = "2 (N-1)/N x gradients = 2 x 3/4 x 3808";
  EXPECT_THAT(shardlings({"predict", "09"}).out, AllOf(HasSubstr("How many bytes does each rank send"),
                                                       HasSubstr("sent=NUMBER"), Not(HasSubstr(formula))));
  EXPECT_THAT(shardlings({"predict", "09", "--reveal"}).out, HasSubstr(formula));
  shardlings.solve(kPredicted);
  ASSERT_EQ(shardlings({"run", "09"}).status, 0);
  EXPECT_THAT(shardlings({"predict", "09"}).out, HasSubstr(formula));
  EXPECT_THAT(shardlings({"predict", "09", "sent=1"}).out, HasSubstr(formula));
}

TEST(Predict, RefusesWhatIsNoAnswer) {
  const Learner shardlings;
  const auto refused = [&](const std::string& answer) {
    const Answer result = shardlings({"predict", "09", "sent=5.7KB", answer});
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.out, "");
    return result.err;
  };
  EXPECT_THAT(refused("send=3"), HasSubstr("It asks for sent, time, peak."));
  EXPECT_THAT(refused("3"), HasSubstr("\"3\" is no answer: one is given as in sent=NUMBER."));
  EXPECT_THAT(refused("time=3KB"), HasSubstr("those are bytes"));
  EXPECT_THAT(refused("sent=1"), HasSubstr("two answers for sent"));
  EXPECT_THAT(shardlings({"list", "--all"}).out, Not(HasSubstr("predicted"))) << "nothing of it counts";
}

TEST(Predict, AnswersProgramsInJson) {
  const Learner shardlings;
  const json asked = json::parse(shardlings({"predict", "09", "--json"}).out);
  EXPECT_EQ(asked["case"], "4 ranks");
  EXPECT_EQ(asked["questions"][0]["id"], "sent");
  EXPECT_FALSE(asked["questions"][0].contains("value"));

  const Answer answer = shardlings({"predict", "09", "--json", "sent=2856", "peak=17KiB"});
  EXPECT_EQ(answer.status, 1);
  const json result = json::parse(answer.out);
  EXPECT_EQ(result["predicted"], 1);
  EXPECT_EQ(result["to_predict"], 3);
  EXPECT_EQ(result["questions"][0]["answer"]["right"], false);
  EXPECT_THAT(result["questions"][0]["answer"]["why"], HasSubstr("reduce-scatter alone"));
  EXPECT_EQ(result["questions"][2]["answer"]["value"], 17408);
  EXPECT_TRUE(result["questions"][2]["predicted"]);

  const json revealed = json::parse(shardlings({"predict", "09", "--json", "--reveal"}).out);
  EXPECT_EQ(revealed["questions"][0]["value"], 5712);
}

TEST(PredictAfter, IsForThoseWhoHavePassed) {
  const Learner shardlings;
  const Answer early = shardlings({"predict", "09", "--after"});
  EXPECT_EQ(early.status, 1);
  EXPECT_EQ(early.out, "");
  EXPECT_THAT(early.err, AllOf(HasSubstr("09_data_parallel is not solved yet"), HasSubstr("./shardlings run 09")));
  EXPECT_EQ(shardlings({"predict", "09", "--after", "latency=1ms"}).status, 1);
  EXPECT_THAT(shardlings({"list", "--all"}).out, Not(HasSubstr("answered"))) << "nothing of it counts";
  const Answer revealed = shardlings({"predict", "09", "--after", "--reveal"});
  EXPECT_EQ(revealed.status, 0);
  EXPECT_THAT(revealed.out, HasSubstr("alpha"));
}

TEST(PredictAfter, JudgesAndCountsWhatTheLessonAnswers) {
  const Learner shardlings;
  shardlings.solve(kPredicted);
  EXPECT_THAT(shardlings({"run", "09"}).out, HasSubstr("./shardlings predict 09 --after"));
  EXPECT_THAT(shardlings({"predict", "09", "--after"}).out,
              AllOf(HasSubstr("latency in ms"), HasSubstr("latency=NUMBER"), Not(HasSubstr("(64 - 1)"))));

  const Answer wrong = shardlings({"predict", "09", "--after", "latency=1.21ms"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.out, AllOf(HasSubstr("Too small. That is one all-reduce for the whole block."),
                               HasSubstr("Answered so far: 0 of 1."), Not(HasSubstr("(64 - 1)"))));
  const Answer right = shardlings({"predict", "09", "--after", "latency=14.5ms"});
  EXPECT_EQ(right.status, 0);
  EXPECT_THAT(right.out, AllOf(HasSubstr("right"), HasSubstr("ms = "), HasSubstr("Answered so far: 1 of 1."),
                               HasSubstr("./shardlings explain 09 --after")));
  EXPECT_THAT(shardlings({"list", "--all"}).out, AllOf(HasSubstr("answered 1 of 1"), Not(HasSubstr("predicted"))));

  const json list = json::parse(shardlings({"list", "--json"}).out);
  const auto entry = std::find_if(list["puzzles"].begin(), list["puzzles"].end(),
                                  [](const json& puzzle) { return puzzle["id"] == kPredicted; });
  ASSERT_NE(entry, list["puzzles"].end());
  EXPECT_EQ((*entry)["answered"], 1);
  EXPECT_EQ((*entry)["to_answer"], 1);
}

TEST(PredictAfter, TellsTheNumberToWhoHasTriedThreeTimes) {
  const Learner shardlings;
  shardlings.solve(kPredicted);
  ASSERT_EQ(shardlings({"run", "09"}).status, 0);
  for (int tries = 0; tries < 2; ++tries) {
    EXPECT_THAT(shardlings({"predict", "09", "--after", "latency=1ms"}).out, Not(HasSubstr("(64 - 1)")));
  }
  EXPECT_THAT(shardlings({"predict", "09", "--after", "latency=1ms"}).out, HasSubstr("(64 - 1)"));
}

TEST(PredictAfter, AnswersProgramsInJson) {
  const Learner shardlings;
  shardlings.solve(kPredicted);
  ASSERT_EQ(shardlings({"run", "09"}).status, 0);
  const json result = json::parse(shardlings({"predict", "09", "--after", "--json", "latency=14.5ms"}).out);
  EXPECT_EQ(result["answered"], 1);
  EXPECT_EQ(result["to_answer"], 1);
  EXPECT_TRUE(result["questions"][0]["answered"]);
  EXPECT_EQ(result["questions"][0]["value"], 14'515'200);
}

TEST(Predict, InATerminalAsksOneAfterTheOther) {
  const Learner learner;
  Terminal terminal(learner, {"predict", "09"});
  ASSERT_TRUE(terminal.shows("sent in bytes"));
  terminal.type("a lot\n");
  ASSERT_TRUE(terminal.shows("that is no number"));
  for (int tries = 0; tries < 3; ++tries) {
    ASSERT_TRUE(terminal.shows("sent in bytes"));
    terminal.type("7616\n");
    ASSERT_TRUE(terminal.shows("Of N parts"));
  }
  ASSERT_TRUE(terminal.shows("Go on with the next one."));
  ASSERT_TRUE(terminal.shows("time in ms"));
  terminal.type("skip\n");
  ASSERT_TRUE(terminal.shows("peak in bytes"));
  terminal.type("17KiB\n");
  ASSERT_TRUE(terminal.shows("right"));
  EXPECT_EQ(terminal.finish(), 0);
  EXPECT_THAT(terminal.everything(), AllOf(HasSubstr("Predicted so far: 1 of 3."), Not(HasSubstr("2 x 3/4"))));

  Terminal again(learner, {"predict", "09"});
  ASSERT_TRUE(again.shows("sent in bytes"));
  again.type("\n");
  ASSERT_TRUE(again.shows("time in ms"));
  again.type("13.7\n");
  ASSERT_TRUE(again.shows("predicted before"));
  EXPECT_EQ(again.finish(), 0);
  EXPECT_THAT(again.everything(), HasSubstr("Predicted so far: 2 of 3."));
}

}  // namespace
}  // namespace shardlings::cli
