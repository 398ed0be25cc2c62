#include "grading/judge/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace shardlings::grading {
namespace {

using judge::Formula;
using judge::named;
using testing::ElementsAre;

// The checks of the manifest below. What they find is what the case says.
SHARDLINGS_CHECK(output) {
  check.exactly("answer", check.kase().integer("answer"), Formula<Count>(6) * 7, "points", {"puzzle.cpp", 12});
  check.detail("a detail");
  check.diagnose("wrong_answer");
}
SHARDLINGS_CHECK(memory) {
  check.at_most("peak", Bytes(check.kase().integer("peak")), 2 * named("K", Bytes(1024)));
}
SHARDLINGS_CHECK(time) {
  check.at_least("rest", 1, Formula<Count>(1), "rests");
}
/// As many expectations as the case says, of nothing or of something.
SHARDLINGS_CHECK(blind) {
  check.equal("data", std::vector<double>(), 0.0);
  for (int i = 0; i < check.kase().integer("answer"); ++i) check.at_least("rest", 1, Formula<Count>(1), "rests");
}
SHARDLINGS_CHECK(broken) {
  throw std::runtime_error("no reference");
}

/// Nothing but exceptions is caught.
std::string catching(const std::function<void()>& check) {
  try {
    check();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

class JudgeTest : public testing::Test {
 protected:
  JudgeTest() {
    manifest_.id = "07_seven";
    manifest_.number = 7;
    manifest_.checks = {{"memory", cases::CheckKind::memory, "", 30, {}},
                        {"output", cases::CheckKind::output, "", 40, {}},
                        {"time", cases::CheckKind::time, "", 30, {"output"}}};
    manifest_.diagnoses = {{"wrong_answer", "Think again."}};
  }
  void add_case(double answer, double peak = 0) {
    cases::Case kase;
    kase.name = "case " + std::to_string(cases_.size());
    kase.numbers = {{"answer", answer}, {"peak", peak}};
    cases_.push_back(kase);
    wire::Result result;
    result.ending = wire::Ending::finished;
    result.report.ranks.resize(1);
    results_.push_back(result);
  }
  void fail_run(std::size_t kase, front::FailureKind kind, const std::string& message) {
    results_[kase].ending = wire::Ending::failed;
    results_[kase].explanation = message;
    results_[kase].report.failure = front::Failure{kind, 0, message, "puzzle.cpp", 31, Nanos(0)};
  }
  verdict::Verdict verdict() {
    run::CaseRuns runs(cases_);
    for (std::size_t i = 0; i < results_.size(); ++i) runs.set_result(i, results_[i]);
    judge::Judge judge(manifest_, runs, catching);
    for (const cases::CheckSpec& spec : manifest_.checks) {
      for (std::size_t i = 0; i < runs.size(); ++i) judge.verdict_of(spec.id, i);
    }
    return judge.verdict();
  }

  cases::Manifest manifest_;
  std::vector<cases::Case> cases_;
  std::vector<wire::Result> results_;
};

/// Rank 0 calls this operation at puzzle.cpp:18.
void call(wire::Result& result, const char* operation) {
  front::RankTrace& trace = result.report.ranks[0].trace;
  front::Event event;
  event.kind = front::EventKind::operation;
  event.name = static_cast<decltype(event.name)>(trace.names.size());
  event.at = {"/a/puzzle.cpp", 18};
  trace.names.emplace_back(operation);
  trace.events.push_back(event);
}

TEST_F(JudgeTest, RefusesNumbersOnTheHostOnceTheResultIsRight) {
  add_case(42);
  add_case(41);
  for (wire::Result& result : results_) call(result, "read");
  const verdict::Verdict refused = verdict();
  const verdict::CheckVerdict& right = refused.cases[0].checks[1];
  EXPECT_EQ(right.passed, false);
  EXPECT_EQ(right.found, "rank 0 called read() once");
  EXPECT_EQ(right.where.file, "puzzle.cpp");
  EXPECT_EQ(right.where.line, 18);
  EXPECT_EQ(refused.cases[1].checks[1].found, "41 points") << "what is wrong comes first";
  manifest_.host_reads = true;
  EXPECT_EQ(verdict().cases[0].checks[1].passed, true);
}

TEST_F(JudgeTest, RefusesProductsThatThePuzzleDoesNotList) {
  add_case(42);
  call(results_[0], "add");
  EXPECT_EQ(verdict().cases[0].checks[1].passed, true);
  call(results_[0], "partial_attention_backward_add");
  manifest_.products = {cases::Product::matmul, cases::Product::attention};
  const verdict::CheckVerdict refused = verdict().cases[0].checks[1];
  EXPECT_EQ(refused.passed, false);
  EXPECT_EQ(refused.found, "rank 0 called partial_attention_backward_add() once");
  EXPECT_EQ(refused.where.line, 18);
  EXPECT_EQ(refused.expected, "right results by the calls of the lesson");
  manifest_.products.push_back(cases::Product::partial_attention);
  EXPECT_EQ(verdict().cases[0].checks[1].passed, true);
}

TEST_F(JudgeTest, RefusesBarriersWherePuzzlesHaveNoNeedOfThem) {
  manifest_.checks[2].kind = cases::CheckKind::communication;
  add_case(42);
  EXPECT_EQ(verdict().cases[0].checks[2].passed, true);
  call(results_[0], "barrier");
  results_[0].report.ranks[0].trace.events.back().kind = front::EventKind::collective;
  const verdict::CheckVerdict refused = verdict().cases[0].checks[2];
  EXPECT_EQ(refused.passed, false);
  EXPECT_EQ(refused.found, "rank 0 called barrier() once");
  EXPECT_EQ(refused.where.line, 18);
  manifest_.barriers = true;
  EXPECT_EQ(verdict().cases[0].checks[2].passed, true);
}

TEST_F(JudgeTest, RefusesTheStoreWherePuzzlesHaveNoNeedOfIt) {
  for (const auto& [name, kind] :
       {std::pair{"store.write", front::EventKind::copy}, std::pair{"store.read_number", front::EventKind::wait}}) {
    results_.clear();
    add_case(42);
    call(results_[0], name);
    results_[0].report.ranks[0].trace.events.back().kind = kind;
    manifest_.store = false;
    const verdict::CheckVerdict refused = verdict().cases[0].checks[1];
    EXPECT_EQ(refused.passed, false);
    EXPECT_EQ(refused.found, std::string("rank 0 called ") + name + "() once");
    manifest_.store = true;
    EXPECT_EQ(verdict().cases[0].checks[1].passed, true);
  }
}

TEST_F(JudgeTest, RefusesSurvivorsWhereNoRankDies) {
  add_case(42);
  call(results_[0], "survivors");
  results_[0].report.ranks[0].trace.events.back().kind = front::EventKind::collective;
  const verdict::CheckVerdict refused = verdict().cases[0].checks[1];
  EXPECT_EQ(refused.passed, false);
  EXPECT_EQ(refused.found, "rank 0 called survivors() once");
  manifest_.survivors = true;
  EXPECT_EQ(verdict().cases[0].checks[1].passed, true);
}

TEST_F(JudgeTest, WallsAreThoseOfCasesThatWereRun) {
  add_case(42);
  add_case(42);
  results_[0].walls.own_process = true;
  EXPECT_FALSE(verdict().walls.own_process) << "they did not stand in the second case";
  results_[1].ending = wire::Ending::not_run;
  EXPECT_TRUE(verdict().walls.own_process);
}

TEST_F(JudgeTest, EverythingHolds) {
  add_case(42);
  const verdict::Verdict all = verdict();
  EXPECT_TRUE(all.passed);
  EXPECT_EQ(all.points, 100);
  EXPECT_EQ(all.status, verdict::Status::graded);
  EXPECT_THAT(all.diagnoses, ElementsAre()) << "a check that holds has no diagnosis";
}

TEST_F(JudgeTest, FailureHasFormulaPlaceAndDiagnosis) {
  add_case(41);
  const verdict::CheckVerdict output = verdict().cases[0].checks[1];
  EXPECT_EQ(output.passed, false);
  EXPECT_EQ(output.expected, "answer: 42 points = 6 x 7");
  EXPECT_EQ(output.found, "41 points");
  EXPECT_EQ(output.where.line, 12);
  EXPECT_EQ(output.diagnosis_text, "Think again.");
  EXPECT_THAT(output.details, ElementsAre("a detail"));
}

TEST_F(JudgeTest, ACheckThatHasFoundNothingToLookAtFails) {
  manifest_.checks = {{"blind", cases::CheckKind::memory, "", 30, {}}};
  add_case(0);
  add_case(1);
  for (wire::Result& result : results_) result.outputs["data"].complete = true;
  const verdict::Verdict judged = verdict();
  const verdict::CheckVerdict& blind = judged.cases[0].checks[0];
  EXPECT_EQ(blind.passed, false);
  EXPECT_EQ(blind.expected, "numbers, bytes or times that this check can look at");
  EXPECT_EQ(blind.found, "none of them: nothing that this check looks for happened in this run");
  EXPECT_EQ(judged.cases[1].checks[0].passed, true);
  EXPECT_EQ(judged.points, 0);
}

TEST_F(JudgeTest, ACheckKeepsOneCause) {
  add_case(41);
  add_case(42);
  fail_run(1, front::FailureKind::deadlock, "deadlock: nobody can go on");
  const verdict::Verdict all = verdict();
  EXPECT_EQ(all.cases[0].checks[1].diagnosis, "wrong_answer");
  EXPECT_EQ(all.cases[1].checks[1].diagnosis, "") << "one mistake at a time";
  EXPECT_EQ(all.cases[1].checks[1].found, "deadlock: nobody can go on");
  EXPECT_THAT(all.diagnoses, ElementsAre("wrong_answer"));
}

TEST_F(JudgeTest, BudgetsAreReadable) {
  add_case(42, 3072);
  const verdict::CheckVerdict memory = verdict().cases[0].checks[0];
  EXPECT_EQ(memory.expected, "peak: at most 2 KiB (2048 B) = 2 K = 2 x 1024");
  EXPECT_EQ(memory.found, "3 KiB (3072 B) (+50 %)");
}

TEST_F(JudgeTest, BoundsAreKeptWhetherTheyHoldOrNot) {
  add_case(42, 3072);
  const verdict::Verdict all = verdict();
  const verdict::CheckVerdict& memory = all.cases[0].checks[0];
  ASSERT_EQ(memory.bounds.size(), 1U);
  EXPECT_EQ(memory.bounds[0].bound, 2048);
  EXPECT_EQ(memory.bounds[0].found, 3072);
  EXPECT_EQ(memory.bounds[0].relation, verdict::Bound::Relation::at_most);
  EXPECT_EQ(memory.bounds[0].of, verdict::Bound::Of::other);
  EXPECT_FALSE(memory.bounds[0].held);
  const verdict::CheckVerdict& output = all.cases[0].checks[1];
  ASSERT_EQ(output.bounds.size(), 1U);
  EXPECT_EQ(output.bounds[0].formula, "6 x 7");
  EXPECT_TRUE(output.bounds[0].held);
}

TEST_F(JudgeTest, CasesThatWereNotRunAreNotPassed) {
  add_case(42);
  add_case(42);
  fail_run(0, front::FailureKind::endless_loop, "endless loop: rank 1 repeats puzzle.cpp:31 for ever.");
  results_[1].ending = wire::Ending::not_run;
  results_[1].explanation = "this case was not run: two cases before it did not come to an end.";
  const verdict::Verdict all = verdict();
  EXPECT_FALSE(all.passed);
  EXPECT_EQ(all.points, 0);
  EXPECT_THAT(all.diagnoses, ElementsAre("endless_loop", "not_run"));
  const verdict::CheckVerdict& output = all.cases[1].checks[1];
  EXPECT_EQ(output.passed, false);
  EXPECT_EQ(output.found, "this case was not run: two cases before it did not come to an end.");
  EXPECT_NE(output.diagnosis_text, "");
}

TEST_F(JudgeTest, PointsOnlyForWhatHoldsOnEveryCase) {
  add_case(42, 100);
  add_case(42, 5000);
  const verdict::Verdict all = verdict();
  EXPECT_FALSE(all.passed);
  EXPECT_EQ(all.points, 70);
  EXPECT_EQ(all.checks[0].passed, false);
  EXPECT_EQ(all.cases[0].checks[0].passed, true);
}

TEST_F(JudgeTest, ABonusCostsNoPassAndAddsItsPoints) {
  manifest_.checks[0].bonus = true;  // memory
  add_case(42, 5000);
  const verdict::Verdict without = verdict();
  EXPECT_TRUE(without.passed);
  EXPECT_EQ(without.points, 70);
  EXPECT_EQ(without.max_points, 70);
  EXPECT_EQ(without.checks[0].passed, false);
  results_.clear(), cases_.clear();
  add_case(42, 100);
  EXPECT_EQ(verdict().points, 100);
  EXPECT_EQ(verdict().max_points, 70);
  results_.clear(), cases_.clear();
  add_case(1, 100);
  EXPECT_FALSE(verdict().passed) << "it makes up for nothing";
}

TEST_F(JudgeTest, DependentCheckIsBlocked) {
  add_case(42);
  add_case(1);
  const verdict::Verdict all = verdict();
  EXPECT_EQ(all.cases[0].checks[2].passed, true);
  EXPECT_EQ(all.cases[1].checks[2].passed, std::nullopt);
  EXPECT_EQ(all.cases[1].checks[2].blocked_by, "output");
  EXPECT_EQ(all.checks[2].passed, std::nullopt);
  EXPECT_EQ(all.checks[2].blocked_by, "output");
  EXPECT_EQ(all.points, 30);
}

TEST_F(JudgeTest, FailedRunFailsTheOutputAndBlocksTheRest) {
  add_case(42);
  fail_run(0, front::FailureKind::deadlock, "deadlock: nobody can go on\nrank 0 waits for rank 1");
  const verdict::Verdict all = verdict();
  const verdict::CheckVerdict& output = all.cases[0].checks[1];
  EXPECT_EQ(output.passed, false);
  EXPECT_EQ(output.found, "deadlock: nobody can go on");
  EXPECT_THAT(output.details, ElementsAre("rank 0 waits for rank 1"));
  EXPECT_EQ(output.where.line, 31);
  EXPECT_EQ(output.diagnosis, "deadlock");
  EXPECT_EQ(all.cases[0].checks[0].blocked_by, "output") << "though it does not say `after`";
  EXPECT_EQ(all.cases[0].failure, front::FailureKind::deadlock);
  EXPECT_EQ(all.status, verdict::Status::graded);
  EXPECT_EQ(all.points, 0);
}

TEST_F(JudgeTest, RunThatHasBegunHasPassedWhatIsAskedBeforeIt) {
  manifest_.checks[0].asked = cases::Asked::before;
  add_case(42);
  fail_run(0, front::FailureKind::deadlock, "deadlock");
  results_[0].ended_in = front::RunPart::measured;
  EXPECT_EQ(verdict().cases[0].checks[0].passed, true);
  EXPECT_EQ(verdict().cases[0].checks[1].passed, false);
  results_[0].ended_in = front::RunPart::before;
  EXPECT_EQ(verdict().cases[0].checks[0].found, "deadlock");
  EXPECT_EQ(verdict().cases[0].checks[1].blocked_by, "memory");
}

TEST_F(JudgeTest, RunThatEndsBehindItFailsWhatIsAskedThere) {
  manifest_.checks[2].asked = cases::Asked::behind;
  add_case(42);
  fail_run(0, front::FailureKind::exception, "thrown");
  results_[0].ended_in = front::RunPart::behind;
  EXPECT_EQ(verdict().cases[0].checks[2].found, "thrown");
  EXPECT_EQ(verdict().cases[0].checks[1].blocked_by, "time");
  results_[0].ended_in = front::RunPart::measured;
  EXPECT_EQ(verdict().cases[0].checks[2].blocked_by, "output");
}

TEST_F(JudgeTest, NotImplementedOnlyIfEveryCaseIs) {
  add_case(42);
  add_case(42);
  fail_run(0, front::FailureKind::not_implemented, "x");
  EXPECT_EQ(verdict().status, verdict::Status::graded);
  fail_run(1, front::FailureKind::not_implemented, "x");
  EXPECT_EQ(verdict().status, verdict::Status::not_implemented);
  EXPECT_FALSE(verdict().passed);
}

TEST_F(JudgeTest, NoCheckRanIsNeverAPass) {
  EXPECT_EQ(verdict().status, verdict::Status::no_check_ran);
  EXPECT_FALSE(verdict().passed);
  manifest_.checks.clear();
  add_case(42);
  EXPECT_FALSE(verdict().passed);
}

TEST_F(JudgeTest, GraderThatBreaksHasJudgedNothing) {
  manifest_.checks = {{"broken", cases::CheckKind::output, "", 10, {}},
                      {"memory", cases::CheckKind::memory, "", 30, {}},
                      {"time", cases::CheckKind::time, "", 30, {"broken"}}};
  add_case(42);
  const verdict::Verdict all = verdict();
  EXPECT_EQ(all.status, verdict::Status::not_judged);
  EXPECT_FALSE(all.passed);
  EXPECT_EQ(all.points, 0);
  EXPECT_EQ(all.checks[0].passed, std::nullopt);
  EXPECT_THAT(all.reason, testing::StartsWith("the check 'broken' of the grader broke (no reference). That is a fault "
                                              "of the puzzle"));
  EXPECT_EQ(all.cases[0].checks[1].passed, true) << "what does not rest on it";
  EXPECT_EQ(all.checks[2].reason, all.reason);
}

TEST_F(JudgeTest, RunThatTheMachineDidNotMakeIsNotJudged) {
  add_case(42);
  add_case(41);
  add_case(42);
  results_[2].ending = wire::Ending::machine_fault;
  results_[2].explanation = "no threads.";
  const verdict::Verdict all = verdict();
  EXPECT_EQ(all.status, verdict::Status::not_judged);
  EXPECT_EQ(all.reason, "no threads.");
  EXPECT_EQ(all.checks[1].passed, false) << "one case is enough to know that";
  EXPECT_EQ(all.checks[1].reason, "");
  EXPECT_EQ(all.checks[0].passed, std::nullopt);
  EXPECT_EQ(all.checks[0].reason, "no threads.");
  for (const verdict::CheckVerdict& check : all.cases[2].checks) EXPECT_EQ(check.passed, std::nullopt);
}

TEST_F(JudgeTest, SourceThatDidNotBuild) {
  const verdict::Verdict all = judge::did_not_build(manifest_, "error: oops");
  EXPECT_EQ(all.status, verdict::Status::did_not_build);
  EXPECT_FALSE(all.passed);
  EXPECT_EQ(all.max_points, 100);
  EXPECT_EQ(all.build_log, "error: oops");
  EXPECT_EQ(all.checks[1].passed, false);
  EXPECT_EQ(all.checks[0].blocked_by, "output");
}

}  // namespace
}  // namespace shardlings::grading
