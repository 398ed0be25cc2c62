#include "grading/run/supervisor.h"

#include <signal.h>
#include <cerrno>

#include "base/sanitizers.h"
#include "grading/run/case_file.h"

namespace shardlings::grading::run {
namespace {

/// Slow, and shadow memory is terabytes of address space.
constexpr bool kSanitized = kAddressSanitizer || kThreadSanitizer;

}  // namespace

ProcessLimits default_limits(int ranks, world::Backend backend) {
  constexpr std::int64_t kMebibyte = 1 << 20;
  ProcessLimits limits;
  limits.cpu_seconds = kSanitized ? 60 : 5;
  limits.wall_seconds = kSanitized ? 300 : 20;
  // OpenBLAS reserves 128 MiB for each thread that multiplies, of which it touches little; where it gets none, it asks
  // again for ever.
  constexpr std::int64_t kRank = 16 + 136;
  limits.memory_bytes = kSanitized ? 0 : (1024 + kRank * ranks) * kMebibyte;
  limits.file_bytes = 2048 * kMebibyte;
  limits.output_bytes = 64 * kMebibyte;
  if (world::capabilities_of(backend).needs_gpu) {
    limits.cpu_seconds = 60;
    limits.wall_seconds = 120;
    limits.memory_bytes = 0;
  }
  if (!world::capabilities_of(backend).computes) {
    // Addresses, most of them of stacks of which a few pages are used (back/engine/fibers/stack.cpp).
    constexpr std::int64_t kFiber = 2;
    limits.cpu_seconds = 600;
    limits.wall_seconds = 900;
    limits.idle_cpu_seconds = 60;  // what thousands of ranks need before their first call, and after their last one
    limits.memory_bytes = kSanitized ? 0 : (4096 + kFiber * ranks) * kMebibyte;
  }
  return limits;
}

wire::Result run_case(const Submission& submission, const cases::Case& kase, const ProcessLimits& limits,
                      world::Backend backend) {
  wire::Result result;
  errno = 0;
  const CaseFile file(kase);
  const TemporaryFolder folder;
  if (!file.good() || folder.path().empty()) return no_room(!file.good());
  ProcessOptions options;
  options.program = submission.program;
  options.arguments = {"3", name_of(backend)};
  if (!submission.jail.empty()) {
    options.arguments.insert(options.arguments.end(),
                             {submission.jail, std::to_string(submission.least_tier), submission.source});
  }
  options.environment =
      capabilities_of(backend).needs_gpu ? gpu_environment(folder.path()) : clean_environment(folder.path());
  options.folder = folder.path();
  options.file = file.number();
  options.limits = limits;
  options.progress = [&file] { return file.calls(); };
  const ProcessEnd end = run_process(options);
  result.stdout_text = end.output;
  result.stdout_truncated = end.output_truncated;
  result.seconds = end.seconds;
  result.walls = walls_of(file, submission);
  conclude(submission, file, end, limits, kase.ranks, result);
  return result;
}

Witness::Witness(const cases::Case& kase) : file_(new CaseFile(kase)), ranks_(kase.ranks) {}

Witness::~Witness() = default;

int Witness::file() const {
  return file_->good() ? file_->number() : -1;
}

bool Witness::has_noted_fault() const {
  return run::has_noted_fault(*file_);
}

wire::Result Witness::explain(const std::string& program, const ProcessEnd& end) const {
  wire::Result result;
  ProcessEnd known = end;
  // Where one of several processes has crashed, its launcher does not say how.
  if (const int signal = crash_signal_of(*file_); signal != 0 && end.signal == SIGKILL) known.signal = signal;
  ProcessLimits limits;
  limits.output_bytes = default_limits(ranks_).output_bytes;
  conclude(program, *file_, known, limits, ranks_, result);
  return result;
}

}  // namespace shardlings::grading::run
