#include "grading/verdict/one_cause.h"

#include <gtest/gtest.h>

namespace shardlings::grading::verdict {
namespace {

class OneCauseTest : public testing::Test {
 protected:
  CaseVerdict& add_case() { return cases_.emplace_back(); }
  /// A check that has failed; `text` is empty where the report says it otherwise.
  static void add(CaseVerdict& kase, const std::string& check, const std::string& cause, const std::string& text) {
    CheckVerdict& verdict = kase.checks.emplace_back();
    verdict.id = check;
    verdict.passed = false;
    verdict.found = "found";
    verdict.diagnosis = cause;
    verdict.diagnosis_text = text;
  }
  std::string cause(std::size_t kase, std::size_t check = 0) const { return cases_[kase].checks[check].diagnosis; }

  std::vector<CaseVerdict> cases_;
};

TEST_F(OneCauseTest, IsThatOfTheFirstCaseThatNamesOne) {
  add(add_case(), "output", "", "");
  add(add_case(), "output", "twice", "Summed twice.");
  add(add_case(), "output", "stale", "Never updated.");
  add(add_case(), "output", "twice", "Summed twice.");
  keep_one_cause(cases_);
  EXPECT_EQ(cause(0), "");
  EXPECT_EQ(cause(1), "twice");
  EXPECT_EQ(cause(2), "");
  EXPECT_EQ(cases_[2].checks[0].diagnosis_text, "");
  EXPECT_EQ(cases_[2].checks[0].found, "found") << "what was found stays";
  EXPECT_EQ(cause(3), "twice");
}

TEST_F(OneCauseTest, IsEachChecksOwn) {
  add(add_case(), "output", "twice", "Summed twice.");
  add(cases_[0], "time", "waits", "It waits.");
  add(add_case(), "output", "waits", "It waits.");
  add(cases_[1], "time", "waits", "It waits.");
  keep_one_cause(cases_);
  EXPECT_EQ(cause(0, 1), "waits");
  EXPECT_EQ(cause(1, 0), "");
  EXPECT_EQ(cause(1, 1), "waits");
}

TEST_F(OneCauseTest, WhatHasNoSentenceNamesNothing) {
  add(add_case(), "output", "invalid_argument", "");
  add(add_case(), "output", "twice", "Summed twice.");
  add(add_case(), "output", "invalid_argument", "");
  keep_one_cause(cases_);
  EXPECT_EQ(cause(0), "invalid_argument");
  EXPECT_EQ(cause(1), "twice");
  EXPECT_EQ(cause(2), "invalid_argument");
}

}  // namespace
}  // namespace shardlings::grading::verdict
