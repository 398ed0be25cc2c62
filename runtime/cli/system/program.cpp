#include "cli/system/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "base/pipe.h"

namespace shardlings::cli::system {

namespace {

/// What is changed in the child before its program starts.
class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  void open(int fd, const char* path, int flags) { posix_spawn_file_actions_addopen(&actions_, fd, path, flags, 0); }
  void duplicate(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
  void close_others() { posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

/// A page that this command serves ignores that a connection breaks. That is no other program's affair.
class Attributes {
 public:
  Attributes() {
    posix_spawnattr_init(&attributes_);
    sigset_t broken_pipe;
    sigemptyset(&broken_pipe);
    sigaddset(&broken_pipe, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &broken_pipe);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF);
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

/// The new process, or -1. Of this one's files it gets the standard three: its pages and connections stay here.
pid_t start(const std::vector<std::string>& command, FileActions& actions) {
  actions.close_others();
  const Attributes attributes;
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = -1;
  return posix_spawnp(&child, arguments[0], actions.get(), attributes.get(), arguments.data(), environ) == 0 ? child
                                                                                                             : -1;
}

int status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 127;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Captured capture(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  FileActions actions;
  actions.open(STDIN_FILENO, "/dev/null", O_RDONLY);
  actions.duplicate(ends[1], STDOUT_FILENO);
  actions.open(STDERR_FILENO, "/dev/null", O_WRONLY);
  const pid_t child = start(command, actions);
  close(ends[1]);
  Captured result;
  char buffer[4096];
  while (child > 0) {
    const ssize_t got = read(ends[0], buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    result.output.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  if (child > 0) result.status = status_of(child);
  return result;
}

int run_program(const std::vector<std::string>& command) {
  FileActions actions;
  const pid_t child = start(command, actions);
  return child > 0 ? status_of(child) : 127;
}

int feed_program(const std::vector<std::string>& command, std::string_view text) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return 127;
  FileActions actions;
  actions.duplicate(ends[0], STDIN_FILENO);
  const pid_t child = start(command, actions);
  close(ends[0]);
  if (child > 0) write_to_pipe(ends[1], text);
  close(ends[1]);
  return child > 0 ? status_of(child) : 127;
}

std::string program_path(const std::string& name) {
  const char* variable = std::getenv("PATH");
  std::string_view rest = variable ? variable : "";
  while (!rest.empty()) {
    const auto end = rest.find(':');
    std::string path = std::string(rest.substr(0, end)) + "/" + name;
    if (access(path.c_str(), X_OK) == 0) return path;
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return {};
}

}  // namespace shardlings::cli::system
