#include "boundary/broker/jails.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/machine_fault.h"

namespace shardlings::boundary {
namespace {

[[noreturn]] void fail(const std::string& what, int error = errno) {
  throw MachineFault(with_advice(what, error));
}

/// The program as a file in memory: a jail needs no right to the folder in which it was built, and has none to any file
/// on a disk.
int copy_program(const std::string& path) {
  const Descriptor from(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status = {};
  if (from.get() < 0 || fstat(from.get(), &status) != 0) fail("cannot read " + path);
  Descriptor to(memfd_create("jail", MFD_CLOEXEC));
  off_t done = 0;
  while (to.get() >= 0 && done < status.st_size) {
    const ssize_t sent = sendfile(to.get(), from.get(), &done, static_cast<std::size_t>(status.st_size - done));
    if (sent <= 0) break;
  }
  if (to.get() < 0 || done != status.st_size) fail("there is no memory for the jails' program");
  return to.release();
}

}  // namespace

TooFewWalls::TooFewWalls(const Walls& walls)
    : MachineFault(fmt::format("there are too few walls for a stranger's code here, which was not run. Grade as root, "
                               "for example in a container, or answer for the code: --trust. Jails have {} (tier {})",
                               fmt::join(words_of(walls), ", "), walls.tier())) {}

SharedMemory::SharedMemory() : file_(memfd_create("mailbox", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  const bool made = file_.get() >= 0 && ftruncate(file_.get(), static_cast<off_t>(Mailbox::kBytes)) == 0 &&
                    fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  begin_ = made ? mmap(nullptr, Mailbox::kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0) : MAP_FAILED;
  if (begin_ == MAP_FAILED) fail("there is no memory for a jail's mailbox");
}

SharedMemory::~SharedMemory() {
  munmap(begin_, Mailbox::kBytes);
}

Jails::KeeperProcess::~KeeperProcess() {
  if (process <= 0) return;
  kill(process, SIGKILL);  // the jails die with it
  waitpid(process, nullptr, 0);
}

Jails::Jails(const JailOptions& options, CrashNote& note, std::int64_t& killed_peak)
    : note_(note),
      killed_peak_(killed_peak),
      cgroup_({.memory_bytes = options.memory_of_all, .processes = options.ranks + 1}) {
  for (int rank = 0; rank < options.ranks; ++rank) {
    ranks_.emplace_back(
        mailboxes_.emplace_back().begin(), [this, rank](WaitStatus status) { end_alike(rank, status); },
        options.source);
  }
  start(options);
  await_walls();
  watcher_ = std::thread([this] { watch(); });
}

void Jails::start(const JailOptions& options) {
  const Descriptor program(copy_program(options.program));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("there is no pipe from the jails");
  notes_.reset(ends[0]);
  const Descriptor to_us(ends[1]);
  JailPlan plan{.program = program.get(),
                .notes = to_us.get(),
                .least_tier = options.least_tier,
                .memory_bytes = options.memory_bytes};
  plan.cgroup = &cgroup_;
  for (const SharedMemory& mailbox : mailboxes_) plan.mailboxes.push_back(mailbox.file());
  const pid_t broker = getpid();
  keeper_.process = fork();
  if (keeper_.process < 0) fail("there is no process for the jails");
  if (keeper_.process == 0) keep_jails(plan, broker);
}

// False when nobody holds the other end of the pipe any more: the keeper is gone, and with it all jails.
bool Jails::read_note(KeeperNote& note) {
  ssize_t size = 0;
  do {
    size = read(notes_.get(), &note, sizeof note);
  } while (size < 0 && errno == EINTR);
  return size == static_cast<ssize_t>(sizeof note);
}

void Jails::heed(const KeeperNote& note) {
  if (note.rank < 0 || note.rank >= static_cast<int>(ranks_.size())) return;
  if (note.about == KeeperNote::About::not_started) of(note.rank).cannot_start(note.number);
  if (note.about != KeeperNote::About::ended) return;
  if (WIFSIGNALED(note.number) && WTERMSIG(note.number) == SIGKILL) killed_peak_ = note.peak_memory;
  of(note.rank).abandon(note.number);
}

void Jails::await_walls() {
  KeeperNote note;
  for (std::size_t walled = 0; walled < ranks_.size();) {
    if (!read_note(note)) throw MachineFault("the process that keeps the jails has ended");
    if (note.about == KeeperNote::About::too_few) throw TooFewWalls(note.walls);
    if (note.about == KeeperNote::About::not_started) fail("a jail could not be started", note.number);
    heed(note);
    if (note.about != KeeperNote::About::walls) continue;
    walls_ = walled == 0 ? note.walls : common(walls_, note.walls);
    ++walled;
  }
}

void Jails::watch() {
  for (KeeperNote note; read_note(note);) heed(note);
  // The jails die with the keeper, so its end is theirs.
  for (JailedRank& rank : ranks_) rank.abandon(SIGKILL);
}

Jails::~Jails() {
  kill(keeper_.process, SIGKILL);
  watcher_.join();
}

void Jails::end_alike(int rank, WaitStatus status) {
  const CrashNote& left = of(rank).crash();
  if (WIFEXITED(status)) {
    copy_exit(left, rank, note_);
    _exit(WEXITSTATUS(status));
  }
  const int signal = WTERMSIG(status);
  copy_crash(left, signal, rank, note_);
  ::signal(signal, SIG_DFL);
  kill(getpid(), signal);
  while (true) pause();  // another thread may be the one that it comes to
}

}  // namespace shardlings::boundary
