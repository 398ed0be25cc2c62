#include "grading/run/crew.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/descriptor.h"
#include "grading/run/mpirun.h"

namespace shardlings::grading::run {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// By which another process of this machine opens a file of this one.
std::string path_of(int file) {
  return fmt::format("/proc/{}/fd/{}", getpid(), file);
}

/// How long mpirun may take to end the others when one of them has ended.
constexpr double kToEnd = 1.5;
constexpr int kSignalStatus = 128;

}  // namespace

class Crew::Output {
 public:
  Output() : file_(memfd_create("shardlings_output", MFD_CLOEXEC)) {}
  bool good() const { return file_.get() >= 0; }
  std::string path() const { return path_of(file_.get()); }
  std::int64_t size() const { return std::max<off_t>(lseek(file_.get(), 0, SEEK_END), 0); }
  std::string text(std::size_t most) const {
    std::string text(std::min(most, static_cast<std::size_t>(size())), '\0');
    const ssize_t n = pread(file_.get(), text.data(), text.size(), 0);
    text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return text;
  }

 private:
  Descriptor file_;
};

Crew::Crew(Submission submission, std::string start, int ranks)
    : submission_(std::move(submission)), start_(std::move(start)), ranks_(ranks) {}

// The end of their input tells them to go.
Crew::~Crew() {
  if (!process_) return;
  process_->say("end\n");
  has_ended_within(kToEnd);
}

bool Crew::has_ended_within(double seconds) {
  const auto begin = Clock::now();
  return !process_->run_until([&] { return seconds_since(begin) > seconds; });
}

void Crew::start() {
  MpiLaunch launch;
  static_cast<MpiStart&>(launch) = start_from(start_);
  launch.program = submission_.program;
  launch.arguments = {"crew", "mpi"};
  watch_ = std::make_unique<CrewWatch>(launch.processes);
  launch.variables = {watch_->variable()};
  ProcessOptions options = mpirun_process(launch);
  options.folder = folder_.path();
  options.has_input = true;
  // Of each process; of its time, each case has its own part.
  const ProcessLimits limits = default_limits(ranks_, world::Backend::mpi);
  options.limits.memory_bytes = limits.memory_bytes;
  options.limits.file_bytes = limits.file_bytes;
  process_ = std::make_unique<Process>(std::move(options));
}

wire::Result Crew::run(const cases::Case& kase, const ProcessLimits& limits) {
  errno = 0;
  const CaseFile file(kase);
  const Output output;
  if (!file.good() || !output.good() || folder_.path().empty()) return no_room(!file.good() || !output.good());
  const auto begin = Clock::now();
  if (!process_) start();
  watch_->watch(file.number(), kase.ranks);
  process_->say(fmt::format("{} {} {}\n", path_of(file.number()), output.path(), limits.cpu_seconds));
  await(file, output, limits);
  ProcessEnd end;
  end.started = end.exited = true;
  if (!file.has_ended()) end = end_of(file);
  watch_->watch(-1, 0);
  constexpr std::size_t kKept = 64 * 1024;
  wire::Result result;
  result.stdout_text = end.output = output.text(kKept);
  result.stdout_truncated = static_cast<std::size_t>(output.size()) > kKept;
  result.seconds = seconds_since(begin);
  conclude(submission_, file, end, limits, kase.ranks, result);
  tell_of_loss(file, kase.ranks, result);
  return result;
}

void Crew::tell_of_loss(const CaseFile& file, int ranks, wire::Result& result) const {
  const auto lost = watch_->lost();
  const bool has_noted = crash_signal_of(file) != 0 || has_noted_exit(file) || has_noted_fault(file);
  if (!lost || file.has_ended() || has_noted || killed_ != Kill::none) return;
  result.ending = wire::Ending::machine_fault;
  result.explanation =
      "the run was given up: " + loss_text(*lost, start_from(start_).processes, ranks, result.last_words);
}

void Crew::await(const CaseFile& file, const Output& output, const ProcessLimits& limits) {
  const auto begin = Clock::now();
  killed_ = Kill::none;
  const auto is_over = [&] {
    if (file.has_ended()) return true;
    if (limits.output_bytes > 0 && output.size() > limits.output_bytes) killed_ = Kill::output_limit;
    const double patience = limits.wall_seconds * std::min(machine_load(), 3.0);
    if (limits.wall_seconds > 0 && seconds_since(begin) > patience) killed_ = Kill::wall_limit;
    return killed_ != Kill::none || watch_->lost().has_value();
  };
  process_->run_until(is_over);
}

/// mpirun says in its status how the first of its processes ended; what a rank has noted itself says more.
ProcessEnd Crew::end_of(const CaseFile& file) {
  watch_->kill_if_stopped(submission_.program);
  watch_->end_all();
  if (killed_ != Kill::none) process_->ask_to_end();
  bool has_ended = has_ended_within(kToEnd);
  if (!has_ended) {
    process_->ask_to_end();
    has_ended = has_ended_within(kToEnd);
  }
  ProcessEnd end;
  end.started = true;
  end.signal = SIGKILL;
  if (has_ended) end = process_->wait();
  process_.reset();  // kills it, if it still runs
  end.killed = killed_;
  if (const int signal = crash_signal_of(file); signal != 0) {
    end.exited = false;
    end.signal = signal;
  } else if (end.exited && end.status > kSignalStatus && !has_noted_exit(file)) {
    end.signal = end.status - kSignalStatus;
    end.exited = false;
  }
  return end;
}

}  // namespace shardlings::grading::run
