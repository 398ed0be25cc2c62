// `./shardlings quiz` and `./shardlings explain-back` as programs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include <nlohmann/json.hpp>

#include "cli/terminal.h"

namespace shardlings::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Quiz : public testing::Test {
 protected:
  Quiz() {
    std::filesystem::create_directories(shardlings_.folder() / "docs");
    std::filesystem::copy(SHARDLINGS_SOURCE "/docs/quiz", shardlings_.folder() / "docs/quiz");
  }
  json asked(const std::string& chapter, const std::string& seed) const {
    return json::parse(shardlings_({"quiz", chapter, "--seed", seed, "--json"}).out);
  }
  /// What is right, from the explanation of a wrong answer.
  json answered(const std::string& chapter, const std::string& seed, const json& question) const {
    const Answer answer = shardlings_(
        {"quiz", chapter, "--seed", seed, "--json", question["id"].get<std::string>() + "=1000000000000000"});
    EXPECT_EQ(answer.status, 1);
    const json all = json::parse(answer.out);
    for (const json& one : all["questions"]) {
      if (one["id"] == question["id"]) return one;
    }
    return {};
  }

  const Learner shardlings_;
};

TEST_F(Quiz, OfEveryChapterAsksFiveToTenQuestionsThatCanBeAnswered) {
  for (const char* chapter : {"1", "2", "3", "4", "5", "6", "7", "8"}) {
    const json quiz = asked(chapter, "3");
    EXPECT_GE(quiz["questions"].size(), 5u) << chapter;
    EXPECT_LE(quiz["questions"].size(), 10u) << chapter;
    std::vector<std::string> command = {"quiz", chapter, "--seed", "3"};
    std::set<std::string> ids;
    for (const json& question : quiz["questions"]) {
      EXPECT_THAT(question["text"].get<std::string>(), Not(HasSubstr("{"))) << "a number is missing";
      EXPECT_FALSE(question.contains("value")) << "before an answer";
      EXPECT_TRUE(ids.insert(question["id"]).second);
      const json right = answered(chapter, "3", question);
      command.push_back(question["id"].get<std::string>() + "=" + std::to_string(right["value"].get<std::int64_t>()) +
                        (right["unit"] == "ns" ? "ns" : ""));
    }
    const Answer all = shardlings_(command);
    EXPECT_EQ(all.status, 0) << all.out << all.err;
  }
  EXPECT_THAT(shardlings_({"list", "--all"}).out, AllOf(HasSubstr("quiz 5 of 5"), HasSubstr("\n0 of ")));
}

TEST_F(Quiz, DrawsItsNumbersFromTheSeed) {
  EXPECT_EQ(asked("3", "7"), asked("3", "7"));
  std::set<std::string> texts;
  for (const char* seed : {"1", "2", "3", "4", "5"}) texts.insert(asked("3", seed)["questions"][0]["text"]);
  EXPECT_GT(texts.size(), 1u);
}

TEST_F(Quiz, ExplainsEachAnswer) {
  const Answer wrong = shardlings_({"quiz", "5", "gpipe=1"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.out, AllOf(HasSubstr("gpipe: 1 micro-batch"), HasSubstr("All micro-batches go forward"),
                               HasSubstr("Answered so far: 0 of 7.")));
}

TEST_F(Quiz, RefusesWhatItDoesNotHave) {
  EXPECT_THAT(shardlings_({"quiz", "9"}).err, HasSubstr("There is one for chapters 1, 2, 3, 4, 5, 6, 7, 8, and post"));
  EXPECT_THAT(shardlings_({"quiz", "5", "bubble=1"}).err, HasSubstr("The quiz of chapter 5 does not ask for"));
  EXPECT_EQ(shardlings_({"quiz", "post", "99"}).status, 2);
}

TEST_F(Quiz, HidesFiveErrorsInAPost) {
  const json post = json::parse(shardlings_({"quiz", "post", "--json"}).out);
  EXPECT_EQ(post["wrong"], 5);
  EXPECT_THAT(shardlings_({"quiz", "post"}).out, Not(HasSubstr("ZeRO-1 divides the optimizer's states alone")));
  EXPECT_EQ(shardlings_({"quiz", "post", "1"}).status, 1);
  const Answer found = shardlings_({"quiz", "post", "3"});
  EXPECT_EQ(found.status, 0);
  EXPECT_THAT(found.out, HasSubstr("ZeRO-1 divides the optimizer's states alone"));
  EXPECT_THAT(shardlings_({"list"}).out, HasSubstr("Wrong claims found in the post: 1 of 5."));
}

TEST_F(Quiz, AsksInATerminal) {
  Terminal terminal(shardlings_, {"quiz", "5"});
  ASSERT_TRUE(terminal.shows("gpipe in micro-batches:"));
  terminal.type("\n");
  ASSERT_TRUE(terminal.shows("The answer is")) << terminal.everything();
  ASSERT_TRUE(terminal.shows("in_flight in micro-batches:"));
  Terminal post(shardlings_, {"quiz", "post"});
  ASSERT_TRUE(post.shows("wrong claim (0 of 5 found):"));
  post.type("2\n");
  ASSERT_TRUE(post.shows("this claim is right"));
  post.type("3\n");
  ASSERT_TRUE(post.shows("wrong claim (1 of 5 found):"));
  post.type("\n");
  EXPECT_EQ(post.finish(), 0);
}

constexpr const char* kExplained = "20_one_f_one_b";

TEST(ExplainBack, AsksAboutTheLearnersOwnRun) {
  const Learner shardlings;
  EXPECT_THAT(shardlings({"explain-back", "20"}).err, HasSubstr("./shardlings run 20"));
  shardlings.solve(kExplained);
  ASSERT_EQ(shardlings({"run", "20"}).status, 0);
  const json asked = json::parse(shardlings({"explain-back", "20", "--json"}).out);
  ASSERT_EQ(asked["questions"].size(), 3u) << asked;
  EXPECT_FALSE(asked["questions"][0].contains("value"));

  std::vector<std::string> command = {"explain-back", "20"};
  for (const json& question : asked["questions"]) {
    const std::string id = question["id"];
    const json wrong = json::parse(shardlings({"explain-back", "20", "--json", id + "=1000000"}).out);
    for (const json& one : wrong["questions"]) {
      if (one["id"] == id) command.push_back(id + "=" + std::to_string(one["value"].get<int>()));
    }
  }
  const Answer right = shardlings(command);
  EXPECT_EQ(right.status, 0) << right.out << right.err;
  EXPECT_THAT(right.out, HasSubstr("Explained so far: 3 of 3."));
}

TEST(ExplainBack, IsPartOfTheVerdictUntilTheFileChanges) {
  const Learner shardlings;
  shardlings.solve(kExplained);
  ASSERT_EQ(shardlings({"run", "20"}).status, 0);
  EXPECT_FALSE(json::parse(shardlings({"run", "20", "--json"}).out).contains("explained")) << "nothing was asked";
  const Answer wrong = shardlings({"explain-back", "20", "micro_batch=1000"});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.out, HasSubstr("Which micro-batch, counted from 0, is at work")) << "of this run";
  const json verdict = json::parse(shardlings({"run", "20", "--json"}).out);
  EXPECT_EQ(verdict["explained"], (json{{"right", 0}, {"asked", 3}}));
  shardlings.blunder(kExplained, "gpipe");
  EXPECT_FALSE(json::parse(shardlings({"run", "20", "--json"}).out).contains("explained"));
}

}  // namespace
}  // namespace shardlings::cli
