/// \file
/// Which receive took which message: the two sides of a send are recorded by two ranks.
#pragma once

#include <vector>

#include "front/trace/event.h"

namespace shardlings::report {

struct Message {
  int from = 0;
  int to = 0;
  const front::Event* send = nullptr;
  const front::Event* recv = nullptr;
};

/// Pairs sends with receives: in order for each group and direction, as the runtime does. A message whose other side is
/// missing (the run failed) is left out. Points into `traces`.
std::vector<Message> messages_of(const std::vector<front::RankTrace>& traces);

}  // namespace shardlings::report
