#include "support/refusals.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace shardlings::support {
namespace {

constexpr auto kErrno = static_cast<unsigned>(SECCOMP_RET_ERRNO);

/// Answers EAGAIN to clone() where its flag of threads is set, or where it is not. clone3 hides its flags behind a
/// pointer: it is said not to be there, and then the C library takes clone.
bool refuse_clone(bool threads) {
  const auto refused = static_cast<unsigned char>(threads ? 1 : 0),
             allowed = static_cast<unsigned char>(threads ? 0 : 1);
  std::array filter = {
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 4, 0),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 2),
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, static_cast<unsigned char>(2 * refused),
                           static_cast<unsigned char>(2 * allowed)),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      sock_filter BPF_STMT(BPF_RET | BPF_K, kErrno | ENOSYS),
      sock_filter BPF_STMT(BPF_RET | BPF_K, kErrno | EAGAIN),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool limit(int resource, rlim_t most) {
  const rlimit values{most, most};
  return setrlimit(static_cast<__rlimit_resource>(resource), &values) == 0;
}

}  // namespace

bool refuse_threads() {
  return refuse_clone(true);
}

bool refuse_processes() {
  return refuse_clone(false);
}

bool allow_files(int most) {
  return limit(RLIMIT_NOFILE, static_cast<rlim_t>(most));
}

bool allow_address_space(int mebibytes) {
  return limit(RLIMIT_AS, static_cast<rlim_t>(mebibytes) << 20U);
}

bool fill_up(const std::string& folder) {
  const bool own = unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  if (!own || mount("none", folder.c_str(), "tmpfs", 0, "size=64k") != 0) return false;
  const int file = open((folder + "/full").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  std::array<char, 4096> page{};
  while (write(file, page.data(), page.size()) > 0) {
  }
  const bool is_full = errno == ENOSPC;
  close(file);
  return is_full;
}

}  // namespace shardlings::support
