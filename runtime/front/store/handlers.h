/// \file
/// The store that all ranks share: the verbs of the same names.
#pragma once

#include "front/store/rank_store.h"

namespace shardlings::front::handle {

inline constexpr auto store_write = &RankStore::write;
inline constexpr auto store_read = &RankStore::read;
inline constexpr auto store_size = &RankStore::size;
inline constexpr auto store_write_number = &RankStore::write_number;
inline constexpr auto store_read_number = &RankStore::read_number;
inline constexpr auto store_publish = &RankStore::publish;

}  // namespace shardlings::front::handle
