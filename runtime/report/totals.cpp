#include "report/totals.h"

#include <algorithm>

namespace shardlings::report {

Totals totals_of(const std::vector<front::Counters>& counters) {
  Totals totals;
  Nanos computing;
  for (std::size_t rank = 0; rank < counters.size(); ++rank) {
    const front::Counters& of_rank = counters[rank];
    if (of_rank.end > totals.end) {
      totals.end = of_rank.end;
      totals.slowest_rank = static_cast<int>(rank);
    }
    computing += of_rank.busy[static_cast<std::size_t>(front::Lane::compute)];
    for (const front::Lane lane : {front::Lane::intra_node, front::Lane::inter_node}) {
      totals.transfer += of_rank.busy[static_cast<std::size_t>(lane)];
    }
    totals.overlapped += of_rank.overlapped_transfer;
    const Bytes sent = of_rank.bytes_sent();
    totals.sent_equal = totals.sent_equal && sent == counters[0].bytes_sent();
    totals.sent += sent;
    totals.sent_by_most = std::max(totals.sent_by_most, sent);
    if (rank == 0 || of_rank.peak > totals.peak) {
      totals.peak = of_rank.peak;
      totals.peak_rank = static_cast<int>(rank);
      totals.peak_file = of_rank.peak_file;
      totals.peak_line = of_rank.peak_line;
    }
  }
  const Nanos available = totals.end * static_cast<std::int64_t>(counters.size());
  if (available > Nanos(0)) totals.idle = 1 - computing / available;
  totals.computes = computing > Nanos(0);
  return totals;
}

Nanos end_without_overlap(const std::vector<front::Counters>& counters) {
  if (counters.empty()) return {};
  const front::Counters& slowest = counters[static_cast<std::size_t>(totals_of(counters).slowest_rank)];
  Nanos on_host;
  for (const front::Lane lane : {front::Lane::to_host, front::Lane::host, front::Lane::to_device}) {
    on_host += slowest.busy[static_cast<std::size_t>(lane)];
  }
  return slowest.end + slowest.overlapped_transfer + std::max(Nanos(0), on_host - slowest.waited_for_host);
}

std::vector<std::int64_t> memory_curve(const front::RankTrace& trace, Nanos end, int columns) {
  if (trace.memory.empty() || columns < 1 || end <= Nanos(0)) return {};
  std::vector<std::int64_t> curve(static_cast<std::size_t>(columns), 0);
  std::int64_t live = 0;
  std::size_t filled = 0;  // columns before it are final but for points of their own time
  for (const front::MemoryPoint& point : trace.memory) {
    const std::int64_t time = point.time.value();
    const auto column =
        static_cast<std::size_t>(std::clamp<std::int64_t>(time * columns / end.value(), 0, columns - 1));
    for (; filled < column; ++filled) curve[filled] = std::max(curve[filled], live);
    const bool inside = time * columns > static_cast<std::int64_t>(column) * end.value();
    if (filled == column && inside) curve[filled++] = live;
    live = 0;
    for (const Bytes bytes : point.live) live += bytes.value();
    curve[column] = std::max(curve[column], live);
  }
  for (; filled < curve.size(); ++filled) curve[filled] = std::max(curve[filled], live);
  return curve;
}

std::optional<Bytes> peak_budget(const grading::verdict::CaseVerdict& kase, int rank) {
  std::optional<Bytes> budget;
  for (const grading::verdict::CheckVerdict& check : kase.checks) {
    for (const grading::verdict::Bound& bound : check.bounds) {
      const bool meant = bound.of == grading::verdict::Bound::Of::peak && (bound.rank == rank || bound.rank < 0);
      if (meant && (!budget || Bytes(bound.bound) < *budget)) budget = Bytes(bound.bound);
    }
  }
  return budget;
}

}  // namespace shardlings::report
