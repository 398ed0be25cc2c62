#include "submission/crew.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "base/descriptor.h"
#include "base/machine_fault.h"
#include "case/case.h"
#include "front/remote/archive.h"
#include "submission/crew_pulse.h"
#include "world/process_world.h"

namespace shardlings::submission {
namespace {

/// What all processes are told of a case.
struct Task {
  std::string file, output;
  int cpu_seconds = 0;
  std::string text;     ///< of the case
  std::string machine;  ///< whose paths these are
};

/// Containers of one machine do not see one another's files, and differ by their names.
std::string this_machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return id + " " + name;
}

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
  Task task;
  std::istringstream words(next_line());
  if (!(words >> task.file >> task.output >> task.cpu_seconds)) return "";
  const Descriptor file(open(task.file.c_str(), O_RDWR | O_CLOEXEC));
  if (file.get() < 0) throw std::runtime_error("process 0 of a run must be on the machine of the command");
  const wire::MappedFile mapped(file.get());
  front::remote::Writer writer;
  writer << task.file << task.output << task.cpu_seconds << mapped.case_text() << this_machine();
  return writer.bytes();
}

Task task_in(const std::string& bytes) {
  front::remote::Reader reader(bytes);
  Task task;
  reader >> task.file >> task.output >> task.cpu_seconds >> task.text >> task.machine;
  return task;
}

/// The case's file; where that is another machine's, one like it.
int open_file(const Task& task) {
  if (task.machine == this_machine()) {
    const int file = open(task.file.c_str(), O_RDWR | O_CLOEXEC);
    if (file >= 0) return file;
  }
  const int file = memfd_create("shardlings", MFD_CLOEXEC);
  const cases::Case kase = cases::case_from_json(task.text);
  if (file < 0 || !wire::write_case(file, task.text, static_cast<std::size_t>(kase.ranks))) {
    throw std::runtime_error("there is no room for a case in memory");
  }
  return file;
}

/// While it lives, what is printed goes to the case's file. Where that is not to be had, it goes on to mpirun.
class Printing {
 public:
  explicit Printing(const Task& task) {
    const Descriptor output(task.machine == this_machine() ? open(task.output.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)
                                                           : -1);
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
  limit.rlim_cur = static_cast<rlim_t>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + 1 + seconds);
  setrlimit(RLIMIT_CPU, &limit);
}

/// While it lives, what this process notes in a file of its own is told to who has started it.
class Telling {
 public:
  Telling(CrewPulse& pulse, const Task& task, const back::Progress& progress, wire::MappedFile& file) : pulse_(pulse) {
    if (task.machine == this_machine()) return;  // it is the supervisor's own file
    const Range ranks = world::ranks_of_process(file.black_box().ranks, progress.processes(), progress.process());
    pulse_.tell_of(file, static_cast<int>(ranks.begin), static_cast<int>(ranks.size()));
  }
  ~Telling() { pulse_.tell_of_none(); }
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;

 private:
  CrewPulse& pulse_;
};

void serve(const Task& task, const back::Progress& progress, CrewPulse& pulse,
           const std::function<void(wire::MappedFile&)>& run_case) {
  const Descriptor descriptor(open_file(task));
  wire::MappedFile file(descriptor.get());
  file.header().hello = wire::FileHeader::kHello;
  forget_machine_faults();
  limit_time(task.cpu_seconds);
  const Printing printing(task);
  const Telling telling(pulse, task, progress, file);
  run_case(file);
}

}  // namespace

int serve_cases(world::Backend backend, const std::function<void(wire::MappedFile&)>& run_case) {
  CrewPulse pulse;
  world::Options options;
  world::use_backend(options, backend);
  for (;;) {
    const bool is_first = options.progress->process() == 0;
    const std::string task = world::from_first(*options.progress, is_first ? read_task() : "");
    if (task.empty()) break;
    serve(task_in(task), *options.progress, pulse, run_case);
  }
  world::leave_backend(backend);
  return 0;
}

}  // namespace shardlings::submission
