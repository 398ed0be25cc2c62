/// \file
/// What is done with a Work: the verbs of the same names.
#pragma once

#include "api/call.h"
#include "front/pending/pending_table.h"

namespace shardlings::front::handle {

detail::Reply wait(PendingTable& pending, const detail::Call& call);
detail::Reply keep(PendingTable& pending, const detail::Call& call);
detail::Reply drop_work(PendingTable& pending, const detail::Call& call);

}  // namespace shardlings::front::handle
