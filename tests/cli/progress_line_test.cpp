#include "cli/terminal/progress_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace shardlings::cli {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class ProgressLineTest : public testing::Test {
 protected:
  Context context(bool terminal, int width = 80) {
    return Context{.project = {}, .out = out_, .err = err_, .width = width, .rewrites_errors = terminal};
  }
  terminal::ProgressLine::Now clock() {
    return [this] { return now_; };
  }
  /// What was written since the last call.
  std::string written() {
    std::string text = err_.str();
    err_.str("");
    return text;
  }

  std::ostringstream out_, err_;
  terminal::ProgressLine::Clock::time_point now_;
};

TEST_F(ProgressLineTest, IsRewrittenOnATerminalAndErasedAtTheEnd) {
  const Context terminal = context(true);
  {
    terminal::ProgressLine line(terminal, clock());
    line.show("building");
    EXPECT_EQ(written(), "\r\x1b[Kbuilding");
    now_ += 1500ms;
    line.tick();
    EXPECT_EQ(written(), "\r\x1b[Kbuilding (1 s)");
    line.show("running");
    EXPECT_EQ(written(), "\r\x1b[Krunning (1 s)");
    line.show("");
    EXPECT_EQ(written(), "\r\x1b[K");
    line.tick();
    EXPECT_EQ(written(), "") << "there is nothing to erase";
    line.show("again");
    written();
  }
  EXPECT_EQ(written(), "\r\x1b[K");
  EXPECT_EQ(out_.str(), "") << "never on the output";
}

TEST_F(ProgressLineTest, NeverWrapsAndShowsNoControlCharacters) {
  const Context narrow = context(true, 20);
  terminal::ProgressLine line(narrow, clock());
  now_ += 12s;
  line.show("a file \x1b[2J with a name that is long");
  EXPECT_EQ(written(), "\r\x1b[Ka file \\x1b[ (12 s)");
}

TEST_F(ProgressLineTest, SaysNothingInALogForTenSeconds) {
  const Context log = context(false);
  terminal::ProgressLine line(log, clock());
  for (int i = 0; i < 99; ++i) {
    line.show("file " + std::to_string(i));
    now_ += 100ms;
  }
  EXPECT_EQ(written(), "");
  now_ += 100ms;
  line.tick();
  EXPECT_EQ(written(), "file 98 (10 s)\n");
}

TEST_F(ProgressLineTest, WritesALineEveryTenSecondsIntoALog) {
  const Context log = context(false);
  terminal::ProgressLine line(log, clock());
  for (int i = 0; i <= 600; ++i) {
    line.show("working");
    now_ += 100ms;
  }
  const std::string text = written();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
  EXPECT_THAT(text, Not(HasSubstr("\r")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  line.end();
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressLineTest, MayBeUsedByManyThreads) {
  const Context terminal = context(true);
  {
    terminal::ProgressLine line(terminal);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&line, i] {
        for (int n = 0; n < 100; ++n) line.show(std::to_string(i));
      });
    }
  }
  const std::string text = written();
  EXPECT_THAT(text, testing::EndsWith("\r\x1b[K"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\r'), 401);
}

}  // namespace
}  // namespace shardlings::cli
