/// \file
/// Collectives, messages and splitting: the verbs of the same names.
#pragma once

#include "api/call.h"
#include "front/group/rank_groups.h"

namespace shardlings::front::handle {

detail::Reply all_reduce(RankGroups& groups, const detail::Call& call);
detail::Reply reduce_scatter(RankGroups& groups, const detail::Call& call);
detail::Reply all_gather(RankGroups& groups, const detail::Call& call);
detail::Reply broadcast(RankGroups& groups, const detail::Call& call);
detail::Reply reduce(RankGroups& groups, const detail::Call& call);
detail::Reply gather(RankGroups& groups, const detail::Call& call);
detail::Reply scatter(RankGroups& groups, const detail::Call& call);
detail::Reply all_to_all(RankGroups& groups, const detail::Call& call);
detail::Reply barrier(RankGroups& groups, const detail::Call& call);
detail::Reply send(RankGroups& groups, const detail::Call& call);
detail::Reply recv(RankGroups& groups, const detail::Call& call);
detail::Reply recv_any(RankGroups& groups, const detail::Call& call);
detail::Reply send_recv(RankGroups& groups, const detail::Call& call);
detail::Reply split(RankGroups& groups, const detail::Call& call);
detail::Reply survivors(RankGroups& groups, const detail::Call& call);
detail::Reply survivor(RankGroups& groups, const detail::Call& call);

}  // namespace shardlings::front::handle
