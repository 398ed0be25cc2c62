/// \file
/// Who sent how much to whom: from the events of a run, by the conventions of docs/reference/clock.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "front/trace/event.h"

namespace shardlings::report {

struct SentBytes {
  Bytes bytes;
  std::int64_t calls = 0;
};

/// One kind of communication in one group over one class of link.
struct TrafficPart {
  std::string operation;  ///< "all_reduce", "send"
  std::string group;
  std::vector<int> members;  ///< of the group; empty where it is not known
  front::Lane lane = front::Lane::intra_node;
  Bytes total;                                     ///< of all calls, even where the receivers are not known
  std::map<std::pair<int, int>, SentBytes> cells;  ///< by world rank of sender and receiver
};

/// In order of first use. What a rank sends to one other is counted there. Of what goes to several (all_to_all,
/// scatter) each of the others in the group gets an equal share, the first ones one byte more where that does not come
/// out even.
std::vector<TrafficPart> traffic_of(const std::vector<front::RankTrace>& traces);

}  // namespace shardlings::report
