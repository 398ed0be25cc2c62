#include "cli/system/job.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <stdexcept>

#include "base/descriptor.h"
#include "cli/error.h"

namespace shardlings::cli::system {

namespace {

// A line that begins so names a stage; the text begins after the last of them.
constexpr char kStageMark = '\x1e';

[[noreturn]] void work_in_child(const Job::Work& work, int pipe) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // A page that this command serves has connections, and ignores that one of them breaks; neither is the work's affair.
  close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  signal(SIGPIPE, SIG_DFL);
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, standard);
  int status = kWrongUse;
  std::string text;
  try {
    status = work([pipe](const std::string& stage) { write_all(pipe, kStageMark + stage + "\n"); }, text);
  } catch (const std::exception& error) {
    text += std::string(error.what()) + "\n";
  }
  write_all(pipe, text);
  _exit(status);
}

}  // namespace

void Job::start(const Work& work) {
  drop();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error(std::string("no pipe: ") + std::strerror(errno));
  child_ = fork();
  if (child_ == 0) {
    close(ends[0]);
    work_in_child(work, ends[1]);
  }
  close(ends[1]);
  if (child_ < 0) {
    close(ends[0]);
    throw std::runtime_error(std::string("no process: ") + std::strerror(errno));
  }
  setpgid(child_, child_);
  pipe_ = ends[0];
  fcntl(pipe_, F_SETFL, O_NONBLOCK);
  received_.clear();
  stage_.clear();
  text_.clear();
  status_ = 0;
}

void Job::drop() {
  if (child_ > 0) {
    kill(-child_, SIGKILL);
    kill(child_, SIGKILL);  // in case that it has no group yet
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (pipe_ >= 0) close(pipe_);
  child_ = -1;
  pipe_ = -1;
}

void Job::parse() {
  std::size_t at = 0;
  while (at < received_.size() && received_[at] == kStageMark) {
    const auto end = received_.find('\n', at);
    if (end == std::string::npos) return;
    stage_ = received_.substr(at + 1, end - at - 1);
    at = end + 1;
  }
  text_ = received_.substr(at);
}

bool Job::take() {
  if (!running()) return false;
  char buffer[16384];
  ssize_t got;
  while ((got = read(pipe_, buffer, sizeof buffer)) > 0) received_.append(buffer, static_cast<std::size_t>(got));
  parse();
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  drop();
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : kNotJudged;
  if (!WIFEXITED(status)) text_ += "The grading process was killed. Try again: r\n";
  return true;
}

}  // namespace shardlings::cli::system
