#include "simulation/kinds.h"

#include <algorithm>

#include "case/data.h"
#include "simulation/stack_file.h"

namespace shardlings::simulation {

using front::Counters;

namespace {

/// Of all ranks' time: what nothing else has taken comes after a rank's end.
TimeShares shares_of(const TimeShares& sums, double all) {
  TimeShares t{sums.computing / all,        sums.waiting_for_peers / all, sums.exposed_transfer / all,
               sums.waiting_for_host / all, sums.waiting_for_store / all, 0};
  const double busy = t.computing + t.waiting_for_peers + t.exposed_transfer + t.waiting_for_host + t.waiting_for_store;
  t.after_the_end = std::max(0.0, 1 - busy);
  return t;
}

}  // namespace

std::vector<KindOfRanks> kinds_of(const front::RunReport& report) {
  std::vector<KindOfRanks> kinds;
  std::size_t latest = 0;  // neighbours are alike more often than not
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const Counters& counters = report.ranks[rank].counters;
    const auto is_same = [&](const KindOfRanks& kind) { return *kind.counters == counters; };
    if (kinds.empty() || !is_same(kinds[latest])) {
      latest = static_cast<std::size_t>(std::find_if(kinds.begin(), kinds.end(), is_same) - kinds.begin());
      if (latest == kinds.size()) kinds.push_back({{}, &counters});
    }
    kinds[latest].ranks.push_back(static_cast<int>(rank));
  }
  return kinds;
}

std::string precision_word(const front::Cluster& cluster) {
  if (!cluster.mixed) return "f32";
  return cluster.f32_gradients ? "mixed-f32-grads" : "mixed";
}

std::string precision_text(const front::Cluster& cluster) {
  if (!cluster.mixed) return "f32";
  return cluster.f32_gradients ? "mixed precision with f32 gradients" : "mixed precision";
}

std::string stack_of(const cases::Case& kase) {
  return kase.execution.stack ? kase.execution.stack->name : kOwnStack;
}

Summary summary_of(const cases::Case& kase, const front::RunReport& report) {
  Summary summary;
  TimeShares sums;
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const Counters& of = report.ranks[rank].counters;
    summary.end = std::max(summary.end, of.end);
    sums.computing += static_cast<double>(of.busy[static_cast<std::size_t>(front::Lane::compute)].value());
    sums.waiting_for_peers += static_cast<double>(of.waited_for_peers.value());
    sums.exposed_transfer += static_cast<double>(of.exposed_transfer.value());
    sums.waiting_for_host += static_cast<double>(of.waited_for_host.value());
    sums.waiting_for_store += static_cast<double>(of.waited_for_store.value());
    summary.flops += static_cast<double>(of.flops.value());
    summary.operations += of.operations;
    for (const auto& [key, traffic] : of.traffic) summary.operations += traffic.calls;
    const auto peak = [&](int r) { return report.ranks[static_cast<std::size_t>(r)].counters.peak; };
    if (of.peak > peak(summary.fullest)) summary.fullest = static_cast<int>(rank);
    if (of.peak < peak(summary.emptiest)) summary.emptiest = static_cast<int>(rank);
  }
  const double seconds = static_cast<double>(summary.end.value()) / 1e9;
  const double all = static_cast<double>(summary.end.value()) * static_cast<double>(report.ranks.size());
  if (all > 0) {
    summary.time = shares_of(sums, all);
    const front::Roofline& roof = kase.cluster.roofline;
    const double peak = kase.cluster.mixed ? roof.flops_per_second_bf16 : roof.flops_per_second;
    const double could = peak * seconds * static_cast<double>(report.ranks.size());
    summary.peak_part = kase.cluster.uses_table ? 0 : summary.flops / could;
  }
  if (kase.has_model()) summary.tokens = static_cast<double>(cases::tokens_of_step(kase)) * kase.steps;
  return summary;
}

}  // namespace shardlings::simulation
