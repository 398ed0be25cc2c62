#include "cli/terminal.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

namespace shardlings::cli {
namespace {

[[noreturn]] void become(const std::string& folder, const std::vector<std::string>& words,
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

}  // namespace

Terminal::Terminal(const Learner& learner, const std::vector<std::string>& arguments,
                   const std::vector<std::string>& environment, int columns, int rows) {
  std::vector<std::string> variables = environment;
  for (const std::string& variable : learner.environment()) variables.push_back(variable);
  variables.push_back("TERM=xterm");
  variables.push_back(path_variable());
  winsize size{static_cast<unsigned short>(rows), static_cast<unsigned short>(columns), 0, 0};
  child_ = forkpty(&terminal_, nullptr, nullptr, &size);
  if (child_ == 0) become(learner.folder().path(), arguments, variables);
}

Terminal::~Terminal() {
  if (child_ > 0) {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  close(terminal_);
}

void Terminal::type(const std::string& keys) const {
  ASSERT_EQ(write(terminal_, keys.data(), keys.size()), ssize_t(keys.size()));
}

bool Terminal::shows(const std::string& words) {
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

int Terminal::finish() {
  while (take()) {
  }
  int status = 0;
  waitpid(child_, &status, 0);
  child_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool Terminal::takes_keys() const {
  termios mode{};
  tcgetattr(terminal_, &mode);
  return (mode.c_lflag & (ICANON | ECHO)) == 0;
}

std::vector<std::string> Terminal::lines() const {
  std::vector<std::string> lines(1);
  std::size_t column = 0;  // in bytes: what is rewritten here is erased as a whole
  for (std::size_t i = 0; i < screen_.size(); ++i) {
    const char c = screen_[i];
    if (c == '\n') {
      lines.emplace_back();
      column = 0;
    } else if (c == '\r') {
      column = 0;
    } else if (c == '\x1b') {
      const std::size_t end = screen_.find_first_of("ABCDHJKmhl", i);
      if (end == std::string::npos) break;
      if (screen_[end] == 'K') lines.back().resize(column);
      i = end;
    } else {
      lines.back().resize(column);
      lines.back() += c;
      ++column;
    }
  }
  return lines;
}

/// Takes what the terminal shows; false once the other side is gone.
bool Terminal::take() {
  pollfd wanted{terminal_, POLLIN, 0};
  if (poll(&wanted, 1, 1000) == 0) return true;
  char buffer[4096];
  const ssize_t got = read(terminal_, buffer, sizeof buffer);
  if (got <= 0) return false;
  screen_.append(buffer, static_cast<std::size_t>(got));
  everything_.append(buffer, static_cast<std::size_t>(got));
  return true;
}

}  // namespace shardlings::cli
