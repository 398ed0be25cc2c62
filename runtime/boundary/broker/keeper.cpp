#include "boundary/broker/keeper.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "base/rights.h"
#include "base/sanitizers.h"
#include "boundary/broker/call_filter.h"
#include "boundary/mailbox.h"

namespace shardlings::boundary {
namespace {

/// A program that the loader has to put together needs files, and sanitizers need more: CMake says whether jails do
/// without.
#if defined(SHARDLINGS_STATIC_JAILS)
constexpr bool kNeedNoFiles = !kAddressSanitizer && !kThreadSanitizer;
#else
constexpr bool kNeedNoFiles = false;
#endif

/// A number that no user of the machine has, another one for each jail: far above those that systems give. Process
/// numbers have 22 bits at most.
uid_t user_of(int rank, pid_t broker) {
  constexpr std::uint32_t kFirst = 0x70000000, kRanks = 64;
  return kFirst + static_cast<std::uint32_t>(broker) % (1U << 22U) * kRanks + static_cast<std::uint32_t>(rank) % kRanks;
}

bool has_no_clocks() {
#if defined(__x86_64__)
  return prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0;
#else
  return false;
#endif
}

/// Nobody without rights may raise a limit that is in force: where it is lower already, it stays. The broker has it,
/// too, so that the judge knows that it is the machine's.
bool limit_memory(std::int64_t bytes) {
  rlimit in_force = {};
  if (getrlimit(RLIMIT_AS, &in_force) == 0 && in_force.rlim_max < static_cast<rlim_t>(bytes)) return true;
  return set_limit(RLIMIT_AS, bytes);
}

bool set_limits(const JailPlan& plan) {
  return set_limit(RLIMIT_CORE, 0) && set_limit(RLIMIT_FSIZE, 0) && set_limit(RLIMIT_NOFILE, kMailboxDescriptor + 1) &&
         (plan.memory_bytes == 0 || limit_memory(plan.memory_bytes));
}

/// Around the keeper, and so around all jails that it starts. An ordinary user has no right to these.
Walls walls_around_all(const JailPlan& plan) {
  Walls walls;
  walls.namespaces = geteuid() == 0 && unshare(CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS) == 0;
  walls.cgroup = plan.cgroup != nullptr && plan.cgroup->valid() && plan.cgroup->enter();
  return walls;
}

/// In the process that becomes the jail: everything but the filter. False, with errno, if a wall that needs no rights
/// cannot be put up.
bool put_up_walls(const JailPlan& plan, int rank, pid_t broker, Walls& walls) {
  walls.own_process = true;
  walls.limits = set_limits(plan);
  if (!walls.limits) return false;
  if (geteuid() == 0) {
    // In a container, root may have no right to such numbers; then it says so, and the tier is 0.
    walls.own_user = become_user(user_of(rank, broker));
    if (walls.own_user && !set_limit(RLIMIT_NPROC, 1)) return false;
  }
  walls.no_privileges = refuse_new_privileges();
  if (!walls.no_privileges || !die_with_parent()) return false;
  if (kNeedNoFiles) {
    walls.no_files = plan.no_files.valid() && plan.no_files.restrict_this_process();
    walls.no_clocks = has_no_clocks();
  }
  return true;
}

bool tell(int notes, const KeeperNote& note) {
  return write(notes, &note, sizeof note) == static_cast<ssize_t>(sizeof note);
}

bool start_program(int program) {
  char name[] = "jail", locale[] = "LC_ALL=C.UTF-8", nothing[] = "";
  char* const arguments[] = {name, nullptr};
  char* const environment[] = {locale, nullptr};
  syscall(SYS_execveat, program, nothing, arguments, environment, AT_EMPTY_PATH);
  return false;
}

[[noreturn]] void become_jail(const JailPlan& plan, const Walls& around_all, int rank, pid_t broker, pid_t keeper) {
  KeeperNote note{.rank = rank, .walls = around_all};
  const bool walled = dup2(plan.mailboxes[static_cast<std::size_t>(rank)], kMailboxDescriptor) == kMailboxDescriptor &&
                      put_up_walls(plan, rank, broker, note.walls);
  if (getppid() != keeper) _exit(127);
  bool good = walled;
  if (kNeedNoFiles && has_call_filter()) {
    note.walls.system_calls = true;
    good = good && allow_only_calls_of_a_jail(plan.program, plan.notes);
  }
  if (good && note.walls.tier() < plan.least_tier) {
    note.about = KeeperNote::About::too_few;
    tell(plan.notes, note);
    _exit(127);
  }
  good = good && tell(plan.notes, note) && start_program(plan.program);
  note.about = KeeperNote::About::not_started;
  note.number = errno;
  tell(plan.notes, note);
  _exit(127);
}

/// Away from the number that a jail's own mailbox has.
bool keep_free(int& descriptor) {
  if (descriptor == kMailboxDescriptor) descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, kMailboxDescriptor + 1);
  return descriptor >= 0;
}

/// Everything that the broker has open is closed where a program starts.
bool put_descriptors_in_order(JailPlan& plan) {
  bool good = keep_free(plan.program) && keep_free(plan.notes);
  for (int& mailbox : plan.mailboxes) good = good && keep_free(mailbox);
  if (close_range(kMailboxDescriptor + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return good;
  constexpr int kMost = 1024;  // before Linux 5.11
  for (int other = kMailboxDescriptor + 1; other < kMost; ++other) fcntl(other, F_SETFD, FD_CLOEXEC);
  return good;
}

/// A jail for each rank; empty, after a note of the reason, if there is no process for one of them.
std::vector<pid_t> start_jails(const JailPlan& plan, pid_t broker) {
  const pid_t keeper = getpid();
  const Walls around_all = walls_around_all(plan);
  std::vector<pid_t> jails;
  for (int rank = 0; rank < static_cast<int>(plan.mailboxes.size()); ++rank) {
    const pid_t jail = fork();
    if (jail == 0) become_jail(plan, around_all, rank, broker, keeper);
    if (jail < 0) {
      tell(plan.notes, {KeeperNote::About::not_started, rank, errno});
      return {};
    }
    jails.push_back(jail);
  }
  return jails;
}

/// Of a jail that would not end when its processor time was over, as of one that did: the system kills it a second
/// later, which looks as if the machine's memory had run out.
int plain_status(int status, const rusage& used) {
  rlimit time = {};
  if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL || getrlimit(RLIMIT_CPU, &time) != 0) return status;
  const auto seconds = static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                       static_cast<rlim_t>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1'000'000;
  return time.rlim_cur != RLIM_INFINITY && seconds >= time.rlim_cur ? SIGXCPU : status;
}

}  // namespace

void keep_jails(JailPlan& plan, pid_t broker) {
  if (!die_with_parent() || getppid() != broker) _exit(127);
  if (!put_descriptors_in_order(plan)) {
    tell(plan.notes, {KeeperNote::About::not_started, 0, errno});
    _exit(127);
  }
  const std::vector<pid_t> jails = start_jails(plan, broker);
  int status = 0;
  rusage used = {};
  const auto next = [&] { return wait4(-1, &status, 0, &used); };
  for (pid_t ended = next(); !jails.empty() && (ended > 0 || errno == EINTR); ended = next()) {
    const auto jail = std::find(jails.begin(), jails.end(), ended);
    if (jail == jails.end()) continue;
    const auto rank = static_cast<int>(jail - jails.begin());
    KeeperNote note{KeeperNote::About::ended, rank, plain_status(status, used)};
    note.peak_memory = std::int64_t{used.ru_maxrss} * 1024;
    if (!tell(plan.notes, note)) break;
  }
  _exit(0);  // a jail that is left dies with it
}

}  // namespace shardlings::boundary
