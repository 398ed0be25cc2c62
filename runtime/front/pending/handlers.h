/// \file
/// What is done with a Work: the verbs of the same names.
#pragma once

#include "front/pending/pending_table.h"

namespace shardlings::front::handle {

inline constexpr auto wait = &PendingTable::wait;
inline constexpr auto keep = &PendingTable::keep;
inline constexpr auto drop_work = &PendingTable::drop;

}  // namespace shardlings::front::handle
