#include "submission/crash_notes.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>

namespace shardlings::submission {
namespace {

constexpr std::size_t kStackBytes = 64 * 1024;

/// A handler gets no argument of ours, so what it needs is here. Set before the ranks start, read by handlers only.
struct Shared {
  boundary::CrashNote* note = nullptr;
  front::BlackBox box;
  char* stacks = nullptr;  ///< kStackBytes for each rank: a handler knows its rank by the stack it runs on
  const std::atomic<pid_t>* threads = nullptr;
  std::uint64_t program = 0;  ///< where it is loaded
  bool one_thread = false;    ///< that runs all ranks
};
Shared g_shared;  // NOLINT: see above

/// Who is told of a note; nullptr: nobody.
std::atomic<void (*)()> g_after_note{nullptr};

void tell() {
  if (void (*after)() = g_after_note.load()) after();
}

int rank_of_stack(const void* here) {
  const auto at = static_cast<const char*>(here) - g_shared.stacks;
  const auto rank = at / static_cast<std::ptrdiff_t>(kStackBytes);
  return at >= 0 && rank < g_shared.box.ranks ? static_cast<int>(rank) : -1;
}

bool is_running(int rank) {
  return rank >= 0 && g_shared.box.entries[rank].state == static_cast<std::uint32_t>(front::RankState::running);
}

/// Where one thread runs all ranks: the others are blocked or finished, or have not begun.
int the_running_rank() {
  for (int rank = 0; rank < g_shared.box.ranks; ++rank) {
    if (is_running(rank)) return rank;
  }
  return -1;
}

/// Sends the signal to a rank that is running; false if there is none.
bool pass_on(int signal) {
  for (int rank = 0; rank < g_shared.box.ranks; ++rank) {
    const pid_t thread = g_shared.threads[rank].load();
    if (is_running(rank) && thread != 0 && syscall(SYS_tgkill, getpid(), thread, signal) == 0) return true;
  }
  return false;
}

/// The thread that has crashed first; 0: none has. Not in Shared, which is set as a whole.
std::atomic<pid_t> g_noting{0};

/// Whether this thread is the first one that crashes. Another one waits, since the process ends with the first signal
/// that takes its default course, and ranks that make the same mistake crash within microseconds of one another. It
/// waits for a second at most, in case that the first one crashes again while it notes.
bool is_first_to_crash() {
  pid_t first = 0;
  if (g_noting.compare_exchange_strong(first, gettid()) || first == gettid()) return true;
  constexpr int kMilliseconds = 1000;
  const timespec millisecond = {0, 1'000'000};
  for (int i = 0; i < kMilliseconds; ++i) nanosleep(&millisecond, nullptr);
  return false;
}

void on_signal(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  const int rank = g_shared.one_thread ? the_running_rank() : rank_of_stack(&error);
  if (signal == SIGXCPU && !is_running(rank) && pass_on(signal)) {
    errno = error;
    return;
  }
  if (is_first_to_crash()) {
    take_note(*g_shared.note, {signal, rank, info, context, g_shared.program});
    tell();
  }
  ::signal(signal, SIG_DFL);
  raise(signal);  // blocked while the handler runs, so it takes effect on return
}

/// Of the rank that runs on this thread; -1: none does.
int rank_of_this_thread() {
  for (int rank = 0; rank < g_shared.box.ranks; ++rank) {
    if (g_shared.threads[rank].load() == gettid()) return rank;
  }
  return -1;
}

void note_exit(boundary::CrashNote::ExitBy by) {
  if (g_shared.note == nullptr) return;  // the run is over, and the program ends as it should
  take_note_of_exit(*g_shared.note, by, rank_of_this_thread(), g_shared.program);
  tell();
}

/// Once: a process of a crew makes notes of one case after another.
void watch_exits() {
  [[maybe_unused]] static const bool once = [] {
    std::atexit([] { note_exit(boundary::CrashNote::ExitBy::exit); });
    std::at_quick_exit([] { note_exit(boundary::CrashNote::ExitBy::quick_exit); });
    return true;
  }();
}

}  // namespace

void tell_of_crashes(void (*after_note)()) {
  g_after_note = after_note;
}

CrashNotes::CrashNotes(boundary::CrashNote& note, front::BlackBox box, const void* program)
    : threads_(new std::atomic<pid_t>[static_cast<std::size_t>(box.ranks)] {}) {
  const std::size_t bytes = kStackBytes * static_cast<std::size_t>(box.ranks);
  void* stacks = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks == MAP_FAILED) throw std::runtime_error("no memory for the stacks of the signal handlers");
  g_shared = {&note, box, static_cast<char*>(stacks), threads_.get(), reinterpret_cast<std::uint64_t>(program), false};
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : boundary::kCrashSignals) sigaction(signal, &action, nullptr);
  watch_exits();
}

CrashNotes::~CrashNotes() {
  for (const int signal : boundary::kCrashSignals) ::signal(signal, SIG_DFL);
  munmap(g_shared.stacks, kStackBytes * static_cast<std::size_t>(g_shared.box.ranks));
  g_shared.note = nullptr;
}

void CrashNotes::watch_this_thread(int rank) {
  stack_t stack = {};
  stack.ss_sp = g_shared.stacks + kStackBytes * static_cast<std::size_t>(rank);
  stack.ss_size = kStackBytes;
  sigaltstack(&stack, nullptr);
  threads_[static_cast<std::size_t>(rank)] = gettid();
}

void CrashNotes::watch_all_on_this_thread() {
  watch_this_thread(0);
  g_shared.one_thread = true;
}

void CrashNotes::leave_this_thread(int rank) {
  threads_[static_cast<std::size_t>(rank)] = 0;
  stack_t stack = {};
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
}

}  // namespace shardlings::submission
