#include "grading/verdict/prediction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace shardlings::grading::verdict {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Question sent() {
  Question question;
  question.id = "sent";
  question.text = "How many?";
  question.value = 1000;
  question.formula = "W";
  question.of = Question::Of::sent;
  question.rank = 1;
  question.mistakes = {{2000, "2 W", "Twice."}};
  return question;
}

Question calls() {
  Question question;
  question.id = "calls";
  question.unit = Unit::count;
  question.counted = "calls";
  question.value = 300;
  question.mistakes = {{301, "", "One more."}};
  return question;
}

/// Rank 0 has sent nothing, rank 1 so many bytes.
Verdict run_with(std::int64_t bytes) {
  Verdict verdict;
  CaseVerdict& kase = verdict.cases.emplace_back();
  kase.kase.name = "small";
  kase.counters.resize(2);
  kase.counters[1].traffic[front::TrafficKey{}].sent = Bytes(bytes);
  return verdict;
}

TEST(Prediction, OfAnAmountIsRightWithinAHundredth) {
  EXPECT_TRUE(is_within(1010, 1000, Unit::bytes, Written::rounded));
  EXPECT_TRUE(is_within(990, 1000, Unit::ns));
  EXPECT_FALSE(is_within(1010.1, 1000, Unit::bytes, Written::rounded));
  EXPECT_FALSE(is_within(989, 1000, Unit::ns));
  EXPECT_TRUE(is_within(0, 0, Unit::bytes));
  EXPECT_FALSE(is_within(1, 0, Unit::bytes, Written::rounded));
}

TEST(Prediction, OfFewBytesThatAreWrittenInFullIsRightExactly) {
  EXPECT_TRUE(is_within(12'820, 12'820, Unit::bytes));
  EXPECT_TRUE(is_within(12'820.4, 12'820, Unit::bytes)) << "a formula's third of a byte";
  EXPECT_FALSE(is_within(12'821, 12'820, Unit::bytes));
  EXPECT_TRUE(is_within(12'821, 12'820, Unit::bytes, Written::rounded));
  EXPECT_TRUE(is_within(100'999, 100'000, Unit::bytes));
}

