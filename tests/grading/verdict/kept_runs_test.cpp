#include "grading/verdict/kept_runs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace shardlings::grading {
namespace {

namespace fs = std::filesystem;

class KeptRuns : public testing::Test {
 protected:
  KeptRuns() { fs::remove_all(build_); }
  ~KeptRuns() override { fs::remove_all(build_); }

  /// A graded folder whose verdict has so many points.
  std::string graded(int points) const {
    const fs::path folder = build_ / "graded" / std::to_string(points);
    fs::create_directories(folder);
    verdict::Verdict verdict;
    verdict.points = points;
    verdict.cases.resize(1);
    verdict.cases[0].kase.name = "one";
    std::ofstream(folder / "verdict.json") << to_json(verdict);
    verdict.cases[0].traces.resize(1);
    verdict::write_traces(verdict, folder / "traces.bin");
    return folder;
  }
  void keep(int points) const { verdict::keep_run(build_, "01_a", graded(points)); }
  /// -1: there is none.
  int points(verdict::KeptRun which) const {
    const auto verdict = verdict::load_run(build_, "01_a", which);
    return verdict ? verdict->points : -1;
  }

  fs::path build_ = testing::TempDir() + "kept_runs" + std::to_string(getpid());
};

TEST_F(KeptRuns, AreTheLastTwo) {
  EXPECT_EQ(points(verdict::KeptRun::last), -1);
  keep(10);
  EXPECT_EQ(points(verdict::KeptRun::last), 10);
  EXPECT_EQ(points(verdict::KeptRun::previous), -1);
  keep(20);
  keep(30);
  EXPECT_EQ(points(verdict::KeptRun::last), 30);
  EXPECT_EQ(points(verdict::KeptRun::previous), 20);
  EXPECT_FALSE(verdict::load_run(build_, "02_b", verdict::KeptRun::last));
}

TEST_F(KeptRuns, TheSameRunAgainIsNoOtherOne) {
  keep(10);
  const std::string same = graded(20);
  verdict::keep_run(build_, "01_a", same);
  verdict::keep_run(build_, "01_a", same);
  EXPECT_EQ(points(verdict::KeptRun::previous), 10);
  keep(20);
  EXPECT_EQ(points(verdict::KeptRun::previous), 10) << "graded anew, with the same result";
}

TEST_F(KeptRuns, OutliveWhatTheyWereMadeFrom) {
  keep(10);
  fs::remove_all(build_ / "graded");
  EXPECT_EQ(points(verdict::KeptRun::last), 10);
  EXPECT_EQ(verdict::load_run(build_, "01_a", verdict::KeptRun::last)->cases[0].traces.size(), 1U);
}

TEST_F(KeptRuns, TellWhichPuzzleWasRunLast) {
  EXPECT_EQ(verdict::last_puzzle(build_), "");
  const std::string first = graded(10);
  verdict::keep_run(build_, "01_a", first);
  verdict::keep_run(build_, "02_b", graded(20));
  EXPECT_EQ(verdict::last_puzzle(build_), "02_b");
  verdict::keep_run(build_, "01_a", first);
  EXPECT_EQ(verdict::last_puzzle(build_), "01_a") << "the same again";
}

TEST_F(KeptRuns, MayHaveNoTraces) {
  const std::string folder = graded(10);
  fs::remove(fs::path(folder) / "traces.bin");
  verdict::keep_run(build_, "01_a", folder);
  EXPECT_EQ(points(verdict::KeptRun::last), 10);
}

}  // namespace
}  // namespace shardlings::grading
