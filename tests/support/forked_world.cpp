#include "support/forked_world.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

#include "base/descriptor.h"
#include "front/remote/messages.h"
#include "support/child_failures.h"
#include "support/socket_transport.h"
#include "world/process_world.h"

namespace shardlings::support {
namespace {

using front::RunReport;
using world::Options;

void write_all(int file, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(file, bytes.data() + done, bytes.size() - done);
    if (n < 0) throw std::system_error(errno, std::generic_category(), "write");
    done += static_cast<std::size_t>(n);
  }
}

std::string read_all(int file) {
  std::string bytes(static_cast<std::size_t>(lseek(file, 0, SEEK_END)), '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = pread(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (n <= 0) throw std::system_error(errno, std::generic_category(), "read");
    done += static_cast<std::size_t>(n);
  }
  return bytes;
}

// The whole life of a process. Returns its exit status.
int run_process(const Options& options, const Sockets& sockets, int process, int file,
                const std::function<void(Rank&)>& body) try {
  back::Progress progress(make_socket_transport(sockets, process));
  Options of_process = options;
  of_process.progress = &progress;
  const RunReport report = world::run(of_process, body);
  if (process != 0) return 0;
  front::remote::Writer writer;
  writer << report.ranks << report.failure;
  write_all(file, writer.bytes());
  return 0;
} catch (const std::exception&) {
  return 1;  // the others see the connection end
}

pid_t start_process(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) _exit(body());
  return child;
}

RunReport report_in(int file, int ranks) {
  RunReport report;
  const std::string bytes = read_all(file);
  if (bytes.empty()) {
    report.ranks.resize(static_cast<std::size_t>(ranks));
    report.failure = front::Failure{};
    report.failure->message = "process 0 ended in the middle of the run";
    return report;
  }
  front::remote::Reader reader(bytes);
  reader >> report.ranks >> report.failure;
  return report;
}

}  // namespace

RunReport run_forked_world(const Options& options, int processes, const std::function<void(Rank&)>& body) {
  const Sockets sockets = make_sockets(processes);
  const Descriptor file(memfd_create("report", MFD_CLOEXEC));
  const ChildFailures failures;
  std::vector<pid_t> children;
  for (int process = 0; process < processes; ++process) {
    children.push_back(start_process([&] {
      failures.leave_here();
      return run_process(options, sockets, process, file.get(), body);
    }));
  }
  close_all(sockets);
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  failures.repeat();
  return report_in(file.get(), options.ranks);
}

}  // namespace shardlings::support
