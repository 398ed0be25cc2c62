#include "cli/system/unfinished_build.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli/folder.h"

namespace shardlings::cli::system {
namespace {

class UnfinishedBuild : public testing::Test {
 protected:
  UnfinishedBuild() {
    folder_.write("build/.lock", "");
    project_.build = folder_ / "build";
  }
  ~UnfinishedBuild() override {
    if (lock_ >= 0) close(lock_);
  }
  /// As the start script does while it builds.
  void hold_lock() {
    lock_ = open((folder_ / "build/.lock").c_str(), O_RDWR);
    ASSERT_EQ(flock(lock_, LOCK_EX | LOCK_NB), 0);
  }
  /// How often it was said that one waits; `then` is what happens meanwhile.
  int said(const std::function<void(int)>& then) {
    int times = 0;
    wait_until_built(project_, "02_b", [&](const std::string& text) {
      EXPECT_EQ(text, "this puzzle is still being built, which happens only once");
      then(++times);
    });
    return times;
  }

  TemporaryFolder folder_;
  Project project_;
  int lock_ = -1;
};

TEST_F(UnfinishedBuild, WaitsForThePuzzleAndNotForOthers) {
  hold_lock();
  folder_.write("build/puzzles/01_a.built", "");
  EXPECT_EQ(said([&](int times) {
              if (times == 2) folder_.write("build/puzzles/02_b.built", "");
            }),
            2);
  EXPECT_EQ(said([](int) {}), 0);
}

TEST_F(UnfinishedBuild, DoesNotWaitWhereNobodyBuilds) {
  EXPECT_EQ(said([](int) {}), 0);
  hold_lock();
  EXPECT_EQ(said([&](int) { flock(lock_, LOCK_UN); }), 1) << "the build has failed";
}

// Who builds anew after a change leaves what is there in its place until the new one is.
TEST_F(UnfinishedBuild, IsTheFirstOneUntilOneHasComeToItsEnd) {
  EXPECT_FALSE(is_first_built(project_.build)) << "nobody builds";
  hold_lock();
  EXPECT_TRUE(is_first_built(project_.build));
  folder_.write("build/.built", "");
  EXPECT_FALSE(is_first_built(project_.build));
  EXPECT_TRUE(is_being_built(project_.build));
}

}  // namespace
}  // namespace shardlings::cli::system