TEST(Prediction, IsNotThatOfAMistakeWhoseNumberIsNearer) {
  Question question = sent();
  question.value = 12'820;
  question.mistakes = {{12'884, "", "Of N parts a rank keeps one."}};
  EXPECT_FALSE(is_right(question, 12'884));
  EXPECT_EQ(misconception_of(question, 12'884)->reason, "Of N parts a rank keeps one.");
  EXPECT_EQ(misconception_of(question, 12'860), nullptr) << "neither one nor the other";
  EXPECT_FALSE(is_right(question, 12'880, Written::rounded)) << "12.88KB";
  EXPECT_TRUE(is_right(question, 12'800, Written::rounded)) << "12.8KB";
  EXPECT_TRUE(is_right(question, 12'820));
  question.unit = Unit::ns;
  EXPECT_TRUE(is_right(question, 12'830));
  EXPECT_FALSE(is_right(question, 12'870));
}

TEST(Prediction, OfASmallCountIsRightExactly) {
  EXPECT_TRUE(is_within(300, 300, Unit::count));
  EXPECT_FALSE(is_within(301, 300, Unit::count));
  EXPECT_FALSE(is_within(998, 999, Unit::count));
  EXPECT_TRUE(is_within(90'000, 89'909, Unit::count));
  EXPECT_FALSE(is_within(91'000, 89'909, Unit::count));
}

TEST(Prediction, KnowsAMistakeByItsNumber) {
  const Question question = sent();
  ASSERT_NE(misconception_of(question, 2015), nullptr);
  EXPECT_EQ(misconception_of(question, 2015)->reason, "Twice.");
  EXPECT_EQ(misconception_of(question, 2025), nullptr);
}

TEST(Prediction, OfTwoMistakesTheNearerOneIsMeant) {
  Question question = sent();
  question.mistakes.push_back({2010, "2 W + 10", "Twice, and a little more."});
  EXPECT_EQ(misconception_of(question, 2004)->reason, "Twice.");
  EXPECT_EQ(misconception_of(question, 2006)->reason, "Twice, and a little more.");
  EXPECT_EQ(misconception_of(question, 2025)->reason, "Twice, and a little more.");
}

TEST(Prediction, IsComparedWithTheCounterThatItNames) {
  const CaseVerdict run = run_with(1000).cases[0];
  Question question = sent();
  EXPECT_EQ(measured(question, run), 1000);
  question.rank = 0;
  EXPECT_EQ(measured(question, run), 0);
  question.rank = -1;
  EXPECT_EQ(measured(question, run), 1000) << "the largest of all";
  question.rank = 2;
  EXPECT_EQ(measured(question, run), std::nullopt);
  EXPECT_EQ(measured(calls(), run), std::nullopt);
}

TEST(Prediction, IsSoundIfTheSolutionHasTheNumberAndMistakesAreFarFromIt) {
  Predictions asked{"01_a", "small", {sent(), calls()}};
  EXPECT_THAT(problems_of(asked, run_with(1000)), IsEmpty());
  EXPECT_THAT(problems_of(asked, run_with(1020)),
              ElementsAre("the prediction sent says 1000 B, and the solution's run has 1020 B"));
  EXPECT_THAT(problems_of(asked, run_with(1001)), ElementsAre(HasSubstr("the solution's run has 1001 B")));
  asked.questions[0].mistakes = {{1000, "", "No mistake."}};
  EXPECT_THAT(problems_of(asked, run_with(1000)), testing::Contains(HasSubstr("a mistake gives 1000 B, too near")));
  asked.questions[0].mistakes = {{1001, "", "Far enough."}};
  EXPECT_THAT(problems_of(asked, run_with(1000)), IsEmpty());
  asked.questions[0].mistakes = {{2000, "", "Twice."}, {2000, "", "Two of them."}};
  EXPECT_THAT(problems_of(asked, run_with(1000)),
              ElementsAre("the prediction sent: two mistakes give 1.953 KiB (2000 B)"));
  asked.questions[0].mistakes.clear();
  EXPECT_THAT(problems_of(asked, run_with(1000)), ElementsAre("the prediction sent knows no mistake"));
}

TEST(Prediction, HasTwoToFourQuestionsOfDifferentNamesOnACaseThatRan) {
  Predictions asked{"01_a", "small", {sent()}};
  EXPECT_THAT(problems_of(asked, run_with(1000)), ElementsAre(HasSubstr("1 numbers are asked for")));
  asked.questions.push_back(sent());
  EXPECT_THAT(problems_of(asked, run_with(1000)), ElementsAre("two predictions are called sent"));
  asked = {"01_a", "large", {sent(), calls()}};
  EXPECT_THAT(problems_of(asked, run_with(1000)), ElementsAre("the predictions' case \"large\" did not run"));
}

TEST(Prediction, AfterThePassIsOfNoRun) {
  Question later = calls();
  later.answer = 1;
  EXPECT_THAT(problems_of_after({"01_a", "small", {later}}), IsEmpty()) << "one is enough";
  EXPECT_THAT(problems_of_after({"01_a", "small", {}}), ElementsAre(HasSubstr("nothing is asked after the pass")));
  EXPECT_THAT(problems_of_after({"01_a", "small", {sent()}}), ElementsAre(HasSubstr("names a counter of the run")));
  later.mistakes.clear();
  EXPECT_THAT(problems_of_after({"01_a", "small", {later, later}}),
              ElementsAre("two predictions are called calls", "the prediction calls knows no mistake",
                          "the prediction calls knows no mistake"));
}

TEST(Prediction, IsReadAsItWasWritten) {
  const Predictions read = predictions_from_json(to_json(Predictions{"01_a", "small", {sent(), calls()}}));
  EXPECT_EQ(read.puzzle, "01_a");
  EXPECT_EQ(read.case_name, "small");
  ASSERT_EQ(read.questions.size(), 2U);
  const Question& question = read.questions[0];
  EXPECT_EQ(question.id, "sent");
  EXPECT_EQ(question.text, "How many?");
  EXPECT_EQ(question.unit, Unit::bytes);
  EXPECT_EQ(question.value, 1000);
  EXPECT_EQ(question.formula, "W");
  EXPECT_EQ(question.of, Question::Of::sent);
  EXPECT_EQ(question.rank, 1);
  ASSERT_EQ(question.mistakes.size(), 1U);
  EXPECT_EQ(question.mistakes[0].value, 2000);
  EXPECT_EQ(question.mistakes[0].formula, "2 W");
  EXPECT_EQ(question.mistakes[0].reason, "Twice.");
  EXPECT_EQ(read.questions[1].unit, Unit::count);
  EXPECT_EQ(read.questions[1].counted, "calls");
  EXPECT_THROW(predictions_from_json("{}"), std::runtime_error);
  EXPECT_THROW(predictions_from_json("grader: broken"), std::runtime_error);
}

}  // namespace
}  // namespace shardlings::grading::verdict
