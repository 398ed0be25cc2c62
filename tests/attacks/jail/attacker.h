/// \file
/// What attacks on jails have at hand: the compile wall is taken as fallen, so everything of the system's and of ours.
#pragma once

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <shardlings/puzzle.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "api/access.h"
#include "base/pack.h"
#include "boundary/jail/mailbox_port.h"
#include "boundary/mailbox.h"

using namespace shardlings;
using namespace shardlings::boundary;
using shardlings::detail::Access;
using shardlings::detail::Call;
using shardlings::detail::Ref;
using shardlings::detail::Verb;

/// A line of output, past all buffers.
[[gnu::format(printf, 1, 2)]] inline void say(const char* format, ...) {
  char line[1024];
  va_list values;
  va_start(values, format);
  int size = vsnprintf(line, sizeof line - 1, format, values);
  va_end(values);
  if (size > static_cast<int>(sizeof line) - 2) size = sizeof line - 2;
  line[size++] = '\n';
  if (write(1, line, static_cast<std::size_t>(size)) < 0) _exit(99);
}

/// The test fails where an attack says this.
inline void gained(const char* what) {
  say("GAINED %s", what);
}

/// Asks the system.
template <class... T>
long ask(long number, T... arguments) {
  return syscall(number, arguments...);
}

/// Something that must end the process; if it does not, the attacker has gained it.
template <class... T>
void ask_fatal(long number, T... arguments) {
  ask(number, arguments...);
  gained("a call that came back");
}

/// Something that must fail without an end.
template <class... T>
void ask_in_vain(long number, T... arguments) {
  if (ask(number, arguments...) >= 0) return gained("a call that succeeded");
  say("refused: errno %d", errno);
}

/// Another look at the jail's own mailbox.
inline char* mailbox_memory() {
  return static_cast<char*>(mmap(nullptr, Mailbox::kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, kMailboxDescriptor, 0));
}
inline Mailbox& mailbox() {
  static Mailbox box(mailbox_memory(), Side::jail);
  return box;
}
inline MailboxPort& port() {
  static MailboxPort own(mailbox());
  return own;
}
/// Words at the beginning of a mailbox.
inline volatile std::uint32_t& word(int i) {
  static char* memory = mailbox_memory();
  return reinterpret_cast<volatile std::uint32_t*>(memory)[i];
}
constexpr int kTurn = 0, kTopic = 3, kSize = 4;

/// A call that is refused; what it says then is printed.
inline bool is_refused(const Call& call) {
  try {
    port().call(call);
  } catch (const std::exception& error) {
    say("refused: %s", error.what());
    return true;
  }
  return false;
}
inline void must_be_refused(const Call& call) {
  if (!is_refused(call)) gained("a call that was answered");
}

inline Call call_of(Verb verb, std::initializer_list<Ref> tensors = {}) {
  Call call;
  call.verb = verb;
  for (const Ref& ref : tensors) call.tensor[call.num_tensors++] = ref;
  return call;
}

[[noreturn]] inline void loop_for_ever() {
  for (volatile int i = 0;; i = i + 1) {
  }
}
inline void sleep_for_ever() {
  static std::uint32_t nothing = 0;
  for (;;) ask(SYS_futex, &nothing, FUTEX_WAIT, 0, nullptr, nullptr, 0);
}

/// Programs of one attack say that they have begun to be tried; in others it is said for each.
inline void tried() {
  say("tried constructor");
}

/// Calls with handles and numbers that may be right, all others wrong in some way.
inline void random_calls(Rank& rank, View data, unsigned seed) {
  std::mt19937_64 random(seed * 100 + static_cast<unsigned>(rank.id()));
  const auto below = [&](std::uint64_t n) { return random() % n; };
  std::vector<Ref> refs = {Access::ref(data)};
  for (int i = 0; i < 3000; ++i) {
    Call call;
    call.verb = static_cast<Verb>(below(static_cast<unsigned>(Verb::count_)));
    // These wait for others or end the tensor that all is about: no more of them than of a few of each.
    if (call.verb == Verb::drop && below(8) != 0) continue;
    call.blocking = below(4) != 0;
    call.num_tensors = static_cast<std::uint8_t>(below(6));
    for (Ref& ref : call.tensor) {
      ref = refs[below(refs.size())];
      if (below(8) == 0) ref.offset = static_cast<Count>(below(8)) - 2;
      if (below(8) == 0) ref.shape = Shape{static_cast<Count>(below(9)), static_cast<Count>(below(9))};
      if (below(16) == 0) ref.storage = static_cast<std::uint32_t>(below(20));
      if (below(16) == 0) ref.dtype = static_cast<DType>(below(3));
    }
    for (std::int64_t& number : call.number) {
      number = below(8) == 0 ? static_cast<std::int64_t>(random()) : static_cast<std::int64_t>(below(12)) - 2;
    }
    for (float& scalar : call.scalar) scalar = static_cast<float>(below(5)) - 2.F;
    if (below(4) == 0) call.id = below(12);
    mailbox().post_plain(Topic::call, call);
    mailbox().await();
    const auto reply = mailbox().plain<detail::Reply>();
    if (reply.error == detail::ErrorKind::none && reply.tensor[0].storage != 0 && refs.size() < 40) {
      refs.push_back(reply.tensor[0]);
    }
  }
}
