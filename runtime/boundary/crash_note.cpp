#include "boundary/crash_note.h"

#include <execinfo.h>
#include <ucontext.h>

namespace shardlings::boundary {
namespace {

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

}  // namespace

void prepare_notes() {
  std::array<void*, 1> frame{};
  backtrace(frame.data(), 1);
}

void take_note(CrashNote& note, const Crash& crash) {
  std::int32_t none = 0;
  if (!note.signal.compare_exchange_strong(none, crash.signal)) return;
  note.rank = crash.rank;
  note.address = reinterpret_cast<std::uint64_t>(crash.info->si_addr);
  const std::uint64_t pc = program_counter(crash.context);
  std::array<void*, CrashNote::kFrames> frames{};
  backtrace(frames.data(), static_cast<int>(frames.size()));
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto frame = reinterpret_cast<std::uint64_t>(frames[i]);
    // A return address belongs to what follows the call: one byte before it is the call.
    if (frame != 0) note.frames[i] = (frame == pc ? frame : frame - 1) - crash.program;
  }
}

}  // namespace shardlings::boundary
