/// \file
/// The one file in memory between a submission and its supervisor: header, case, black box, then the result.
///
/// The supervisor writes header and case, the submission everything else. The supervisor believes nothing that it reads
/// back: ranks and offsets are its own, lengths are checked, and what is damaged counts as no result.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/memory_limits.h"
#include "boundary/crash_note.h"
#include "boundary/walls.h"
#include "front/misuse/black_box.h"

namespace shardlings::wire {

struct FileHeader {
  static constexpr std::uint64_t kMagic = 0x36444C5348534800;  ///< also tells the layout's version
  static constexpr std::uint32_t kHello = 0x48454C4F;
  static constexpr std::uint32_t kEnd = 0x454E4421;
  static constexpr std::uint32_t kExhausted = 0x4D454D21;
  static constexpr std::uint32_t kJailExhausted = 0x4D454D22;  ///< it was a jail that got none
  static constexpr std::uint32_t kFault = 0x464C5421;
  static constexpr std::size_t kText = 256;

  std::uint64_t magic = kMagic;
  std::uint64_t case_size = 0;
  std::uint64_t number = 0;  ///< of the case among those of its supervisor
  std::uint32_t ranks = 0;
  std::atomic<std::uint32_t> hello{0};       ///< kHello once main() was reached
  std::atomic<std::uint32_t> end{0};         ///< kEnd once the result is complete, and never before
  std::atomic<std::uint32_t> exhausted{0};   ///< kExhausted once the host had no memory to give, or kJailExhausted
  std::atomic<bool> notes_exhausted{false};  ///< somebody writes what follows, before `exhausted`
  MemoryLimits memory_limits;                ///< in force where there was none to give; of jails, those of their broker
  std::atomic<std::uint32_t> fault{0};       ///< kFault once the machine or the runtime could not go on
  char fault_text[kText] = {};               ///< why
  std::uint64_t result_size = 0;
  boundary::CrashNote crash;
  boundary::Walls walls;        ///< around the learner's code; none if it runs beside its harness
  std::int64_t jail_bytes = 0;  ///< address space of each jail; 0: there are no jails, or they have no limit
  std::int64_t jail_peak = 0;   ///< resident bytes that a jail has had which the system killed

  /// Keeps the first reason.
  void note_fault(std::string_view why);
  /// Keeps what was noted first. `limits`: of the process that got no memory.
  void note_exhausted(std::uint32_t how, const MemoryLimits& limits);
};

/// Where the parts lie.
struct FileLayout {
  std::size_t case_begin = 0;
  std::size_t box_begin = 0;     ///< BlackBoxEntry for each rank
  std::size_t result_begin = 0;  ///< grows the file

  FileLayout(std::size_t case_size, std::size_t ranks) {
    const auto aligned = [](std::size_t n) { return (n + 63) / 64 * 64; };
    case_begin = aligned(sizeof(FileHeader));
    box_begin = case_begin + aligned(case_size);
    result_begin = box_begin + aligned(ranks * sizeof(front::BlackBoxEntry));
  }
};

/// Writes header and case to a file that is empty. `number`: of the case. False if there is no room.
bool write_case(int file, std::string_view text, std::size_t ranks, std::uint64_t number);

/// The fixed part of the file (all but the result), mapped and shared.
class MappedFile {
 public:
  /// Maps what the supervisor prepared. Throws std::runtime_error if that is not what the file holds.
  explicit MappedFile(int file);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  FileHeader& header() { return *static_cast<FileHeader*>(base_); }
  std::string_view case_text() const;
  front::BlackBox black_box();
  /// Appends the result and sets the end mark. Throws std::runtime_error if the file cannot grow.
  void finish(std::string_view result);

 private:
  int file_;
  void* base_ = nullptr;
  FileLayout layout_;
};

}  // namespace shardlings::wire
