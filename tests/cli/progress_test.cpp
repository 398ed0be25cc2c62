#include "cli/learner/progress.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/folder.h"
#include "cli/learner/outcome.h"

namespace shardlings::cli {
namespace {

using testing::HasSubstr;

void solve(const std::string& folder, const std::string& id) {
  learner::update_progress(folder, [&](learner::Progress& progress) { progress.puzzles[id].solved_hash = "abc"; });
}

TEST(Progress, IsReadAsItWasWritten) {
  const TemporaryFolder folder;
  learner::update_progress(folder.path(), [](learner::Progress& progress) {
    learner::PuzzleProgress& puzzle = progress.puzzles["09_data_parallel"];
    puzzle = {"abc", 100, "def", false, 40, {{"not_averaged", "Summed, not averaged."}}, {"h1", "h2"}};
    puzzle.predicted = {{{"peak", {2, true}}, {"sent", {3, false}}}, 3};
    puzzle.answered = {{{"scale", {1, true}}}, 2};
    puzzle.records = {{"room for 3", 38}};
    puzzle.bests = {{"room for 3", {38, 1000, 200, 125'000}}};
    puzzle.attempts = 7;
    puzzle.solution_shown = true;
  });
  const learner::PuzzleProgress read = learner::load_progress(folder.path()).of("09_data_parallel");
  EXPECT_EQ(read.solved_hash, "abc");
  EXPECT_EQ(read.points, 100);
  EXPECT_EQ(read.last_hash, "def");
  EXPECT_FALSE(read.last_passed);
  EXPECT_EQ(read.last_points, 40);
  ASSERT_EQ(read.diagnoses.size(), 1u);
  EXPECT_EQ(read.diagnoses[0].id, "not_averaged");
  EXPECT_EQ(read.diagnoses[0].text, "Summed, not averaged.");
  EXPECT_THAT(read.hints, testing::ElementsAre("h1", "h2"));
  EXPECT_EQ(read.attempts, 7);
  EXPECT_TRUE(read.solution_shown);
  EXPECT_EQ(read.predicted.asked, 3);
  EXPECT_EQ(read.predicted.right(), 1);
  EXPECT_EQ(read.predicted.answers.at("peak").tries, 2);
  EXPECT_FALSE(read.predicted.answers.at("sent").right);
  EXPECT_EQ(read.answered.asked, 2);
  EXPECT_TRUE(read.answered.was_right("scale"));
  EXPECT_THAT(read.records, testing::ElementsAre(testing::Pair("room for 3", 38)));
  EXPECT_EQ(read.bests.at("room for 3"), (learner::CaseRecord{38, 1000, 200, 125'000}));
}

TEST(Progress, WrittenByHandHasNoImpossibleNumbers) {
  const TemporaryFolder folder;
  folder.write("progress.json", R"({"format": 1, "puzzles": {"09": {
    "points": -1000000000000000000, "last_points": 1e300, "attempts": -5, "questions": -7,
    "answered": {"asked": 1, "answers": {"a": {"right": true, "tries": -1}, "b": {"right": true}}}}}})");
  const learner::PuzzleProgress read = learner::load_progress(folder.path()).of("09");
  EXPECT_EQ(read.points, 0);
  EXPECT_EQ(read.last_points, 200);
  EXPECT_EQ(read.attempts, 0);
  EXPECT_EQ(read.predicted.asked, 0);
  EXPECT_EQ(read.answered.answers.at("a").tries, 0);
  EXPECT_EQ(read.answered.right(), 1) << "of one question";
}

TEST(Progress, KeepsTheEarliestEndOfOpenCasesThatPassed) {
  using grading::verdict::Bound;
  const auto run_of = [](bool passed, std::int64_t end) {
    const auto bound = [&](Bound::Relation relation, std::int64_t limit) {
      return Bound{Bound::Of::other, -1, "time", relation, limit, end, grading::verdict::Unit::ns, "", "", true};
    };
    grading::verdict::CheckVerdict check;
    check.bounds = {bound(Bound::Relation::at_most, 50), bound(Bound::Relation::at_least, 28)};
    grading::verdict::CheckVerdict other;
    other.bounds = {bound(Bound::Relation::at_most, 50)};
    grading::verdict::Verdict verdict;
    verdict.passed = passed;
    verdict.cases.resize(3);
    for (std::size_t i = 0; i < 3; ++i) verdict.cases[i].kase.name = i == 0 ? "open" : i == 1 ? "hidden" : "other";
    verdict.cases[1].kase.hidden = true;
    for (std::size_t i = 0; i < 3; ++i) verdict.cases[i].checks = {i == 2 ? other : check};
    return verdict;
  };
  learner::PuzzleProgress progress;
  learner::remember_run(progress, run_of(false, 30), "a");
  EXPECT_TRUE(progress.records.empty());
  for (const std::int64_t end : {40, 33, 38}) learner::remember_run(progress, run_of(true, end), "b");
  EXPECT_THAT(progress.records, testing::ElementsAre(testing::Pair("open", 33)));
}

TEST(Progress, KeepsTheBestOfEachCounterOfCasesThatPassed) {
  const auto run_of = [](bool passed, std::int64_t peak) {
    grading::verdict::Verdict verdict;
    verdict.passed = passed;
    verdict.cases.resize(2);
    for (grading::verdict::CaseVerdict& kase : verdict.cases) {
      kase.counters.resize(2);
      kase.counters[1].peak = Bytes(peak);
      kase.counters[0].peak = Bytes(peak / 2);
    }
    verdict.cases[0].kase.name = "open";
    verdict.cases[1].kase.name = "hidden";
    verdict.cases[1].kase.hidden = true;
    return verdict;
  };
  learner::PuzzleProgress progress;
  learner::remember_run(progress, run_of(false, 10), "a");
  EXPECT_TRUE(progress.bests.empty());
  for (const std::int64_t peak : {400, 330, 380}) learner::remember_run(progress, run_of(true, peak), "b");
  ASSERT_EQ(progress.bests.size(), 1U);
  EXPECT_EQ(progress.bests.at("open").peak_bytes, 330);
  EXPECT_EQ(progress.bests.at("open").file, "b");
}

TEST(Progress, MixesNoRecordsOfACaseThatWasChangedAndBelievesNoneThatCannotBe) {
  cases::Manifest puzzle = small_puzzle(1, "open", "Open");
  puzzle.cases.resize(1);
  puzzle.cases[0].name = "open";
  const auto run_of = [&](std::int64_t end) {
    grading::verdict::Verdict verdict;
    verdict.passed = true;
    verdict.cases.resize(1);
    verdict.cases[0].kase = puzzle.cases[0];
    verdict.cases[0].counters.resize(1);
    verdict.cases[0].counters[0].end = Nanos(end);
    return verdict;
  };
  learner::PuzzleProgress progress;
  learner::remember_run(progress, run_of(30), "a");
  EXPECT_TRUE(learner::still_holds(progress.bests.at("open"), puzzle, "open"));
  EXPECT_FALSE(learner::still_holds(progress.bests.at("open"), puzzle, "another"));
  puzzle.cases[0].batch += 1;
  EXPECT_FALSE(learner::still_holds(progress.bests.at("open"), puzzle, "open"));
  learner::remember_run(progress, run_of(50), "b");
  EXPECT_EQ(progress.bests.at("open").end_ns, 50) << "30 was of another case";
  progress.bests.at("open").bound_ns = 51;
  EXPECT_FALSE(learner::still_holds(progress.bests.at("open"), puzzle, "open"));
}

TEST(Progress, OfAnOlderVersionHasPredictedNothing) {
  const TemporaryFolder folder;
  folder.write("progress.json",
               R"({"format": 1, "puzzles": {"01_a": {"solved": "abc", "points": 100, "hints": ["h1"]}}})");
  const learner::Progress progress = learner::load_progress(folder.path());
  EXPECT_EQ(progress.warning, "");
  EXPECT_TRUE(progress.of("01_a").solved());
  EXPECT_EQ(progress.of("01_a").predicted.right(), 0);
  EXPECT_EQ(progress.of("01_a").predicted.asked, 0);
  EXPECT_EQ(progress.of("01_a").answered.asked, 0);
}

TEST(Progress, OfAnOlderVersionKeepsItsPredictions) {
  const TemporaryFolder folder;
  folder.write("progress.json", R"({"format": 1, "puzzles": {"01_a": {"questions": 3,
      "predictions": {"peak": {"tries": 2, "right": true}}}}})");
  const learner::PastAnswers predicted = learner::load_progress(folder.path()).of("01_a").predicted;
  EXPECT_EQ(predicted.asked, 3);
  EXPECT_TRUE(predicted.was_right("peak"));
}

TEST(Progress, WithoutAFileThereIsNoneAndNoWarning) {
  const TemporaryFolder folder;
  const learner::Progress progress = learner::load_progress(folder / "not there");
  EXPECT_TRUE(progress.puzzles.empty());
  EXPECT_EQ(progress.warning, "");
}

class DamagedProgress : public testing::TestWithParam<const char*> {};

TEST_P(DamagedProgress, IsReplacedByTheOneBefore) {
  const TemporaryFolder folder;
  solve(folder.path(), "01_a");
  solve(folder.path(), "02_b");  // makes the backup that knows 01_a
  folder.write("progress.json", GetParam());
  const learner::Progress progress = learner::load_progress(folder.path());
  EXPECT_TRUE(progress.of("01_a").solved());
  EXPECT_THAT(progress.warning, HasSubstr("damaged"));
}

TEST_P(DamagedProgress, IsKeptAsideByTheNextWrite) {
  const TemporaryFolder folder;
  folder.write("progress.json", GetParam());
  solve(folder.path(), "03_c");
  EXPECT_EQ(folder.read("progress.damaged.json"), GetParam());
  EXPECT_TRUE(learner::load_progress(folder.path()).of("03_c").solved());
  EXPECT_EQ(learner::load_progress(folder.path()).warning, "");
}

INSTANTIATE_TEST_SUITE_P(Progress, DamagedProgress,
                         testing::Values("{\"format\": 1, \"puzzles\": {\"01_a\": {\"sol", "\x01\xff garbage", "", "[]",
                                         "{\"format\": 99, \"puzzles\": {}}",
                                         "{\"format\": 1, \"puzzles\": {\"01_a\": {\"solved\": 7}}}"));

/// It would be read for half a minute by every command.
TEST(Progress, ThatIsFarTooLargeIsKeptAsideUnread) {
  const TemporaryFolder folder;
  folder.write("progress.json", "{\"format\": 1, \"puzzles\": {}}" + std::string(9 << 20, ' '));
  EXPECT_THAT(learner::load_progress(folder.path()).warning, HasSubstr("damaged"));
  solve(folder.path(), "03_c");
  EXPECT_TRUE(std::filesystem::exists(folder / "progress.damaged.json"));
  EXPECT_EQ(learner::load_progress(folder.path()).warning, "");
}

/// Writes until it is killed.
[[noreturn]] void write_forever(const std::string& folder) {
  for (int i = 0;; ++i) {
    learner::update_progress(folder, [i](learner::Progress& progress) {
      progress.puzzles["01_a"].solved_hash = "abc";
      progress.puzzles["01_a"].hints.assign(static_cast<std::size_t>(i % 500), "0123456789abcdef");
    });
  }
}

TEST(Progress, SurvivesAKillAtAnyMoment) {
  const TemporaryFolder folder;
  solve(folder.path(), "01_a");
  for (int round = 0; round < 20; ++round) {
    const pid_t writer = fork();
    if (writer == 0) write_forever(folder.path());
    usleep(static_cast<useconds_t>(500 + 700 * round));
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    const learner::Progress progress = learner::load_progress(folder.path());
    ASSERT_EQ(progress.warning, "") << "round " << round;
    ASSERT_TRUE(progress.of("01_a").solved()) << "round " << round;
  }
}

TEST(Progress, TwoWritersLoseNothing) {
  const TemporaryFolder folder;
  const auto count = [&](const std::string& id) {
    for (int i = 0; i < 25; ++i)
      learner::update_progress(folder.path(), [&](learner::Progress& p) { ++p.puzzles[id].points; });
  };
  const pid_t other = fork();
  if (other == 0) {
    count("01_a");
    _exit(0);
  }
  count("02_b");
  waitpid(other, nullptr, 0);
  EXPECT_EQ(learner::load_progress(folder.path()).of("01_a").points, 25);
  EXPECT_EQ(learner::load_progress(folder.path()).of("02_b").points, 25);
}

TEST(Standing, FollowsTheFileAndTheLastRun) {
  learner::PuzzleProgress puzzle;
  EXPECT_EQ(learner::standing(puzzle, "a"), learner::Standing::untouched);
  puzzle.last_hash = "a";
  EXPECT_EQ(learner::standing(puzzle, "a"), learner::Standing::started);
  puzzle.solved_hash = "b";
  EXPECT_EQ(learner::standing(puzzle, "b"), learner::Standing::solved);
  EXPECT_EQ(learner::standing(puzzle, "c"), learner::Standing::changed);
  EXPECT_EQ(learner::standing(puzzle, "a"), learner::Standing::broken);
  puzzle.last_passed = true;
  EXPECT_EQ(learner::standing(puzzle, "a"), learner::Standing::solved);
}

}  // namespace
}  // namespace shardlings::cli
