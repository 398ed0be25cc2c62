// The main function of every jail program: keeps one process for each rank, which runs the learner's functions when its
// broker asks for them. See boundary/jail_protocol.h.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "boundary/jail/mailbox_port.h"
#include "boundary/jail/sandbox.h"
#include "boundary/jail_protocol.h"
#include "boundary/learner_function.h"

namespace shardlings::boundary {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr std::size_t kOutputBytes = 4096;

CrashNote* g_note = nullptr;               // a handler gets no argument of ours
extern "C" const char __executable_start;  // where the linker has put the program's beginning

void on_signal(int signal, siginfo_t* info, void* context) {
  take_note(*g_note, {signal, -1, info, context, reinterpret_cast<std::uint64_t>(&__executable_start)});
  ::signal(signal, SIG_DFL);
  raise(signal);  // blocked while the handler runs, so it takes effect on return
}

/// Also for a stack that has overflowed.
void watch_crashes(CrashNote& note) {
  static char stack[kStackBytes];
  g_note = &note;
  stack_t own = {};
  own.ss_sp = stack;
  own.ss_size = sizeof stack;
  sigaltstack(&own, nullptr);
  prepare_notes();
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : kCrashSignals) sigaction(signal, &action, nullptr);
}

Answer answer(const std::string& message, MailboxPort& port, Kept& kept) {
  Receiver in(message, &port, kept);
  const std::string name = in.text();
  const Registered* function = Registered::find(name);
  if (function == nullptr) std::abort();  // broker and jail were not made of one harness.cpp
  return function->call(in);
}

/// The life of one rank's jail.
[[noreturn]] void serve(Mailbox& mailbox) {
  // With a buffer of its own, standard output asks nothing of the kernel but to write. What was printed before a crash
  // is what one wants to see: so by lines.
  static char output[kOutputBytes];
  std::setvbuf(stdout, output, _IOLBF, sizeof output);
  watch_crashes(mailbox.crash());
  Walls walls;
  close_in(walls);
  MailboxPort port(mailbox);
  Kept kept;
  mailbox.post_plain(Topic::ready, walls);
  while (mailbox.await()) {
    const Answer left = answer(mailbox.bytes(), port, kept);
    std::fflush(stdout);
    mailbox.post(left.topic, left.bytes);
  }
  _exit(0);
}

[[noreturn]] void run_rank(int rank, pid_t keeper) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  void* memory = mmap(nullptr, Mailbox::kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, kMailboxes,
                      static_cast<off_t>(Mailbox::kBytes) * rank);
  if (memory == MAP_FAILED || getppid() != keeper) _exit(1);
  close(kMailboxes);
  close(kEndings);
  Mailbox mailbox(memory, Side::jail);
  serve(mailbox);
}

int keep(int ranks) {
  const pid_t keeper = getpid();
  std::vector<pid_t> jails;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t jail = fork();
    if (jail < 0) return 1;
    if (jail == 0) run_rank(rank, keeper);
    jails.push_back(jail);
  }
  int status = 0;
  for (pid_t ended = wait(&status); ended > 0 || errno == EINTR; ended = wait(&status)) {
    for (int rank = 0; rank < ranks; ++rank) {
      const Ending ending{rank, status};
      if (jails[static_cast<std::size_t>(rank)] == ended && write(kEndings, &ending, sizeof ending) < 0) return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace shardlings::boundary

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("This is a compiled puzzle in a jail; ./shardlings starts it.\n", stderr);
    return 2;
  }
  return shardlings::boundary::keep(std::atoi(argv[1]));
}
