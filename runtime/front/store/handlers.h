/// \file
/// The store that all ranks share: the verbs of the same names.
#pragma once

#include "api/call.h"
#include "front/store/rank_store.h"

namespace shardlings::front::handle {

detail::Reply store_write(RankStore& store, const detail::Call& call);
detail::Reply store_read(RankStore& store, const detail::Call& call);
detail::Reply store_size(RankStore& store, const detail::Call& call);
detail::Reply store_write_number(RankStore& store, const detail::Call& call);
detail::Reply store_read_number(RankStore& store, const detail::Call& call);
detail::Reply store_publish(RankStore& store, const detail::Call& call);

}  // namespace shardlings::front::handle
