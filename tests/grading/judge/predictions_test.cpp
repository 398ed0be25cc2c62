#include "grading/judge/predictions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace shardlings::grading::judge {
namespace {

using verdict::Question;
using verdict::When;

cases::Manifest manifest_with(const char* name, bool hidden) {
  cases::Manifest manifest;
  manifest.id = "01_a";
  cases::Case& kase = manifest.cases.emplace_back();
  kase.name = name;
  kase.hidden = hidden;
  kase.ranks = 4;
  return manifest;
}

void ask(PredictionContext& predict) {
  const Formula<Bytes> w = named("W", Bytes(100));
  const Formula<Count> n = named("N", Count(predict.kase().ranks));
  predict.sent("sent", 1, "How many?", n * w).unlike(w, "Once.").unlike(2 * w, "Twice.");
  predict.end("time", "When?", named("F", Nanos(7))).unlike(Nanos(1), "Earlier.");
  predict.count("calls", "How often?", n, "calls", Question::Of::forwards).unlike(n + 1, "Too often.");
}

TEST(Predictions, AreThoseOfTheGradersFormulasOnTheNamedCase) {
  register_predictions(When::before, "small", &ask);
  const verdict::Predictions asked = predictions_of(manifest_with("small", false), When::before);
  EXPECT_EQ(asked.puzzle, "01_a");
  EXPECT_EQ(asked.case_name, "small");
  ASSERT_EQ(asked.questions.size(), 3U);
  const Question& sent = asked.questions[0];
  EXPECT_EQ(sent.value, 400);
  EXPECT_EQ(sent.formula, "N W = 4 x 100");
  EXPECT_EQ(sent.unit, verdict::Unit::bytes);
  EXPECT_EQ(sent.of, Question::Of::sent);
  EXPECT_EQ(sent.rank, 1);
  ASSERT_EQ(sent.mistakes.size(), 2U);
  EXPECT_EQ(sent.mistakes[1].value, 200);
  EXPECT_EQ(sent.mistakes[1].reason, "Twice.");
  EXPECT_EQ(asked.questions[1].unit, verdict::Unit::ns);
  EXPECT_EQ(asked.questions[1].rank, -1);
  EXPECT_EQ(asked.questions[2].counted, "calls");
  EXPECT_EQ(asked.questions[2].mistakes[0].value, 5);
}

void ask_after(PredictionContext& predict) {
  predict.answer(2).number("more", "And with more?", named("F", Nanos(9))).unlike(Nanos(1), "Earlier.");
  predict.number("still", "And still?", named("W", Bytes(9))).unlike(Bytes(1), "Less.");
  predict.answer(3).number("last", "And at last?", named("W", Bytes(9))).unlike(Bytes(1), "Less.");
}

TEST(Predictions, AfterThePassNameTheLessonsAnswerAndStandBesideTheOthers) {
  register_predictions(When::before, "small", &ask);
  register_predictions(When::after, "small", &ask_after);
  EXPECT_EQ(predictions_of(manifest_with("small", false), When::before).questions.front().answer, 0);
  const verdict::Predictions asked = predictions_of(manifest_with("small", false), When::after);
  ASSERT_EQ(asked.questions.size(), 3U);
  EXPECT_EQ(asked.questions[0].value, 9);
  EXPECT_EQ(asked.questions[0].answer, 2);
  EXPECT_EQ(asked.questions[1].answer, 2) << "until another one is named";
  EXPECT_EQ(asked.questions[2].answer, 3);
}

TEST(Predictions, AreOfACaseThatLearnersKnow) {
  register_predictions(When::before, "small", &ask);
  EXPECT_THROW(predictions_of(manifest_with("small", true), When::before), std::runtime_error);
  EXPECT_THROW(predictions_of(manifest_with("large", false), When::before), std::runtime_error);
  register_predictions(When::before, "", nullptr);
  EXPECT_TRUE(predictions_of(manifest_with("small", false), When::before).questions.empty());
}

}  // namespace
}  // namespace shardlings::grading::judge
