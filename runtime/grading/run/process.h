/// \file
/// Child processes under limits: started, fed, drained, and in the end killed with all that they started.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace shardlings::grading::run {

/// 0: no limit.
struct ProcessLimits {
  int cpu_seconds = 0;            ///< of all threads together
  double wall_seconds = 0;        ///< stretched by the machine's load, up to three times
  std::int64_t memory_bytes = 0;  ///< private memory
  std::int64_t stack_bytes = 0;   ///< of its first thread: also more than what is in force here, where that may be
  std::int64_t file_bytes = 0;    ///< size of any file that it writes
  std::int64_t output_bytes = 0;  ///< written to standard output and error before it is killed
  int processes = 0;              ///< of its user, all together; root has no such limit
  int idle_cpu_seconds = 0;       ///< without a change of `progress`
};

struct ProcessOptions {
  std::string program;
  std::vector<std::string> arguments;               ///< without the program's name
  std::vector<std::string> environment;             ///< "NAME=value"; nothing is inherited
  std::string folder;                               ///< to run in; empty: the caller's
  int file = -1;                                    ///< becomes descriptor 3 of the process
  bool has_input = false;                           ///< say() will be used; else standard input is empty
  std::size_t kept_output = 64 * 1024;              ///< the first so many bytes are kept, the others thrown away
  std::function<void(std::string_view)> on_output;  ///< is given all of it, as it comes, by wait()
  /// The last thing before the program, in the child, which has its limits by then: gives up rights. System calls only;
  /// false, with errno: the program does not start.
  std::function<bool()> give_up_rights;
  ProcessLimits limits;
  /// Asked about once in a second of its processor's time, for `idle_cpu_seconds`: any number that changes as it gets
  /// on.
  std::function<std::uint64_t()> progress;
};

enum class Kill : std::uint8_t { none, wall_limit, output_limit };

/// How a process ended.
struct ProcessEnd {
  bool started = false;
  std::string error;     ///< why it did not start
  int error_number = 0;  ///< the same as an errno
  bool exited = false;   ///< by itself, with `status`; otherwise `signal` ended it
  int status = 0;
  int signal = 0;
  Kill killed = Kill::none;  ///< by us
  bool got_on = true;        ///< false: it has computed for too long without progress, and was told to end
  double seconds = 0;        ///< wall
  double cpu_seconds = 0;
  std::int64_t peak_memory = 0;  ///< bytes of the host's that were resident at once
  std::string output;
  bool output_truncated = false;
};

/// A process of its own group, running from construction on.
class Process {
 public:
  explicit Process(ProcessOptions options);
  /// Kills what still runs.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Writes to its standard input; nothing happens if it does not listen any more.
  void say(const std::string& text);
  /// Drains its output until `done`, which is asked about every millisecond, or until it ends. True if it is done; else
  /// wait() says how it has ended.
  bool run_until(const std::function<bool()>& done);
  /// Asks it to end (SIGTERM).
  void ask_to_end();
  /// Ends it and its whole group (SIGKILL).
  void give_up() { kill_group(); }
  /// Drains its output until it ends, or until a limit is reached; then kills its whole group. Throws
  /// std::runtime_error if nobody can say how it ended: where SIGCHLD is ignored, the kernel forgets it.
  ProcessEnd wait();

 private:
  using Clock = std::chrono::steady_clock;
  void start();
  void cannot_start(int reason);
  bool drain(int timeout_ms);
  bool go_on(int patience_ms);
  bool reap();
  void enforce_limits();
  void look_for_progress();
  void kill_group();
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  const ProcessOptions options_;
  ProcessEnd end_;
  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  bool open_ = true;  ///< its output
  bool reaped_ = false;
  int pause_us_ = 100;  ///< between two looks at a process whose output is closed
  std::int64_t written_ = 0;
  std::uint64_t progress_ = 0;
  double cpu_of_progress_ = 0, cpu_of_look_ = 0;  ///< seconds, when it last changed, and was last looked at
  Clock::time_point begin_ = Clock::now();
};

/// Starts a process and waits for it.
ProcessEnd run_process(const ProcessOptions& options);

inline constexpr const char* kUsualPath = "/usr/local/bin:/usr/bin:/bin";
/// A clean environment for programs of ours: search path, locale, one BLAS thread; sanitizers keep their options, and
/// the caller's LD_LIBRARY_PATH stays, since without it a moved tree would not find its libraries.
std::vector<std::string> clean_environment(const std::string& home, const std::string& path = kUsualPath);
/// The same for programs that use GPUs: what the caller has set for CUDA, NCCL and this project goes along.
std::vector<std::string> gpu_environment(const std::string& home);

/// How many times more than its cores the machine has to do; at least 1.
double machine_load();

}  // namespace shardlings::grading::run
