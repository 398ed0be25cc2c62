#include "grading/run/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <thread>
#include <utility>

#include "base/descriptor.h"
#include "base/pipe.h"
#include "base/rights.h"

namespace shardlings::grading::run {
namespace {

struct Pipe {
  Descriptor read, write;
  bool open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read.reset(ends[0]);
    write.reset(ends[1]);
    return true;
  }
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

void set_limits(const ProcessLimits& limits) {
  set_limit(RLIMIT_CORE, 0);
  if (limits.cpu_seconds > 0) set_limit(RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1);
  // RLIMIT_DATA counts private writable memory only; address space that is merely reserved does not hurt.
  if (limits.memory_bytes > 0) set_limit(RLIMIT_DATA, limits.memory_bytes);
  if (limits.stack_bytes > 0) set_limit(RLIMIT_STACK, limits.stack_bytes);
  if (limits.file_bytes > 0) set_limit(RLIMIT_FSIZE, limits.file_bytes);
  if (limits.processes > 0) set_limit(RLIMIT_NPROC, limits.processes);
}

/// A program that only waits would wait the longer the more load it makes: there is an end to how far its limit of wall
/// time is stretched.
constexpr double kMostPatience = 3;

/// Everything that the child needs, made before the fork: after it, only system calls are safe.
struct Launch {
  std::vector<char*> arguments, environment;
  int input, output, error, file;
  const ProcessOptions& options;
};

/// In the child. Never returns; what went wrong goes through launch.error as an errno.
[[noreturn]] void become(const Launch& launch) {
  setpgid(0, 0);
  die_with_parent();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // Ignored, they would be so in the program, too: it would not end with its reader, or lose its children.
  signal(SIGPIPE, SIG_DFL);
  signal(SIGCHLD, SIG_DFL);
  const char* folder = launch.options.folder.c_str();
  bool good = dup2(launch.input, 0) == 0 && dup2(launch.output, 1) == 1 && dup2(launch.output, 2) == 2 &&
              (*folder == 0 || chdir(folder) == 0);
  if (launch.file == 3) good = good && fcntl(3, F_SETFD, 0) == 0;
  if (launch.file >= 0 && launch.file != 3) good = good && dup2(launch.file, 3) == 3;
  if (good) {
    set_limits(launch.options.limits);
    good = !launch.options.give_up_rights || launch.options.give_up_rights();
  }
  if (good) {
    die_with_parent();  // again: it may be another user's by now
    execve(launch.arguments[0], launch.arguments.data(), launch.environment.data());
  }
  const int reason = errno;
  if (::write(launch.error, &reason, sizeof reason) < 0) _exit(126);
  _exit(127);
}

}  // namespace

Process::Process(ProcessOptions options) : options_(std::move(options)) {
  start();
}

Process::~Process() {
  kill_group();
  if (pid_ > 0 && !reaped_) waitpid(pid_, nullptr, 0);
  if (input_ >= 0) ::close(input_);
  if (output_ >= 0) ::close(output_);
}

void Process::start() {
  Pipe input, output, error;
  // The error pipe must not be descriptor 3, which `file` replaces.
  const Descriptor spacer(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!output.open() || !error.open() || (options_.has_input && !input.open()) || spacer.get() < 0) {
    cannot_start(errno);
    return;
  }
  if (const int moved = fcntl(error.write.get(), F_DUPFD_CLOEXEC, 10); moved >= 0) error.write.reset(moved);
  std::vector<std::string> arguments{options_.program};
  arguments.insert(arguments.end(), options_.arguments.begin(), options_.arguments.end());
  const Launch launch{pointers(arguments),
                      pointers(options_.environment),
                      options_.has_input ? input.read.get() : spacer.get(),
                      output.write.get(),
                      error.write.get(),
                      options_.file,
                      options_};
  pid_ = fork();
  if (pid_ == 0) become(launch);
  if (pid_ < 0) {
    cannot_start(errno);
    return;
  }
  setpgid(pid_, pid_);
  error.write.reset();
  int reason = 0;
  if (::read(error.read.get(), &reason, sizeof reason) == static_cast<ssize_t>(sizeof reason)) {
    cannot_start(reason);
    return;
  }
  end_.started = true;
  output_ = output.read.release();
  fcntl(output_, F_SETFL, O_NONBLOCK);
  if (options_.has_input) input_ = input.write.release();
}

void Process::cannot_start(int reason) {
  end_.error = std::strerror(reason);
  end_.error_number = reason;
}

void Process::say(const std::string& text) {
  if (input_ < 0) return;
  write_to_pipe(input_, text);
}

/// Reads what there is, waiting at most so long. False once nothing more will come.
bool Process::drain(int timeout_ms) {
  if (output_ < 0) return false;
  pollfd wanted{output_, POLLIN, 0};
  if (poll(&wanted, 1, timeout_ms) <= 0) return true;
  char buffer[64 * 1024];
  const ssize_t n = ::read(output_, buffer, sizeof buffer);
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  if (n == 0) return false;
  const std::size_t room = options_.kept_output - std::min(end_.output.size(), options_.kept_output);
  end_.output.append(buffer, std::min(room, static_cast<std::size_t>(n)));
  end_.output_truncated = end_.output_truncated || static_cast<std::size_t>(n) > room;
  written_ += n;
  if (options_.on_output) options_.on_output({buffer, static_cast<std::size_t>(n)});
  return true;
}

bool Process::reap() {
  int status = 0;
  rusage usage = {};
  const pid_t ended = wait4(pid_, &status, WNOHANG, &usage);
  if (ended < 0 && errno == ECHILD) {
    kill_group();  // what it has started
    pid_ = -1;
    throw std::runtime_error(options_.program + " has ended, and the system does not say how: SIGCHLD is ignored");
  }
  if (ended != pid_) return false;
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  end_.exited = WIFEXITED(status);
  end_.status = end_.exited ? WEXITSTATUS(status) : 0;
  end_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end_.peak_memory = std::int64_t{usage.ru_maxrss} * 1024;
  end_.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  return true;
}

void Process::enforce_limits() {
  if (end_.killed != Kill::none) return;
  const ProcessLimits& limits = options_.limits;
  if (limits.output_bytes > 0 && written_ > limits.output_bytes) end_.killed = Kill::output_limit;
  if (limits.wall_seconds > 0 && elapsed() > limits.wall_seconds &&
      elapsed() > limits.wall_seconds * std::min(machine_load(), kMostPatience)) {
    end_.killed = Kill::wall_limit;
  }
  if (end_.killed != Kill::none) return kill_group();
  look_for_progress();
}

/// A process that goes round without getting on is told so as the kernel tells one that is at its limit, so that it can
/// say where it is.
void Process::look_for_progress() {
  constexpr double kBetweenLooks = 1, kToSayWhere = 5;  // seconds
  const int limit = options_.limits.idle_cpu_seconds;
  clockid_t clock = 0;
  timespec now{};
  if (limit == 0 || !options_.progress || clock_getcpuclockid(pid_, &clock) != 0) return;
  if (clock_gettime(clock, &now) != 0) return;
  const double cpu = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  if (cpu < cpu_of_look_ + kBetweenLooks) return;
  cpu_of_look_ = cpu;
  const std::uint64_t progress = options_.progress();
  if (progress != progress_ && end_.got_on) {
    progress_ = progress;
    cpu_of_progress_ = cpu;
  }
  if (cpu > cpu_of_progress_ + limit && end_.got_on) {
    end_.got_on = false;
    kill(pid_, SIGXCPU);
  }
  if (cpu > cpu_of_progress_ + limit + kToSayWhere) kill_group();
}

void Process::kill_group() {
  if (pid_ > 0) kill(-pid_, SIGKILL);
}

/// Waits for output, or a moment, and looks whether it has ended. False if it has.
bool Process::go_on(int patience_ms) {
  // The pipe closes when the process ends, which wakes us at once; the time-out is for those that it has started.
  if (open_) open_ = drain(patience_ms);
  reaped_ = reaped_ || reap();
  if (reaped_) return false;
  if (!open_) {
    std::this_thread::sleep_for(std::chrono::microseconds(pause_us_));
    pause_us_ = std::min(pause_us_ * 2, 10'000);
  }
  enforce_limits();
  return true;
}

bool Process::run_until(const std::function<bool()>& done) {
  while (end_.started) {
    if (done()) return true;
    if (!go_on(1)) return false;
  }
  return false;
}

void Process::ask_to_end() {
  if (pid_ > 0 && !reaped_) kill(pid_, SIGTERM);
}

ProcessEnd Process::wait() {
  if (!end_.started) return end_;
  while (go_on(20)) continue;
  kill_group();
  pid_ = -1;
  while (open_ && end_.killed == Kill::none && written_ <= (1 << 26)) {  // what is in the pipe still
    const std::int64_t before = written_;
    open_ = drain(0);
    if (written_ == before) break;
  }
  end_.seconds = elapsed();
  return end_;
}

ProcessEnd run_process(const ProcessOptions& options) {
  return Process(options).wait();
}

std::vector<std::string> clean_environment(const std::string& home, const std::string& path) {
  std::vector<std::string> environment = {"PATH=" + path, "HOME=" + home, "LC_ALL=C.UTF-8", "OPENBLAS_NUM_THREADS=1"};
  for (const char* name :
       {"LD_LIBRARY_PATH", "OPENBLAS_CORETYPE", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS"}) {
    if (const char* value = std::getenv(name)) environment.push_back(std::string(name) + "=" + value);
  }
  return environment;
}

std::vector<std::string> gpu_environment(const std::string& home) {
  std::vector<std::string> environment = clean_environment(home);
  for (char** variable = environ; *variable; ++variable) {
    const std::string_view text = *variable;
    for (const std::string_view name : {"CUDA_", "NCCL_", "NVIDIA_", "SHARDLINGS_"}) {
      if (text.starts_with(name)) environment.emplace_back(text);
    }
  }
  return environment;
}

double machine_load() {
  double load = 0;
  if (getloadavg(&load, 1) != 1) return 1;
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  return std::max(1.0, load / cores);
}

}  // namespace shardlings::grading::run
