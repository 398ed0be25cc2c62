#include "submission/crash_notes.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>

namespace shardlings::submission {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU};

/// A handler gets no argument of ours, so what it needs is here. Set before the ranks start, read by handlers only.
struct Shared {
  wire::CrashNote* note = nullptr;
  front::BlackBox box;
  char* stacks = nullptr;  ///< kStackBytes for each rank: a handler knows its rank by the stack it runs on
  const std::atomic<pid_t>* threads = nullptr;
  std::uint64_t program = 0;  ///< where it is loaded
};
Shared g_shared;  // NOLINT: see above

int rank_of_stack(const void* here) {
  const auto at = static_cast<const char*>(here) - g_shared.stacks;
  const auto rank = at / static_cast<std::ptrdiff_t>(kStackBytes);
  return at >= 0 && rank < g_shared.box.ranks ? static_cast<int>(rank) : -1;
}

bool is_running(int rank) {
  return rank >= 0 && g_shared.box.entries[rank].state == static_cast<std::uint32_t>(front::RankState::running);
}

/// Sends the signal to a rank that is running; false if there is none.
bool pass_on(int signal) {
  for (int rank = 0; rank < g_shared.box.ranks; ++rank) {
    const pid_t thread = g_shared.threads[rank].load();
    if (is_running(rank) && thread != 0 && syscall(SYS_tgkill, getpid(), thread, signal) == 0) return true;
  }
  return false;
}

/// Where the signal came, so that it can be told from return addresses.
std::uint64_t program_counter([[maybe_unused]] const void* context) {
#if defined(__x86_64__)
  return static_cast<std::uint64_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<const ucontext_t*>(context)->uc_mcontext.pc;
#else
  return 0;
#endif
}

void take_note(int signal, int rank, const void* address, std::uint64_t pc) {
  wire::CrashNote& note = *g_shared.note;
  std::int32_t none = 0;
  if (!note.signal.compare_exchange_strong(none, signal)) return;  // the first one counts: the others follow from it
  note.rank = rank;
  note.address = reinterpret_cast<std::uint64_t>(address);
  std::array<void*, wire::CrashNote::kFrames> frames{};
  backtrace(frames.data(), static_cast<int>(frames.size()));
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto frame = reinterpret_cast<std::uint64_t>(frames[i]);
    // A return address belongs to what follows the call: one byte before it is the call.
    if (frame != 0) note.frames[i] = (frame == pc ? frame : frame - 1) - g_shared.program;
  }
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const int rank = rank_of_stack(&error);
  if (signal == SIGXCPU && !is_running(rank) && pass_on(signal)) {
    errno = error;
    return;
  }
  take_note(signal, rank, info->si_addr, program_counter(context));
  ::signal(signal, SIG_DFL);
  raise(signal);  // blocked while the handler runs, so it takes effect on return
}

}  // namespace

CrashNotes::CrashNotes(wire::CrashNote& note, front::BlackBox box, const void* program)
    : threads_(new std::atomic<pid_t>[static_cast<std::size_t>(box.ranks)] {}) {
  const std::size_t bytes = kStackBytes * static_cast<std::size_t>(box.ranks);
  void* stacks = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks == MAP_FAILED) throw std::runtime_error("no memory for the stacks of the signal handlers");
  g_shared = {&note, box, static_cast<char*>(stacks), threads_.get(), reinterpret_cast<std::uint64_t>(program)};
  std::array<void*, 1> frame{};
  backtrace(frame.data(), 1);  // the first call loads a library, which a handler must not
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : kSignals) sigaction(signal, &action, nullptr);
}

CrashNotes::~CrashNotes() {
  for (const int signal : kSignals) ::signal(signal, SIG_DFL);
  munmap(g_shared.stacks, kStackBytes * static_cast<std::size_t>(g_shared.box.ranks));
}

void CrashNotes::watch_this_thread(int rank) {
  stack_t stack = {};
  stack.ss_sp = g_shared.stacks + kStackBytes * static_cast<std::size_t>(rank);
  stack.ss_size = kStackBytes;
  sigaltstack(&stack, nullptr);
  threads_[static_cast<std::size_t>(rank)] = gettid();
}

void CrashNotes::leave_this_thread(int rank) {
  threads_[static_cast<std::size_t>(rank)] = 0;
  stack_t stack = {};
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
}

}  // namespace shardlings::submission
