/// \file
/// What a jail program is started with, and what the process that keeps the jails says of their ends.
///
/// `program <ranks>`, with kMailboxes (Mailbox::kBytes for each rank, one after another) and kEndings open. It forks a
/// jail for each rank and writes an Ending to kEndings for each that ends.
#pragma once

#include <cstdint>

namespace shardlings::boundary {

inline constexpr int kMailboxes = 3;
inline constexpr int kEndings = 4;

struct Ending {
  std::int32_t rank = -1;
  std::int32_t status = 0;  ///< as waitpid() says it
};

}  // namespace shardlings::boundary
