#include "boundary/broker/jails.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "base/file.h"
#include "boundary/jail_protocol.h"

namespace shardlings::boundary {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

/// A file in memory that keeps its size: nobody can cut off what another has mapped.
void seal(int file) {
  if (fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) fail("sealing a jail's mailboxes");
}

int make_mailboxes(std::size_t bytes) {
  const int file = memfd_create("mailboxes", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) fail("memory for the jails' mailboxes");
  seal(file);
  return file;
}

/// The program as a file in memory: whoever runs it needs no right to the folder in which it was built.
int copy_program(const std::string& path) {
  const int file = memfd_create("jail", MFD_CLOEXEC);
  if (file < 0 || !write_all(file, read_whole_file(path))) fail("memory for the jail's program");
  return file;
}

bool set_limit(__rlimit_resource resource, rlim_t most) {
  const rlimit limit{most, most};
  return setrlimit(resource, &limit) == 0;
}

/// Numbers of users that nobody has: far above those that systems give.
constexpr uid_t kFirstUser = 0x70000000;

bool become_nobody() {
  const auto user = static_cast<uid_t>(kFirstUser + static_cast<uid_t>(getppid()));
  return setgroups(0, nullptr) == 0 && setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0;
}

/// What is left to do between fork and exec. Ends the process if a wall that should stand does not.
[[noreturn]] void run_jails(const JailOptions& options, int program, int mailboxes, int endings, pid_t broker) {
  // Out of the way of the two numbers first.
  const int high_mailboxes = fcntl(mailboxes, F_DUPFD, 16), high_endings = fcntl(endings, F_DUPFD, 16);
  const int high_program = fcntl(program, F_DUPFD_CLOEXEC, 16);
  bool fine = dup2(high_mailboxes, kMailboxes) == kMailboxes && dup2(high_endings, kEndings) == kEndings;
  close(high_mailboxes);
  close(high_endings);
  const bool is_root = geteuid() == 0;
  fine = fine && set_limit(RLIMIT_CORE, 0) && set_limit(RLIMIT_FSIZE, 0);
  if (options.memory_bytes > 0) fine = fine && set_limit(RLIMIT_AS, static_cast<rlim_t>(options.memory_bytes));
  if (is_root) {
    fine = fine && become_nobody() && set_limit(RLIMIT_NPROC, static_cast<rlim_t>(options.ranks) + 1);
  }
  fine = fine && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
  if (!fine || getppid() != broker) _exit(127);
  const std::string ranks = std::to_string(options.ranks);
  char name[] = "jail";
  char* const arguments[] = {name, const_cast<char*>(ranks.c_str()), nullptr};
  char locale[] = "LC_ALL=C.UTF-8";
  char* const environment[] = {locale, nullptr};
  fexecve(high_program, arguments, environment);
  _exit(127);
}

}  // namespace

Jails::Jails(const JailOptions& options, CrashNote& note)
    : bytes_(Mailbox::kBytes * static_cast<std::size_t>(options.ranks)), note_(note) {
  const Descriptor mailboxes(make_mailboxes(bytes_));
  memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, mailboxes.get(), 0);
  if (memory_ == MAP_FAILED) fail("mapping the jails' mailboxes");
  for (int rank = 0; rank < options.ranks; ++rank) {
    ranks_.emplace_back(static_cast<char*>(memory_) + Mailbox::kBytes * static_cast<std::size_t>(rank),
                        [this, rank](WaitStatus status) { end_alike(rank, status); });
  }
  start(options, mailboxes.get());
  watcher_ = std::thread([this] { watch(); });
}

void Jails::start(const JailOptions& options, int mailboxes) {
  const Descriptor program(copy_program(options.program));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("a pipe from the jails");
  endings_.reset(ends[0]);
  const Descriptor to_us(ends[1]);
  const pid_t broker = getpid();
  own_user_ = geteuid() == 0;
  keeper_ = fork();
  if (keeper_ < 0) fail("a process for the jails");
  if (keeper_ == 0) run_jails(options, program.get(), mailboxes, to_us.get(), broker);
}

// Ends when nobody holds the other end of the pipe any more: the keeper and all jails are gone.
void Jails::watch() {
  Ending ending;
  while (true) {
    const ssize_t size = read(endings_.get(), &ending, sizeof ending);
    if (size < 0 && errno == EINTR) continue;
    if (size != sizeof ending) break;
    if (ending.rank >= 0 && ending.rank < static_cast<int>(ranks_.size())) of(ending.rank).abandon(ending.status);
  }
  int status = 0;
  waitpid(keeper_, &status, 0);
  for (JailedRank& rank : ranks_) rank.abandon(status);
}

Jails::~Jails() {
  kill(keeper_, SIGKILL);  // the jails die with it
  watcher_.join();
  munmap(memory_, bytes_);
}

Walls Jails::await_ready() {
  Walls all = ranks_.front().await_ready();
  for (std::size_t rank = 1; rank < ranks_.size(); ++rank) all = common(all, ranks_[rank].await_ready());
  all.own_process = true;
  all.own_user = own_user_;
  all.no_privileges = true;
  all.limits = true;
  return all;
}

void Jails::end_alike(int rank, WaitStatus status) {
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  CrashNote& left = of(rank).crash();
  if (left.signal.load() == signal) {
    note_.rank = rank;
    note_.address = left.address;
    for (std::size_t i = 0; i < CrashNote::kFrames; ++i) note_.frames[i] = left.frames[i];
    note_.signal = signal;
  }
  ::signal(signal, SIG_DFL);
  kill(getpid(), signal);
  while (true) pause();  // another thread may be the one that it comes to
}

}  // namespace shardlings::boundary
