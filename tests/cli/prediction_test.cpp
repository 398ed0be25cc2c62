#include "cli/learner/prediction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/error.h"

namespace shardlings::cli::learner {
namespace {

using grading::verdict::Predictions;
using grading::verdict::Unit;
using grading::verdict::Written;
using testing::HasSubstr;
using testing::Not;

Question question_in(Unit unit, std::int64_t value, const std::string& counted = "") {
  Question question;
  question.id = "it";
  question.unit = unit;
  question.value = value;
  question.counted = counted;
  return question;
}

std::string refusal(const std::string& answer, const Question& question) {
  try {
    number_in(answer, question);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "taken";
}

TEST(PredictedBytes, AreReadInAnyUsualUnit) {
  const Question bytes = question_in(Unit::bytes, 12800);
  for (const char* answer :
       {"12800", "12_800", "12800 B", "12800bytes", "12.8KB", "12.8 kb", "12.5KiB", " 12.5 kib "}) {
    EXPECT_EQ(number_in(answer, bytes), 12800) << answer;
  }
  EXPECT_EQ(number_in("2MiB", bytes), 2 * 1024 * 1024);
  EXPECT_EQ(number_in("2GB", bytes), 2e9);
  EXPECT_EQ(unit_asked(bytes), "bytes");
  EXPECT_EQ(echo_of(12800, bytes), "12.5 KiB (12800 B)");
}

TEST(PredictedBytes, AreExactOnlyWhereTheyAreWrittenInFull) {
  for (const char* answer : {"12800", "12800 bytes", "12_800 B"})
    EXPECT_EQ(written_as(answer), Written::in_full) << answer;
  for (const char* answer : {"12.8KB", "1.28e4", "1.3E4 bytes", "12.5 kib"}) {
    EXPECT_EQ(written_as(answer), Written::rounded) << answer;
  }
}

TEST(PredictedTimes, WithoutAUnitAreInTheOneThatIsAskedFor) {
  const Question ms = question_in(Unit::ns, 18'000'000), us = question_in(Unit::ns, 52'800);
  EXPECT_EQ(unit_asked(ms), "ms");
  EXPECT_EQ(unit_asked(us), "us");
  EXPECT_EQ(number_in("18", ms), 18e6);
  EXPECT_EQ(number_in("18", us), 18e3);
  for (const char* answer : {"18ms", "18000us", "18000 \xC2\xB5s", "0.018 s", "18000000ns"}) {
    EXPECT_EQ(number_in(answer, us), 18e6) << answer;
  }
  EXPECT_EQ(echo_of(18e6, ms), "18 ms");
}

TEST(PredictedTimes, OfMinutesAreAskedForInSeconds) {
  const Question interval = question_in(Unit::ns, 1'138'000'000'000), step = question_in(Unit::ns, 13'400'000'000);
  EXPECT_EQ(unit_asked(interval), "s");
  EXPECT_EQ(number_in("1138", interval), 1138e9);
  EXPECT_EQ(number_in("1138s", interval), 1138e9);
  EXPECT_EQ(unit_asked(step), "ms");
  EXPECT_EQ(number_in("13400", step), 13'400e6);
}

TEST(PredictedCounts, AreReadWithOrWithoutWhatIsCounted) {
  const Question calls = question_in(Unit::count, 3, "calls");
  for (const char* answer : {"3", "3 calls", "3 call"}) EXPECT_EQ(number_in(answer, calls), 3) << answer;
  EXPECT_EQ(echo_of(3, calls), "3 calls");
  EXPECT_EQ(echo_of(2.5, calls), "2.5 calls");
  EXPECT_EQ(echo_of(2, question_in(Unit::count, 3)), "2");
}

TEST(Predicted, WhatIsNoNumberOfTheUnitIsRefusedWithAnExample) {
  const Question bytes = question_in(Unit::bytes, 100), ms = question_in(Unit::ns, 18'000'000);
  EXPECT_EQ(refusal("much", bytes),
            "it=much: that is no number. It should be a number of bytes, such as 12.5KiB, 12.5KB or 12800.");
  EXPECT_THAT(refusal("18ms", bytes), HasSubstr("that is a time"));
  EXPECT_THAT(refusal("3KB", ms), HasSubstr("those are bytes. It should be a number of ms, such as 18ms"));
  EXPECT_THAT(refusal("3 pages", bytes), HasSubstr("there is no unit \"pages\""));
  EXPECT_THAT(refusal("12,5", bytes), HasSubstr("write 12.5"));
  EXPECT_THAT(refusal("nan", bytes), HasSubstr("no number"));
  EXPECT_THAT(refusal("", bytes), HasSubstr("no number"));
  EXPECT_THAT(refusal("3 ranks", question_in(Unit::count, 3, "calls")), HasSubstr("not what is counted"));
  EXPECT_THAT(refusal("rank 3", question_in(Unit::count, 3)), HasSubstr("It should be a number, such as 3."));
}

TEST(Predicted, AWrongNumberGetsTheReasonOfItsMistake) {
  Question question = question_in(Unit::bytes, 1000);
  question.mistakes = {{2000, "", "That is both halves."}};
  EXPECT_EQ(why_wrong("2010", question), "Too large. That is both halves.");
  EXPECT_EQ(why_wrong("500", question), "Too small.");
  EXPECT_EQ(why_wrong("3000", question), "Too large.");
  EXPECT_THAT(why_wrong("1KiB", question), HasSubstr("other thousands"));
  EXPECT_EQ(why_wrong("1024", question), "Too large.") << "nobody has counted in thousands";
  EXPECT_THAT(why_wrong("1008", question), HasSubstr("Too large. You are less than 1 % off"));
  Question which = question_in(Unit::count, 2);
  which.mistakes = {{3, "", "It saves nothing."}};
  EXPECT_EQ(why_wrong("3", which), "It saves nothing.");
  EXPECT_EQ(why_wrong("1", which), "It is another one.");
}

TEST(Predicted, OtherThousandsAreThoseOfTheUnitThatWasWritten) {
  constexpr std::int64_t kGib = 1024 * 1024 * 1024;
  const Question memory = question_in(Unit::bytes, 54'830 * kGib / 1000), sent = question_in(Unit::bytes, 50'000'000);
  for (const char* answer : {"54.83GB", "58.87GiB", "58.9 gib"}) {
    EXPECT_THAT(why_wrong(answer, memory), HasSubstr("other thousands")) << answer;
  }
  for (const char* answer : {"52.3GiB", "53.5GiB", "56.15GiB", "57.5GiB", "51.1GiB", "56.15GB", "63.2GB"}) {
    EXPECT_THAT(why_wrong(answer, memory), Not(HasSubstr("other thousands"))) << answer;
  }
  EXPECT_THAT(why_wrong("50MiB", sent), HasSubstr("other thousands"));
  EXPECT_THAT(why_wrong("47.7MB", sent), HasSubstr("other thousands"));
  EXPECT_EQ(why_wrong("45.5MiB", sent), "Too small.") << "a MiB is not as large";
  EXPECT_EQ(why_wrong("51.2MB", sent), "Too large.") << "the factor of a KB";
}

TEST(Predicted, TheNumberIsShownWithItsFormula) {
  Question question = question_in(Unit::bytes, 512);
  EXPECT_EQ(number_of(question), "512 B");
  question.formula = "2 W = 2 x 256";
  EXPECT_EQ(number_of(question), "512 B = 2 W = 2 x 256");
  question.formula = "outputs";
  EXPECT_EQ(number_of(question), "512 B") << "a mere name is no way to the number";
  Question which = question_in(Unit::count, 2);
  which.formula = "2";
  EXPECT_EQ(number_of(which), "2");
}

TEST(Predicted, WhatWasRightOnceStaysRightAndWhatIsNotAskedAnyMoreGoes) {
  Question sent = question_in(Unit::bytes, 1), peak = sent;
  sent.id = "sent";
  peak.id = "peak";
  PastAnswers past;
  const Predictions asked{"01_a", "small", {sent, peak}};
  note_answer(past, asked, "sent", false);
  note_answer(past, asked, "sent", true);
  note_answer(past, asked, "sent", false);
  note_answer(past, asked, "peak", false);
  EXPECT_EQ(past.right(), 1);
  EXPECT_EQ(past.answers.at("sent").tries, 3);
  EXPECT_EQ(past.asked, 2);
  note_answer(past, {"01_a", "small", {peak}}, "peak", true);
  EXPECT_EQ(past.right(), 1);
  EXPECT_EQ(past.asked, 1);
}

}  // namespace
}  // namespace shardlings::cli::learner
