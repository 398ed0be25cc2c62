/// \file
/// One rank's front: every call of the learner ends here. It owns the parts that handle them, and hands each call to
/// the one that its verb belongs to.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/call.h"
#include "front/doors.h"
#include "front/group/rank_groups.h"
#include "front/host/host_lanes.h"
#include "front/memory/rank_memory.h"
#include "front/model/rank_models.h"
#include "front/ops/op_context.h"
#include "front/pending/pending_table.h"
#include "front/rank/meter.h"
#include "front/rank/rank_context.h"
#include "front/store/rank_store.h"
#include "front/trace/run_report.h"

namespace shardlings::front {

class RankFront {
 public:
  /// `recipes`: those of the run, nullptr if it has none.
  RankFront(const RankOptions& options, int rank, std::unique_ptr<back::Device> device, Control& control,
            ItemStore& store, Recipes* recipes = nullptr);
  ~RankFront();
  RankFront(const RankFront&) = delete;
  RankFront& operator=(const RankFront&) = delete;

  /// The port of the rank's code.
  detail::Port& port() { return doors_.learner(); }
  /// A call that one of the doors has let in. Throws.
  detail::Reply handle(const detail::Call& call);

  /// \name Its parts
  /// @{
  RankContext& rank() { return rank_; }
  const RankContext& rank() const { return rank_; }
  Doors& doors() { return doors_; }
  RankMemory& memory() { return memory_; }
  PendingTable& pending() { return pending_; }
  RankGroups& groups() { return groups_; }
  RankStore& store() { return store_; }
  OpContext& ops() { return ops_; }
  RankModels& models() { return models_; }
  /// @}

  /// Counters, clock, trace and peak start anew; what is alive stays counted.
  void begin_measuring(Location at);
  /// Keeps counters and trace as they are now: what comes after is not part of the report.
  void end_measuring();
  /// Between the two.
  bool is_measuring() const { return measuring_; }
  /// For the report.
  void publish(Published published) { published_.push_back(std::move(published)); }
  /// Throws what was deferred, and complains of work that was never waited for. At the end of the rank's function.
  void check_end();
  RankReport take_report();
  /// After a run that failed: adds what this rank had started and not waited for to the trace of its report.
  void add_in_flight(RankTrace& trace);

 private:
  detail::Reply handle_released(const detail::Call& call);
  detail::Reply handle_living(const detail::Call& call);
  /// The same on a rank that may die. Throws Died if it is dead, or dies now.
  detail::Reply handle_mortally(const detail::Call& call);
  /// It has died: the others are to know, and its function ends.
  [[noreturn]] void die();
  /// A rank has died, and this one is told.
  [[noreturn]] void be_told(const detail::Call& call, const Revocation& revocation);
  Counters counted();

  Doors doors_;
  RankContext rank_;
  Meter meter_;
  RankMemory memory_;
  PendingTable pending_;
  RankGroups groups_;
  HostLanes host_;
  RankStore store_;
  OpContext ops_;
  RankModels models_;
  std::vector<Published> published_;
  std::optional<RankReport> kept_;  ///< set by end_measuring()
  bool measuring_ = false;
  bool is_buried_ = false;
  int refused_ = 0;  ///< calls after the failure of another rank
};

}  // namespace shardlings::front
