#include "world/world.h"

#include <optional>
#include <stdexcept>

#include "front/group/fold.h"
#include "front/group/rank_groups.h"
#include "front/group/shared_control.h"
#include "front/rank_front.h"
#include "front/store/shared_store.h"
#include "world/closing.h"
#include "world/process_world.h"
#include "world/run_rank.h"

namespace shardlings::world {

using front::RankFront;
using front::RunReport;

namespace {

template <class Maker, class Default>
auto made(const Maker& maker, Default make_default) {
  return maker ? maker() : make_default();
}

/// What a rank that did not run would have counted: as much as the one that stood for it.
void report_others(const front::Fold& fold, RunReport& report) {
  for (std::size_t rank = 0; rank < report.ranks.size(); ++rank) {
    const auto instead = static_cast<std::size_t>(fold.stands_for(static_cast<int>(rank)));
    if (instead != rank) report.ranks[rank].counters = report.ranks[instead].counters;
  }
}

}  // namespace

RunReport run(const Options& options, const std::function<void(Rank&)>& body) {
  if (options.make_store && !options.deaths.empty()) {
    throw std::logic_error("what is kept of a store cannot be taken back where a rank dies: kill the process instead");
  }
  if (options.progress != nullptr) return run_in_processes(options, body);
  const auto engine = made(options.make_engine, back::make_threads_engine);
  const auto fabric = made(options.make_fabric, back::make_in_process_fabric);
  std::optional<front::Fold> fold;
  if (options.folded_replicas > 0) {
    fold.emplace(options.ranks, options.folded_replicas, options.cluster.ranks_per_node);
  }
  front::SharedControl control(options.ranks, options.cluster, *engine, *fabric, options.black_box, options.checks,
                               fold ? &*fold : nullptr);
  if (!options.deaths.empty()) control.expect_deaths(options.detection);
  front::SharedStore store(options.make_store ? options.make_store() : nullptr);
  front::Recipes recipes;
  RunReport report;
  report.ranks.resize(static_cast<std::size_t>(options.ranks));
  // Devices outlive the ranks: an operation of one may still read another's memory.
  std::vector<std::unique_ptr<RankFront>> fronts;
  for (int rank = 0; rank < options.ranks; ++rank) {
    if (fold && !fold->runs(rank)) {
      fronts.push_back(nullptr);
      continue;
    }
    fronts.push_back(std::make_unique<RankFront>(
        options, rank, options.make_device ? options.make_device(rank) : back::make_cpu_device(), control, store,
        options.recipes ? &recipes : nullptr));
  }
  engine->run(options.ranks, [&](int rank) {
    if (!fronts[static_cast<std::size_t>(rank)]) return control.finish(rank, std::nullopt, "", {});
    report.ranks[static_cast<std::size_t>(rank)] = run_rank(*fronts[static_cast<std::size_t>(rank)], control, body);
  });
  for (const auto& front : fronts) {
    if (front && !control.failure()) front->rest();
  }
  if (fold) report_others(*fold, report);
  align_measured_times(report);
  report.failure = control.failure();
  if (!report.failure) report.failure = store.race();
  for (std::size_t rank = 0; report.failure && rank < fronts.size(); ++rank) {
    if (fronts[rank]) fronts[rank]->add_in_flight(report.ranks[rank].trace);
  }
  if (report.failure) fabric->rest();
  await_devices(fronts, report);
  // An operation that has turned out meanwhile never to end says more than its device does.
  if (const auto failure = control.failure()) report.failure = failure;
  return report;
}

}  // namespace shardlings::world
