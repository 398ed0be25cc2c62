// The main function of every jail program: runs the learner's functions of one rank when its broker asks for them.
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "boundary/jail/mailbox_port.h"
#include "boundary/registered.h"

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

void note_exit(CrashNote::ExitBy by) {
  take_note_of_exit(*g_note, by, -1, reinterpret_cast<std::uint64_t>(&__executable_start));
}

/// Also for a stack that has overflowed.
void watch_ends(CrashNote& note) {
  static char stack[kStackBytes];
  g_note = &note;
  stack_t own = {};
  own.ss_sp = stack;
  own.ss_size = sizeof stack;
  sigaltstack(&own, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : kCrashSignals) sigaction(signal, &action, nullptr);
  std::atexit([] { note_exit(CrashNote::ExitBy::exit); });
  std::at_quick_exit([] { note_exit(CrashNote::ExitBy::quick_exit); });
}

Answer answer(const std::string& message, MailboxPort& port, Kept& kept) {
  Receiver in(message, &port, kept);
  const std::string name = in.text();
  const Registered* function = Registered::find(name);
  if (function == nullptr) std::abort();  // broker and jail were not made of one harness.cpp
  return function->call(in);
}

/// Answers the broker's calls for as long as there is one.
[[noreturn]] void serve(Mailbox& mailbox) {
  // With a buffer of its own, standard output asks nothing of the kernel but to write. What was printed before a crash
  // is what one wants to see: so by lines.
  static char output[kOutputBytes];
  std::setvbuf(stdout, output, _IOLBF, sizeof output);
  watch_ends(mailbox.crash());
  MailboxPort port(mailbox);
  const detail::PortOfThisThread here(port);
  Kept kept;
  while (mailbox.await()) {
    const Answer left = answer(mailbox.bytes(), port, kept);
    std::fflush(stdout);
    if (left.bytes.size() <= Mailbox::kMost) {
      mailbox.post(left.topic, left.bytes);
    } else {
      mailbox.post_plain(Topic::too_large, std::uint64_t{left.bytes.size()});
    }
  }
  _exit(0);
}

}  // namespace
}  // namespace shardlings::boundary

int main() {
  using namespace shardlings::boundary;
  void* memory = mmap(nullptr, Mailbox::kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, kMailboxDescriptor, 0);
  if (memory == MAP_FAILED) {
    std::fputs("This is a compiled puzzle in a jail; ./shardlings starts it.\n", stderr);
    return 2;
  }
  Mailbox mailbox(memory, Side::jail);
  serve(mailbox);
}
