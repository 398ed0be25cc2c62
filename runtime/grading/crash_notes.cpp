#include "grading/crash_notes.h"

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <array>
#include <stdexcept>

namespace shardlings::grading {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/// A handler gets no argument of ours, so what it needs is here. Handlers of all threads read it, nobody changes it.
struct Shared {
  CrashNote* note = nullptr;
  char* stacks = nullptr;  ///< kStackBytes for each rank: a handler knows its rank by the stack it runs on
  int ranks = 0;
  std::uint64_t program = 0;  ///< where the program is loaded
};
Shared g_shared;  // NOLINT: see above

std::uint64_t program_counter(const void* context) {
#if defined(__x86_64__)
  return static_cast<std::uint64_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<const ucontext_t*>(context)->uc_mcontext.pc;
#else
  return 0;
#endif
}

int rank_of_stack(const void* here) {
  const auto at = static_cast<const char*>(here) - g_shared.stacks;
  const auto rank = at / static_cast<std::ptrdiff_t>(kStackBytes);
  return at >= 0 && rank < g_shared.ranks ? static_cast<int>(rank) : -1;
}

void on_crash(int signal, siginfo_t* info, void* context) {
  CrashNote& note = *g_shared.note;
  std::int32_t none = 0;
  if (note.signal.compare_exchange_strong(none, signal)) {  // the first one counts: the others follow from it
    note.rank = rank_of_stack(&none);
    note.address = reinterpret_cast<std::uint64_t>(info->si_addr);
    note.pc = program_counter(context) - g_shared.program;
  }
  ::signal(signal, SIG_DFL);
  raise(signal);  // blocked while the handler runs, so it takes effect on return
}

}  // namespace

CrashNotes::CrashNotes(CrashNote& note, int ranks, const void* program) {
  const std::size_t bytes = kStackBytes * static_cast<std::size_t>(ranks);
  void* stacks = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks == MAP_FAILED) throw std::runtime_error("no memory for the stacks of the signal handlers");
  g_shared = {&note, static_cast<char*>(stacks), ranks, reinterpret_cast<std::uint64_t>(program)};
  struct sigaction action = {};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

CrashNotes::~CrashNotes() {
  for (const int signal : kSignals) ::signal(signal, SIG_DFL);
  munmap(g_shared.stacks, kStackBytes * static_cast<std::size_t>(g_shared.ranks));
}

void CrashNotes::watch_this_thread(int rank) {
  stack_t stack = {};
  stack.ss_sp = g_shared.stacks + kStackBytes * static_cast<std::size_t>(rank);
  stack.ss_size = kStackBytes;
  sigaltstack(&stack, nullptr);
}

void CrashNotes::leave_this_thread() {
  stack_t stack = {};
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
}

}  // namespace shardlings::grading
