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

inline constexpr auto send = &RankGroups::send;
inline constexpr auto recv = &RankGroups::recv;
inline constexpr auto recv_any = &RankGroups::recv_any;
inline constexpr auto send_recv = &RankGroups::send_recv;
inline constexpr auto split = &RankGroups::split;
inline constexpr auto survivors = &RankGroups::survivors;
inline constexpr auto survivor = &RankGroups::survivor;

}  // namespace shardlings::front::handle
