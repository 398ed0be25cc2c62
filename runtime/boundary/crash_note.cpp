#include "boundary/crash_note.h"

#include <ucontext.h>
#include <unwind.h>

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

CrashNote::Fault fault_of([[maybe_unused]] const Crash& crash, [[maybe_unused]] std::uint64_t pc) {
#if defined(__x86_64__)
  if (crash.signal == SIGSEGV && crash.info->si_code == SI_KERNEL) {
    const auto* code = reinterpret_cast<const unsigned char*>(pc);
    const bool rdtsc = code[0] == 0x0F && code[1] == 0x31;
    const bool rdtscp = code[0] == 0x0F && code[1] == 0x01 && code[2] == 0xF9;
    return rdtsc || rdtscp ? CrashNote::Fault::clock_is_off : CrashNote::Fault::nowhere;
  }
#endif
  return CrashNote::Fault::at_address;
}

struct Frames {
  std::array<std::uint64_t, CrashNote::kFrames> places{};
  std::size_t count = 0;
};

// Not backtrace(): a statically linked program would look for a library then.
_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* to) {
  auto& frames = *static_cast<Frames*>(to);
  const std::uint64_t place = _Unwind_GetIP(context);
  if (place == 0 || frames.count == frames.places.size()) return _URC_END_OF_STACK;
  frames.places[frames.count++] = place;
  return _URC_NO_REASON;
}

/// `pc`: where a signal came; 0: it is an ordinary call that one notes.
void note_frames(CrashNote& note, std::uint64_t pc, std::uint64_t program) {
  Frames frames;
  _Unwind_Backtrace(add_frame, &frames);
  for (std::size_t i = 0; i < frames.count; ++i) {
    const std::uint64_t frame = frames.places[i];
    // A return address belongs to what follows the call: one byte before it is the call.
    note.frames[i] = (frame == pc ? frame : frame - 1) - program;
  }
}

void copy_frames(const CrashNote& from, CrashNote& to) {
  for (std::size_t i = 0; i < CrashNote::kFrames; ++i) to.frames[i] = from.frames[i];
}

}  // namespace

void take_note(CrashNote& note, const Crash& crash) {
  std::int32_t none = 0;
  if (note.exited_by != CrashNote::ExitBy::unknown) return;  // what crashes after exit() follows from that
  if (!note.signal.compare_exchange_strong(none, crash.signal)) return;
  note.rank = crash.rank;
  note.address = reinterpret_cast<std::uint64_t>(crash.info->si_addr);
  const std::uint64_t pc = program_counter(crash.context);
  note.fault = fault_of(crash, pc);
  note_frames(note, pc, crash.program);
}

void take_note_of_exit(CrashNote& note, CrashNote::ExitBy by, int rank, std::uint64_t program) {
  auto unknown = CrashNote::ExitBy::unknown;
  if (note.signal != 0) return;  // of another process, which has crashed before
  if (!note.exited_by.compare_exchange_strong(unknown, by)) return;
  note.rank = rank;
  note_frames(note, 0, program);
}

void copy_crash(const CrashNote& from, int signal, int rank, CrashNote& to) {
  if (from.signal.load() != signal) return;
  to.rank = rank;
  to.fault = from.fault;
  to.address = from.address;
  copy_frames(from, to);
  to.signal = signal;
}

void copy_exit(const CrashNote& from, int rank, CrashNote& to) {
  const CrashNote::ExitBy by = from.exited_by.load();
  if (by != CrashNote::ExitBy::exit && by != CrashNote::ExitBy::quick_exit) return;
  to.rank = rank;
  copy_frames(from, to);
  to.exited_by = by;
}

}  // namespace shardlings::boundary
