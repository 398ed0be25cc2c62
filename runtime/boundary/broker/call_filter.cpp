#include "boundary/broker/call_filter.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace shardlings::boundary {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif

/// A program of the kernel's for what a process may ask of it. Each rule jumps over itself if it does not apply.
class Filter {
 public:
  Filter() {
    load(offsetof(seccomp_data, arch));
    add(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
  }
  void allow(std::initializer_list<long> calls) {
    for (const long call : calls) answer(call, SECCOMP_RET_ALLOW);
  }
  /// They fail, and the process goes on.
  void refuse(std::initializer_list<long> calls) {
    for (const long call : calls) answer(call, SECCOMP_RET_ERRNO | EACCES);
  }
  /// If none of `bits` is set in argument `i`; it is a 32-bit one.
  void allow_without(long call, int i, std::uint32_t bits) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4);
    load(argument(i));
    add(BPF_JMP | BPF_JSET | BPF_K, bits, 1, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    load(offsetof(seccomp_data, nr));
  }
  /// If argument `i`, a 32-bit one, is one of these.
  void allow_with(long call, int i, std::initializer_list<int> values) {
    for (const int value : values) {
      add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 4);
      load(argument(i));
      add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(value), 0, 1);
      add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
      load(offsetof(seccomp_data, nr));
    }
  }
  /// tgkill to `self` alone, and not with a signal that looks as if the system had sent it.
  void allow_signals_to(std::uint32_t self) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(SYS_tgkill), 0, 7);
    load(argument(0));
    add(BPF_JMP | BPF_JEQ | BPF_K, self, 0, 4);
    load(argument(2));
    add(BPF_JMP | BPF_JEQ | BPF_K, SIGKILL, 2, 0);
    add(BPF_JMP | BPF_JEQ | BPF_K, SIGSTOP, 1, 0);
    add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    load(offsetof(seccomp_data, nr));
  }
  /// Everything else ends the process with a signal that says so.
  bool install() {
    add(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

 private:
  static std::uint32_t argument(int i) {
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + sizeof(std::uint64_t) * static_cast<unsigned>(i));
  }
  void answer(long call, std::uint32_t answer) {
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1);
    add(BPF_RET | BPF_K, answer);
  }
  void load(std::size_t at) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(at)); }
  void add(int code, std::uint32_t value, int if_true = 0, int if_false = 0) {
    code_.push_back({static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(if_true),
                     static_cast<std::uint8_t>(if_false), value});
  }

  std::vector<sock_filter> code_;
};

/// What the C library asks before the first constructor of a statically linked program. It does without those that are
/// refused: they would say what files there are.
void allow_setting_up(Filter& filter) {
  filter.allow({SYS_set_tid_address, SYS_set_robust_list, SYS_rseq, SYS_getrandom});
  filter.refuse({SYS_readlinkat, SYS_newfstatat, SYS_fstat, SYS_prlimit64});
#if defined(__x86_64__)
  filter.allow({SYS_arch_prctl});
  filter.refuse({SYS_readlink});
#endif
}

}  // namespace

bool has_call_filter() {
  return kArchitecture != 0;
}

bool allow_only_calls_of_a_jail(int program, int notes) {
  Filter filter;
  filter.allow({SYS_futex, SYS_sched_yield, SYS_brk, SYS_munmap, SYS_mremap, SYS_madvise, SYS_rt_sigreturn,
                SYS_exit_group, SYS_exit});
  filter.allow_without(SYS_mmap, 2, PROT_EXEC);
  filter.allow_without(SYS_mprotect, 2, PROT_EXEC);
  filter.allow_with(SYS_write, 0, {STDOUT_FILENO, STDERR_FILENO, notes});
  filter.allow_with(SYS_writev, 0, {STDOUT_FILENO, STDERR_FILENO});
  filter.allow_with(SYS_execveat, 0, {program});
  allow_setting_up(filter);
  // What a process does to itself when it ends by a signal. It may only send signals to itself.
  filter.allow({SYS_rt_sigprocmask, SYS_rt_sigaction, SYS_sigaltstack, SYS_gettid, SYS_getpid});
  filter.allow_signals_to(static_cast<std::uint32_t>(getpid()));
  return filter.install();
}

}  // namespace shardlings::boundary
