/// \file
/// What all parts of one rank's front share: its device, its clock, what is counted and recorded, and what goes wrong.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/call.h"
#include "back/kernels/kernels.h"
#include "front/clock/cost.h"
#include "front/rank/call_log.h"
#include "front/rank/doom.h"
#include "front/rank/options.h"
#include "front/rank/standstills.h"
#include "front/rank/texts.h"
#include "front/trace/counters.h"
#include "front/trace/shown.h"
#include "front/trace/trace.h"
#include "shardlings/error.h"

namespace shardlings::front {

class RankContext {
 public:
  /// `aborted`: whether the run has failed.
  RankContext(const RankOptions& options, int rank, std::unique_ptr<back::Device> device,
              std::function<bool()> aborted);
  RankContext(const RankContext&) = delete;
  RankContext& operator=(const RankContext&) = delete;

  int id() const { return id_; }
  const RankOptions& options() const { return options_; }
  back::Device& device() { return *device_; }
  const CostModel& costs() const { return costs_; }

  /// \name What is counted and recorded
  /// @{
  Counters& counters() { return counters_; }
  Trace& trace() { return trace_; }
  /// Not begun anew by restart(): nobody who looks at something thinks of what is measured.
  Shows& shows() { return shows_; }
  CallLog& calls() { return calls_; }
  const CallLog& calls() const { return calls_; }
  Texts& texts() { return texts_; }
  const Texts& texts() const { return texts_; }
  /// Device memory in use now, for events; the memory keeps it up to date.
  Bytes live() const { return live_; }
  void set_live(Bytes live) { live_ = live; }
  /// @}

  /// \name The clock
  /// @{
  Nanos now() const { return now_; }
  void advance_to(Nanos time);
  /// The program stands still until then, if that is later.
  void stand_still_until(Nanos time);
  /// Since the oldest operation under way was started.
  Standstills& standstills() { return standstills_; }
  /// The program stands still in a call until a time that others decide, if that is later.
  void wait_for_peers(const detail::Call& call, Nanos until);
  /// Time, counters and events begin anew.
  void restart();
  /// @}

  /// \name What a program reads where nothing is computed
  /// @{
  /// One number more.
  void script_read(float value) { scripted_reads_.push_back(value); }
  /// What a read() of number `place` of a tensor of `count` gives: where that is how many have been said, the one at
  /// that place, whatever has been read before; else the next one. Nothing if nobody has said one.
  std::optional<float> scripted_read(Count place, Count count);
  /// @}

  /// \name What goes wrong
  /// @{
  /// Where a call stands in the source.
  Location place(const detail::Call& call) const { return {texts_.text(call.at.file), call.at.line}; }
  /// What the learner wrote: see CallLog.
  const char* called(const detail::Call& call) const { return calls_.called(call); }
  [[noreturn]] void invalid(const detail::Call& call, const std::string& sentence) const;
  /// An error that could not be thrown where it happened (a destructor): the next call throws it, the first of several.
  void defer(std::exception_ptr error) {
    if (!deferred_) deferred_ = std::move(error);
  }
  void defer(Misuse misuse, const std::string& sentence, Location at);
  void throw_deferred();
  /// Throws if the learner's code calls for ever: what every run leaves behind must fit in memory.
  void check_endless();
  /// It has thrown so: what the code does about it does not count.
  bool endless() const { return endless_; }
  /// When this rank dies.
  Doom& doom() { return doom_; }
  const Doom& doom() const { return doom_; }
  /// The run has failed: what a rank leaves undone is not its fault.
  bool aborted() const { return aborted_(); }
  /// @}

 private:
  /// Throws: see check_endless(), which is asked at every call.
  [[noreturn]] void stop_endless();

  const RankOptions& options_;
  int id_;
  std::unique_ptr<back::Device> device_;
  CostModel costs_;
  std::function<bool()> aborted_;
  Texts texts_;
  CallLog calls_;
  Trace trace_;
  Shows shows_;
  Counters counters_;
  Bytes live_;
  Nanos now_;
  Standstills standstills_;
  std::exception_ptr deferred_;
  std::vector<float> scripted_reads_;
  std::size_t next_scripted_ = 0;
  bool endless_ = false;
  Doom doom_;
};

}  // namespace shardlings::front
