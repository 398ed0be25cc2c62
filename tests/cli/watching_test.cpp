#include <poll.h>
#include <unistd.h>

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/error.h"
#include "cli/folder.h"
#include "cli/system/file_watcher.h"
#include "cli/system/job.h"
#include "cli/terminal/keys.h"
#include "cli/terminal/screen.h"

namespace shardlings::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Asks the watcher as `watch` does, until it has seen a change or so many rounds have passed.
bool notices(system::FileWatcher& watcher, int rounds = 100) {
  for (int i = 0; i < rounds; ++i) {
    pollfd wanted{watcher.descriptor(), POLLIN, 0};
    poll(&wanted, watcher.descriptor() >= 0 ? 1 : 0, 20);
    if (watcher.changed()) return true;
  }
  return false;
}

/// With the kernel's help and without.
class Watching : public testing::TestWithParam<bool> {
 protected:
  TemporaryFolder folder_;
  std::string file_ = folder_ / "puzzle.cpp";
};

TEST_P(Watching, NoticesASave) {
  folder_.write("puzzle.cpp", "1");
  system::FileWatcher watcher(file_, GetParam());
  EXPECT_FALSE(notices(watcher, 2));
  folder_.write("puzzle.cpp", "22");
  EXPECT_TRUE(notices(watcher));
  EXPECT_FALSE(notices(watcher, 2)) << "once for one save";
}

TEST_P(Watching, NoticesAReplacedFile) {
  folder_.write("puzzle.cpp", "1");
  system::FileWatcher watcher(file_, GetParam());
  folder_.write("puzzle.cpp~", "2");
  std::filesystem::rename(folder_ / "puzzle.cpp~", file_);
  EXPECT_TRUE(notices(watcher));
}

TEST_P(Watching, IsNotDisturbedByNeighbours) {
  folder_.write("puzzle.cpp", "1");
  system::FileWatcher watcher(file_, GetParam());
  folder_.write("README.md", "2");
  EXPECT_FALSE(notices(watcher, 3));
}

TEST_P(Watching, WaitsForAFileThatIsGone) {
  folder_.write("puzzle.cpp", "1");
  system::FileWatcher watcher(file_, GetParam());
  std::filesystem::remove(file_);
  EXPECT_FALSE(notices(watcher, 3));
  folder_.write("puzzle.cpp", "2");
  EXPECT_TRUE(notices(watcher));
}

TEST_P(Watching, FollowsAReplacedFolder) {
  folder_.write("p/puzzle.cpp", "1");
  system::FileWatcher watcher(folder_ / "p/puzzle.cpp", GetParam());
  std::filesystem::remove_all(folder_ / "p");
  folder_.write("p/puzzle.cpp", "22");
  EXPECT_TRUE(notices(watcher));
  folder_.write("p/puzzle.cpp", "333");
  EXPECT_TRUE(notices(watcher));
}

INSTANTIATE_TEST_SUITE_P(Kernel, Watching, testing::Bool());

TEST(FileWatcher, FallsBackToLookingWhereTheKernelCannotTell) {
  const TemporaryFolder folder;
  EXPECT_EQ(system::FileWatcher(folder / "nowhere/puzzle.cpp").descriptor(), -1);
}

void finish(system::Job& job) {
  while (job.running()) {
    pollfd wanted{job.descriptor(), POLLIN, 0};
    poll(&wanted, 1, 1000);
    job.take();
  }
}

TEST(Job, BringsTextStagesAndStatus) {
  system::Job job;
  job.start([](const system::Job::Say& say, std::string& text) {
    say("building");
    say("running");
    text = "report\n";
    return kFailed;
  });
  finish(job);
  EXPECT_EQ(job.stage(), "running");
  EXPECT_EQ(job.text(), "report\n");
  EXPECT_EQ(job.status(), kFailed);
}

TEST(Job, BringsLongTexts) {
  system::Job job;
  job.start([](const system::Job::Say&, std::string& text) {
    text.assign(1 << 20, 'x');
    return kPassed;
  });
  finish(job);
  EXPECT_EQ(job.text().size(), std::size_t{1} << 20);
}

