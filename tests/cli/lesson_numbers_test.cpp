// Numbers that answers of a lesson say in their own words.

#include "cli/author/lesson_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlings::cli::author {
namespace {

using grading::verdict::Predictions;
using grading::verdict::Question;
using grading::verdict::Unit;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kAfter =
    "# 01 A: after the pass\n\n## What it costs\n\n**1.** No answer: 7 ms.\n\n## Questions and answers\n\n"
    "**1.** How long?\n\nIt takes 27.5 ms, of 18.\n\n**2.** How much?\n\n21.5 kB\nin all.\n\n"
    "## Further reading\n\n**3.** Somebody, 90 pages.\n";

Question question(Unit unit, std::int64_t value, int answer = 1) {
  Question question;
  question.id = "it";
  question.unit = unit;
  question.counted = unit == Unit::count ? "tokens" : "";
  question.value = value;
  question.answer = answer;
  return question;
}

TEST(LessonNumbers, AnAnswerEndsWithTheNextQuestionOrTheSection) {
  EXPECT_THAT(answer_in(kAfter, 1),
              testing::AllOf(HasSubstr("27.5 ms"), Not(HasSubstr("21.5")), Not(HasSubstr("7 ms."))));
  EXPECT_THAT(answer_in(kAfter, 2), testing::AllOf(HasSubstr("21.5 kB"), Not(HasSubstr("Further"))));
  EXPECT_EQ(answer_in(kAfter, 3), "");
  EXPECT_EQ(answer_in("", 1), "");
}

TEST(LessonNumbers, OfBytesAndTimesHaveTheirUnit) {
  EXPECT_TRUE(says("in all 21.5 kB are sent", question(Unit::bytes, 21'504)));
  EXPECT_TRUE(says("13,908 bytes", question(Unit::bytes, 13'908)));
  EXPECT_TRUE(says("27.5\nms.", question(Unit::ns, 27'500'000)));
  EXPECT_FALSE(says("27.5", question(Unit::ns, 27'500'000)));
  EXPECT_FALSE(says("27.5 ms", question(Unit::ns, 28'500'000)));
  EXPECT_FALSE(says("27.5 kB", question(Unit::ns, 27'500'000)));
  EXPECT_FALSE(says("127.5 ms", question(Unit::ns, 27'500'000))) << "a number is read as a whole";
}

TEST(LessonNumbers, OfCountsStandAlone) {
  EXPECT_TRUE(says("take 16 in place of 7.", question(Unit::count, 16)));
  EXPECT_TRUE(says("take 16 in place of 7.", question(Unit::count, 7)));
  EXPECT_FALSE(says("take 16 in place of 7.", question(Unit::count, 6)));
  EXPECT_TRUE(says("at most 10,001 entries", question(Unit::count, 10'001)));
  EXPECT_TRUE(says("90 thousand tokens", question(Unit::count, 89'909)));
  EXPECT_FALSE(says("90 tokens", question(Unit::count, 89'909)));
}

TEST(LessonNumbers, OfPredictionsMayStandInASumWithoutTheirUnit) {
  const Question bytes = question(Unit::bytes, 20'000), time = question(Unit::ns, 27'500'000);
  EXPECT_FALSE(says("16,000 + 4000 = 20,000 on each rank", bytes));
  EXPECT_TRUE(says("16,000 + 4000 = 20,000 on each rank", bytes, UnitBeside::optional));
  EXPECT_TRUE(says("12 + 15.5 = 27.5", time, UnitBeside::optional)) << "in ms, as it is asked for";
  EXPECT_THAT(numbers_missing({"01_a", "small", {bytes, time}}, "it takes 27.5 ms"),
              ElementsAre(HasSubstr("the prediction it is 19.53 KiB (20000 B), and after.md")));
}

TEST(LessonNumbers, OfQuestionsMustBeInTheirAnswers) {
  const Predictions asked{"01_a",
                          "small",
                          {question(Unit::ns, 27'500'000), question(Unit::bytes, 21'504, 2),
                           question(Unit::bytes, 21'504, 1), question(Unit::count, 90, 3)}};
  EXPECT_THAT(answers_missing(asked, kAfter),
              ElementsAre(HasSubstr("the answer to question 1 of after.md does not say that number"),
                          HasSubstr("answered by question 3 of after.md, which has none of that number")));
  EXPECT_THAT(answers_missing({"01_a", "small", {question(Unit::ns, 27'500'000)}}, kAfter), IsEmpty());
}

}  // namespace
}  // namespace shardlings::cli::author
