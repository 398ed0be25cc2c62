/// \file
/// What crosses the cut between a rank's code and the runtime: a Call goes in, a Reply comes back.
///
/// Both hold numbers only: no address, and no text but by its number. So they can be copied to another process as they
/// are, and everything about them can be checked there (validate.h).
#pragma once

#include <cstdint>
#include <type_traits>

#include "api/verbs.h"
#include "shardlings/error.h"
#include "shardlings/tensor.h"

namespace shardlings::detail {

inline constexpr int kMaxTensors = 8;
inline constexpr int kMaxNumbers = 8;
inline constexpr int kMaxScalars = 6;

/// The number of a text that a Port has been told (Port::text); 0 is the empty one.
using TextId = std::uint32_t;

/// A Location with the number of its file instead of the name.
struct PackedLocation {
  TextId file = 0;
  std::int32_t line = 0;
};

/// One request of a rank. What each verb uses of it, and in which order, stands in verbs.def; arguments.h packs it.
struct Call {
  Verb verb = Verb::count_;
  std::uint8_t blocking = 1;  ///< 1: wait in the same call; 0: start only
  std::uint8_t num_tensors = 0;
  PackedLocation at;
  Ref tensor[kMaxTensors];
  std::int64_t number[kMaxNumbers] = {};
  float scalar[kMaxScalars] = {};
  std::uint64_t id = 0;  ///< of a Work or a Saved, or of what the harness has lent
  std::uint32_t group = 0;
  std::uint32_t model = 0;
  TextId text = 0;
};

/// The verb as the learner writes it, also where it stands for several functions: "zeros" and "host_empty" are both
/// `allocate`.
const char* name_of(const Call& call);

/// Which exception the caller's side throws.
enum class ErrorKind : std::uint8_t {
  none,
  invalid_argument,
  out_of_memory,
  misuse,
  aborted,
  other,           ///< an Error of no kind of its own: a bug in shardlings
  no_host_memory,  ///< std::bad_alloc
  foreign,         ///< what a backend has thrown: std::runtime_error
  peer_failed
};

/// What comes back.
struct Reply {
  Ref tensor[2];
  std::uint64_t id = 0;
  std::uint32_t group = 0;
  std::uint32_t model = 0;
  std::int32_t group_rank = 0;
  std::int32_t group_size = 0;
  float scalar = 0;
  ErrorKind error = ErrorKind::none;  ///< what it says is Port::error_text()
  Misuse misuse = Misuse::mismatch;   ///< of ErrorKind::misuse
  PackedLocation at;                  ///< of the error
};

static_assert(std::is_trivially_copyable_v<Call> && std::is_trivially_copyable_v<Reply>);

}  // namespace shardlings::detail
