/// \file
/// What ranks have called, as reports of misuse say it.
#pragma once

#include <cstddef>
#include <string>

#include "front/misuse/situation.h"

namespace shardlings::front {

inline constexpr int kReceiver = 1;  ///< of the two members of a message
/// A report is for reading: of thousands of ranks, it has no more lines of one sort than this.
inline constexpr std::size_t kMostLines = 10;

/// "send", "recv_async".
std::string message_verb(const CallRecord& record, int member);
/// "all_reduce of 128 f32, sum", "recv of 16 f32 from rank 1".
std::string call_of(const ToldOperation& operation, int member);
/// The calls of an operation, ranks that made the same one together: "  ranks 0, 1, 3: all_reduce … at puzzle.cpp:31".
std::string calls_text(const ToldOperation& operation);

}  // namespace shardlings::front
