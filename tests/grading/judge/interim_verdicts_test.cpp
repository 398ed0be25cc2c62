// What is in the verdict's file while cases still run, and would stay there if the grader were killed.
#include "grading/judge/interim_verdicts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "base/file.h"
#include "grading/verdict/verdict.h"

namespace shardlings::grading {
namespace {

/// Three cases of which each has come to its end, and one check, which all of them pass.
class InterimVerdictsTest : public testing::Test {
 protected:
  InterimVerdictsTest()
      : runs_(std::vector<cases::Case>(3)), judge_(manifest(), runs_, [](const auto& check) {
          check();
          return std::string();
        }) {
    options_.verdict = (std::filesystem::temp_directory_path() / ("interim-" + std::to_string(getpid()))).string();
    wire::Result result;
    result.ending = wire::Ending::finished;
    result.report.ranks.resize(1);
    for (std::size_t i = 0; i < runs_.size(); ++i) runs_.set_result(i, result);
  }
  ~InterimVerdictsTest() override { std::filesystem::remove(options_.verdict); }

  static const cases::Manifest& manifest() {
    static const cases::Manifest manifest = [] {
      cases::Manifest made;
      made.id = "07_seven";
      made.checks = {{"interim", cases::CheckKind::output, "", 100, {}}};
      return made;
    }();
    return manifest;
  }
  /// How many cases of the file are judged; nothing if there is no file.
  std::optional<int> judged_in_file() const {
    const auto text = read_file(options_.verdict);
    if (!text) return std::nullopt;
    int judged = 0;
    for (const verdict::CaseVerdict& kase : verdict::verdict_from_json(*text).cases)
      judged += kase.checks[0].passed == true;
    return judged;
  }
  /// Waits until the file says so: the test's own limit of time ends a wait in vain.
  void wait_for(int judged) const {
    while (judged_in_file() != judged) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

  judge::GraderOptions options_;
  run::CaseRuns runs_;
  judge::Judge judge_;
};

SHARDLINGS_CHECK(interim) {
  check.at_least("rest", 1, judge::Formula<Count>(1), "rests");
}

TEST_F(InterimVerdictsTest, KeepEachCaseWhileOthersRun) {
  judge::InterimVerdicts interim(options_, judge_, runs_.size());
  EXPECT_EQ(judged_in_file(), std::nullopt);
  interim.judge_case(1);
  wait_for(1);
  interim.judge_case(0);
  wait_for(2);
}

TEST_F(InterimVerdictsTest, LeaveTheLastCaseToTheWholeVerdict) {
  {
    judge::InterimVerdicts interim(options_, judge_, runs_.size());
    for (std::size_t i = 0; i < runs_.size(); ++i) interim.judge_case(i);
  }
  EXPECT_NE(judged_in_file(), 3);
  EXPECT_TRUE(judge_.verdict().passed);
}

}  // namespace
}  // namespace shardlings::grading
