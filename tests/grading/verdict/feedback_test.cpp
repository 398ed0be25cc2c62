#include "grading/verdict/feedback.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlings::grading::verdict {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// An announced case and two hidden ones, the same things wrong with all; whatever must not be told says "secret".
Verdict sample() {
  Verdict verdict;
  verdict.puzzle = "50_sum";
  verdict.status = Status::graded;
  verdict.points = 60;
  verdict.max_points = 100;
  verdict.diagnoses = {"twice", "secret_mistake"};
  verdict.checks = {{{"output", cases::CheckKind::output, "The sum", 60, {}}, true, 60, ""},
                    {{"memory", cases::CheckKind::memory, "Little memory", 40, {}}, false, 0, ""}};
  for (const char* name : {"2 ranks", "3 ranks, hidden", "4 ranks, hidden"}) {
    CaseVerdict& kase = verdict.cases.emplace_back();
    kase.kase.name = name;
    kase.kase.hidden = verdict.cases.size() > 1;
    kase.ending = wire::Ending::finished;
    const std::string word = kase.kase.hidden ? "secret" : "open";
    kase.stdout_text = kase.explanation = kase.reproduce = word;
    kase.shown.emplace_back().what.label = word;
    kase.counters.resize(2);
    kase.counters[0].peak_file = word;
    kase.kase.numbers[word] = 7;
    CheckVerdict& output = kase.checks.emplace_back();
    output.id = "output";
    output.passed = true;
    CheckVerdict& memory = kase.checks.emplace_back();
    memory.id = "memory";
    memory.passed = false;
    memory.expected = memory.found = memory.diagnosis_text = word;
    memory.details = {word};
    memory.where = {word, 3};
    memory.diagnosis = kase.kase.hidden ? "secret_mistake" : "twice";
    memory.bounds.emplace_back().what = word;
  }
  return verdict;
}

TEST(Feedback, FullIsEverything) {
  Verdict verdict = sample();
  conceal(verdict, {});
  EXPECT_EQ(to_json(verdict), to_json(sample()));
}

TEST(Feedback, LawIsTheNameAndWhatDoesNotHold) {
  Verdict verdict = sample();
  conceal(verdict, {Feedback::law, {}});
  EXPECT_THAT(to_json(verdict), Not(HasSubstr("secret")));
  ASSERT_EQ(verdict.cases.size(), 3U);
  EXPECT_EQ(verdict.cases[0].explanation, "open");
  EXPECT_EQ(verdict.cases[1].kase.name, "3 ranks, hidden");
  EXPECT_EQ(verdict.cases[1].checks[0].passed, true);
  EXPECT_EQ(verdict.cases[1].checks[1].passed, false);
  EXPECT_EQ(verdict.cases[1].checks[1].expected, "Little memory");
  EXPECT_THAT(verdict.diagnoses, ElementsAre("twice"));
  EXPECT_EQ(verdict.points, 60);
}

TEST(Feedback, LawOfARunThatDidNotEnd) {
  Verdict verdict = sample();
  verdict.cases[2].ending = wire::Ending::crashed;
  conceal(verdict, {Feedback::law, {}});
  EXPECT_EQ(verdict.cases[2].checks[1].expected, "a run that comes to its end");
  EXPECT_EQ(verdict.cases[2].explanation, "");
}

TEST(Feedback, NoneLeavesTheOutcomeAlone) {
  Verdict verdict = sample();
  conceal(verdict, {Feedback::none, {}});
  EXPECT_THAT(to_json(verdict), Not(HasSubstr("secret")));
  EXPECT_THAT(to_json(verdict), Not(HasSubstr("ranks, hidden"))) << "not even names";
  ASSERT_EQ(verdict.cases.size(), 1U);
  EXPECT_EQ(verdict.concealed, 2);
  EXPECT_EQ(verdict.points, 60);
  EXPECT_EQ(verdict.checks[1].passed, false);
  EXPECT_EQ(verdict_from_json(to_json(verdict)).concealed, 2);
}

TEST(Feedback, IsChosenForEachCase) {
  Verdict verdict = sample();
  const FeedbackRules rules{Feedback::none, {{"4 ranks, hidden", Feedback::law}}};
  EXPECT_FALSE(rules.tells_all());
  conceal(verdict, rules);
  ASSERT_EQ(verdict.cases.size(), 2U);
  EXPECT_EQ(verdict.cases[1].kase.name, "4 ranks, hidden");
  EXPECT_EQ(verdict.concealed, 1);
}

}  // namespace
}  // namespace shardlings::grading::verdict
