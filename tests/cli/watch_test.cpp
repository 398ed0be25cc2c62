// `watch` as a learner has it: in a terminal, with an editor beside it.

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/learner.h"

namespace shardlings::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A command in a terminal of its own.
class Terminal {
 public:
  Terminal(const Learner& learner, const std::vector<std::string>& arguments,
           std::vector<std::string> environment = {}) {
    for (const std::string& variable : learner.environment()) environment.push_back(variable);
    environment.push_back("TERM=xterm");
    environment.push_back(std::string("PATH=") + std::getenv("PATH"));
    winsize size{24, 80, 0, 0};
    child_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (child_ == 0) become(learner.folder().path(), arguments, environment);
  }
  ~Terminal() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    close(terminal_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& keys) const {
    ASSERT_EQ(write(terminal_, keys.data(), keys.size()), ssize_t(keys.size()));
  }

  /// Reads until the words are on the screen (they are consumed, with all before them), or until a minute has passed.
  bool shows(const std::string& words) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < end) {
      const auto at = screen_.find(words);
      if (at != std::string::npos) {
        screen_.erase(0, at + words.size());
        return true;
      }
      if (!take()) return false;
    }
    return false;
  }

  /// Waits for the end and returns the exit status.
  int finish() {
    while (take()) {
    }
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  /// Whether keys come one by one and unseen.
  bool takes_keys() const {
    termios mode{};
    tcgetattr(terminal_, &mode);
    return (mode.c_lflag & (ICANON | ECHO)) == 0;
  }
  const std::string& everything() const { return everything_; }

 private:
  [[noreturn]] static void become(const std::string& folder, const std::vector<std::string>& words,
                                  const std::vector<std::string>& environment) {
    const std::string program = command_path();
    std::vector<char*> arguments = {const_cast<char*>(program.c_str())}, variables;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    for (const std::string& variable : environment) variables.push_back(const_cast<char*>(variable.c_str()));
    arguments.push_back(nullptr);
    variables.push_back(nullptr);
    if (chdir(folder.c_str()) == 0) execve(program.c_str(), arguments.data(), variables.data());
    _exit(126);
  }

  /// Takes what the terminal shows; false once the other side is gone.
  bool take() {
    pollfd wanted{terminal_, POLLIN, 0};
    if (poll(&wanted, 1, 1000) == 0) return true;
    char buffer[4096];
    const ssize_t got = read(terminal_, buffer, sizeof buffer);
    if (got <= 0) return false;
    screen_.append(buffer, static_cast<std::size_t>(got));
    everything_.append(buffer, static_cast<std::size_t>(got));
    return true;
  }

  int terminal_ = -1;
  pid_t child_ = -1;
  std::string screen_, everything_;
};

constexpr const char* kFirst = "01_training_step";

TEST(Watch, GradesOnEverySaveAndGoesOnWhenAsked) {
  const Learner learner;
  Terminal terminal(learner, {"watch"});
  EXPECT_TRUE(terminal.shows("building"));
  ASSERT_TRUE(terminal.shows("not yet")) << terminal.everything();
  EXPECT_TRUE(terminal.takes_keys());

  terminal.type("n");  // not solved: nothing happens
  terminal.type("h");
  ASSERT_TRUE(terminal.shows("Hint 1 of")) << terminal.everything();
  terminal.type("l");
  ASSERT_TRUE(terminal.shows("Ring all-reduce")) << terminal.everything();

  learner.blunder(kFirst, "never_updated.cpp");
  EXPECT_TRUE(terminal.shows("building"));
  ASSERT_TRUE(terminal.shows("not yet")) << terminal.everything();

  // As editors do it: a new file takes the old one's place.
  const auto& folder = learner.folder();
  folder.write("new.cpp", folder.read("solutions/01_training_step/solution.cpp"));
  std::filesystem::rename(folder / "new.cpp", folder / Learner::file_of(kFirst));
  ASSERT_TRUE(terminal.shows("passed")) << terminal.everything();
  ASSERT_TRUE(terminal.shows("is solved"));
  ASSERT_TRUE(terminal.shows("next puzzle"));

  terminal.type("n");
  ASSERT_TRUE(terminal.shows("02 Gradient accumulation")) << terminal.everything();
  ASSERT_TRUE(terminal.shows("not yet"));
  terminal.type("q");
  EXPECT_EQ(terminal.finish(), 0);
  EXPECT_FALSE(terminal.takes_keys()) << "the terminal is as it was before";
}

TEST(Watch, RunsAgainWhenAsked) {
  const Learner learner;
  Terminal terminal(learner, {"watch", "2"});
  ASSERT_TRUE(terminal.shows("not yet"));
  terminal.type("r");
  EXPECT_TRUE(terminal.shows("building"));
  ASSERT_TRUE(terminal.shows("not yet"));
  terminal.type("\r");
  EXPECT_TRUE(terminal.shows("building"));
}

TEST(Watch, RestoresTheTerminalWhenInterrupted) {
  const Learner learner;
  Terminal terminal(learner, {"watch", "1"});
  ASSERT_TRUE(terminal.shows("quit"));
  EXPECT_TRUE(terminal.takes_keys());
  terminal.type("\x03");
  EXPECT_EQ(terminal.finish(), 0);
  EXPECT_FALSE(terminal.takes_keys());
}

TEST(Watch, SaysWhyAFileDoesNotBuild) {
  const Learner learner;
  learner.folder().write(Learner::file_of(kFirst), "this is no C++\n");
  Terminal terminal(learner, {"watch", "1"});
  EXPECT_TRUE(terminal.shows("error")) << terminal.everything();
}

TEST(Watch, HasNoColoursWhereTheyAreNotWanted) {
  const Learner learner;
  Terminal terminal(learner, {"watch", "1"}, {"NO_COLOR=1"});
  ASSERT_TRUE(terminal.shows("not yet"));
  terminal.type("q");
  terminal.finish();
  EXPECT_THAT(terminal.everything(), Not(HasSubstr("\x1b[1m")));
  EXPECT_THAT(terminal.everything(), Not(HasSubstr("\x1b[3")));
}

}  // namespace
}  // namespace shardlings::cli
