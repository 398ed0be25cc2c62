/// \file
/// A rank with a host on which a copy and an Adam take as long for a weight: 4 ns.
#pragma once

#include <string>

#include "front/group/programs.h"

namespace shardlings::test {

/// Operations of the device take 1 ms each, a byte of a copy 1 ns; Adam reads and writes 28 bytes for a weight.
inline world::Options world_with_host(int ranks = 1, Nanos latency = Nanos(0)) {
  world::Options options = world_of(ranks);
  options.cluster.host_links = {front::LinkSpeed{latency, 1e9}, front::LinkSpeed{latency, 1e9}};
  options.cluster.host.bytes_per_second = 7e9;
  return options;
}

/// So many weights that a copy of them, or an Adam on them, takes a millisecond.
inline constexpr Count kMillisecond = 250'000;

/// What the optimizer has of some weights in the host's memory, and room for their gradient.
struct OnHost {
  Tensor w, grad, m, v;
  OnHost(Rank& rank, Count n)
      : w(rank.host_zeros(n, Kind::parameter)),
        grad(rank.host_zeros(n, Kind::gradient)),
        m(rank.host_zeros(n, Kind::optimizer)),
        v(rank.host_zeros(n, Kind::optimizer)) {}
};

/// The counters of a rank of a run that must have succeeded.
inline front::Counters counters_of(const front::RunReport& report, int rank = 0) {
  EXPECT_FALSE(report.failure) << report.failure->message;
  return report.ranks[static_cast<std::size_t>(rank)].counters;
}

inline std::int64_t busy(const front::Counters& counters, front::Lane lane) {
  return counters.busy[static_cast<std::size_t>(lane)].value();
}

}  // namespace shardlings::test