TEST(Job, AnExceptionBecomesText) {
  system::Job job;
  job.start([](const system::Job::Say&, std::string&) -> int { throw UsageError("no such case"); });
  finish(job);
  EXPECT_THAT(job.text(), HasSubstr("no such case"));
  EXPECT_EQ(job.status(), kWrongUse);
}

TEST(Job, CanBeDroppedAndStartedAnew) {
  system::Job job;
  job.start([](const system::Job::Say&, std::string&) {
    pause();
    return kPassed;
  });
  job.start([](const system::Job::Say&, std::string& text) {
    text = "second";
    return kPassed;
  });
  finish(job);
  EXPECT_EQ(job.text(), "second");
}

TEST(Job, ADeathIsSaid) {
  system::Job job;
  job.start([](const system::Job::Say&, std::string&) {
    raise(SIGKILL);
    return kPassed;
  });
  finish(job);
  EXPECT_EQ(job.status(), kNotJudged);
  EXPECT_THAT(job.text(), HasSubstr("was killed"));
}

Context plain_context() {
  return Context{.project = {}, .out = std::cout, .err = std::cerr};
}

terminal::Screen screen_of(int lines) {
  terminal::Screen screen{.title = "09 Data parallel", .status = "building", .body = {}, .keys = {{"q", "quit"}}};
  for (int i = 0; i < lines; ++i) screen.body += std::to_string(i) + ": " + std::string(200, 'x') + "\n";
  return screen;
}

TEST(Screen, FitsIntoTheTerminal) {
  const auto lines = lines_of(terminal::compose(screen_of(100), {24, 80}, plain_context()));
  EXPECT_EQ(lines.size(), 24u) << "23 rows, and the end of the screen cleared";
  for (const std::string& line : lines) EXPECT_LE(columns_of(line), 80) << line;
}

TEST(Screen, SaysWhichLinesAreSeen) {
  terminal::Screen screen = screen_of(30);
  EXPECT_THAT(terminal::compose(screen, {24, 80}, plain_context()), HasSubstr("lines 1-21 of 30"));
  screen.first = terminal::scrolled(screen, {24, 80}, 4);
  EXPECT_THAT(terminal::compose(screen, {24, 80}, plain_context()),
              AllOf(HasSubstr("lines 5-25 of 30"), HasSubstr("\n4: x"), Not(HasSubstr("\n3: x"))));
  EXPECT_THAT(terminal::compose(screen_of(10), {24, 80}, plain_context()), Not(HasSubstr("lines 1-")));
}

TEST(Screen, ScrollsNoFurtherThanItsText) {
  terminal::Screen screen = screen_of(30);
  EXPECT_EQ(terminal::scrolled(screen, {24, 80}, 1000), 9);
  EXPECT_EQ(terminal::scrolled(screen, {24, 80}, -1), 0);
  screen.first = 9;  // and then the window grows
  EXPECT_THAT(terminal::compose(screen, {40, 80}, plain_context()), HasSubstr("\n0: x"));
}

TEST(Screen, KeepsTheLastKeysWhereNotAllFit) {
  terminal::Screen screen = screen_of(30);
  screen.keys = {{"h", std::string(70, 'h')}, {"?", "all keys"}, {"q", "quit"}};
  EXPECT_THAT(terminal::compose(screen, {24, 80}, plain_context()),
              AllOf(HasSubstr("? all keys"), HasSubstr("q quit"), Not(HasSubstr("hh"))));
}

TEST(Keys, KnowsThoseThatAreNoCharacter) {
  using namespace terminal;
  EXPECT_THAT(keys_in("aQ \n"), ElementsAre('a', 'q', ' ', '\n'));
  EXPECT_THAT(keys_in("\x1b[A\x1b[B\x1bOA\x1b[5~\x1b[6~\x1b[H\x1b[F"),
              ElementsAre(kUp, kDown, kUp, kPageUp, kPageDown, kHome, kEnd));
  EXPECT_THAT(keys_in("\x1b"), ElementsAre(kEscape));
  EXPECT_THAT(keys_in("\x1b[15~x\x1b[1;5Cy\x1b["), ElementsAre('x', 'y')) << "F5 and Control-Right";
}

}  // namespace
}  // namespace shardlings::cli
