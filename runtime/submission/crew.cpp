#include "submission/crew.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>

#include "base/descriptor.h"
#include "base/machine_fault.h"
#include "front/remote/archive.h"
#include "submission/crew_pulse.h"
#include "submission/supervisors_file.h"
#include "world/process_world.h"
#include "world/use_backend.h"

namespace shardlings::submission {
namespace {

/// What all processes are told of a case.
struct Task {
  SupervisorsFile file;
  std::string output;  ///< path of what is printed
  int cpu_seconds = 0;
};

std::string next_line() {
  char* line = nullptr;
  std::size_t room = 0;
  const ssize_t size = getline(&line, &room, stdin);
  const std::string text(line != nullptr && size > 0 ? line : "");
  std::free(line);  // NOLINT: getline's
  return text;
}

/// As bytes; empty if there is none.
std::string read_task() {
  std::string path, output;
  int cpu_seconds = 0;
  std::istringstream words(next_line());
  if (!(words >> path >> output >> cpu_seconds)) return "";
  const SupervisorsFile file = supervisors_file(path);
  if (file.path.empty()) throw std::runtime_error("process 0 of a run must be on the machine of the command");
  front::remote::Writer writer;
  writer << to_bytes(file) << output << cpu_seconds;
  return writer.bytes();
}

Task task_in(const std::string& bytes) {
  front::remote::Reader reader(bytes);
  Task task;
  task.file = file_from(reader.get<std::string>());
  reader >> task.output >> task.cpu_seconds;
  return task;
}

/// While it lives, what is printed goes to the case's file. Where that is not to be had, it goes on to mpirun.
class Printing {
 public:
  /// The path is the supervisor's, as that of its file is.
  Printing(const Task& task, const NotesFile& file) {
    const Descriptor output(file.is_supervisors() ? open(task.output.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC) : -1);
    if (output.get() < 0) return;
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      kept_[stream - 1].reset(fcntl(stream, F_DUPFD_CLOEXEC, 3));
      dup2(output.get(), stream);
    }
  }
  ~Printing() {
    std::fflush(nullptr);
    for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
      if (kept_[stream - 1].get() >= 0) dup2(kept_[stream - 1].get(), stream);
    }
  }
  Printing(const Printing&) = delete;
  Printing& operator=(const Printing&) = delete;

 private:
  Descriptor kept_[2];
};

/// So many seconds more than it has used so far.
void limit_time(int seconds) {
  rusage usage{};
  rlimit limit{};
  if (seconds <= 0 || getrusage(RUSAGE_SELF, &usage) != 0 || getrlimit(RLIMIT_CPU, &limit) != 0) return;
  const auto wanted = static_cast<rlim_t>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + 1 + seconds);
  limit.rlim_cur = std::min(wanted, limit.rlim_max);  // more than the hard limit it would not get at all
  setrlimit(RLIMIT_CPU, &limit);
}

void serve(const Task& task, const back::Progress& progress, CrewPulse& pulse,
           const std::function<void(wire::MappedFile&)>& run_case) {
  NotesFile file(task.file, pulse, progress);
  forget_machine_faults();
  limit_time(task.cpu_seconds);
  const Printing printing(task, file);
  run_case(file.mapped());
}

void serve_all(back::Progress& progress, CrewPulse& pulse, const std::function<void(wire::MappedFile&)>& run_case) {
  for (;;) {
    const std::string task = world::from_first(progress, progress.process() == 0 ? read_task() : "");
    if (task.empty()) return;
    serve(task_in(task), progress, pulse, run_case);
  }
}

}  // namespace

int serve_cases(world::Backend backend, const std::function<void(wire::MappedFile&)>& run_case) {
  CrewPulse pulse;
  try {
    world::Options options;
    world::use_backend(options, backend);
    serve_all(*options.progress, pulse, run_case);
  } catch (const std::bad_alloc&) {
    throw;  // noted in the file of the case, if one was under way: it may be the program's own doing
  } catch (const std::exception& error) {
    pulse.tell_fault(error.what());
    throw;
  }
  world::leave_backend(backend);
  pulse.farewell();
  return 0;
}

}  // namespace shardlings::submission
