/// \file
/// One rank's front: every call of the learner ends here. It checks, counts, moves the clock, and lets the back
/// compute.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/call.h"
#include "back/kernels/kernels.h"
#include "front/clock/cost.h"
#include "front/memory/memory_desk.h"
#include "front/rank/options.h"
#include "front/trace/run_report.h"
#include "front/trace/trace.h"
#include "shardlings/error.h"

namespace shardlings::front {

class Control;
class GroupDesk;
class HostDesk;
class SavedTable;
class WorkTable;

class RankFront final : public detail::Port {
 public:
  RankFront(const RankOptions& options, int rank, std::unique_ptr<back::Device> device, Control& control);
  ~RankFront();
  RankFront(const RankFront&) = delete;
  RankFront& operator=(const RankFront&) = delete;

  detail::Reply call(const detail::Call& call) override;
  void release(const detail::Call& call) noexcept override;

  /// \name For the handlers of verbs
  /// @{
  int rank() const { return rank_; }
  const RankOptions& options() const { return options_; }
  back::Device& device() { return *device_; }

  /// Argument i, to be read or written, in the device's memory: see MemoryDesk::find. An argument in the host's memory
  /// is an error.
  Operand reading(const detail::Call& call, int i) { return on_device(call, {.index = i}); }
  Operand writing(const detail::Call& call, int i) { return on_device(call, {.index = i, .writes = true}); }
  /// A new storage of the device. Throws OutOfMemory.
  Operand allocate(Shape shape, DType dtype, Kind kind, Location at, int micro = -1) {
    return memory_->allocate(shape, dtype, kind, Memory::device, at, micro);
  }
  void free(const detail::Ref& ref, Location at) { memory_->free(ref, at); }
  /// What fills a storage as a whole says what its data are about; a part of one does not.
  void label_whole(const Operand& operand, Label label) { memory_->label_whole(operand, label); }
  void launch(const back::Kernel& kernel) {
    if (marks_.begin == 0) marks_.begin = device_->mark(back::DeviceLane::compute);
    device_->launch(kernel);
  }

  /// Counts one operation, moves the clock by its cost and records its event. Call after launch().
  void charge(const char* name, const detail::Call& call, Cost cost, Label label);
  /// The same for a call of the model: its inner operations (made between begin and end) are not charged again
  /// on clusters with a table of calls.
  void begin_layer_call(const detail::Call& call);
  void end_layer_call(EventKind kind, const char* name, const detail::Call& call, Label label);

  /// What the learner wrote: inside a call of the model that call, not the operations that it is made of.
  const char* called(const detail::Call& call) const;
  [[noreturn]] void invalid(const detail::Call& call, const std::string& sentence);
  /// @}

  MemoryDesk& memory() { return *memory_; }
  Ledger& ledger() { return memory_->ledger(Memory::device); }
  StorageTable& storages() { return memory_->storages(); }
  Bytes live() { return ledger().live(); }
  Trace& trace() { return trace_; }
  Counters& counters() { return counters_; }
  const CostModel& costs() const { return costs_; }
  SavedTable& saved() { return *saved_; }
  Nanos now() const { return now_; }
  void advance_to(Nanos time);
  std::uint64_t order() const { return order_; }
  GroupDesk& groups() { return *groups_; }
  HostDesk& host() { return *host_; }
  WorkTable& works() { return *works_; }
  /// The run has failed: what a rank leaves undone is not its fault.
  bool aborted() const;
  std::vector<Published>& published() { return published_; }
  /// An error that could not be thrown where it happened (a destructor); the next call throws it.
  void defer(Misuse misuse, const std::string& sentence, Location at);
  /// Counters, clock, trace and peak start anew; what is alive stays counted.
  void begin_measuring(Location at);
  /// Keeps counters and trace as they are now: what comes after is not part of the report.
  void end_measuring();
  /// Throws what was deferred, and complains of work that was never waited for. At the end of the rank's function.
  void check_end();
  RankReport take_report();
  /// After a run that failed: adds what this rank had started and not waited for to the trace of its report.
  void add_in_flight(RankTrace& trace);
  /// What the learner's code called last, and where; empty before its first call.
  const char* last_call() const { return last_call_; }
  Location last_place() const { return last_place_; }

 private:
  Operand on_device(const detail::Call& call, const Lookup& lookup);
  void note(const detail::Call& call);
  void forget_notes();
  void throw_deferred();
  void add_event(EventKind kind, const char* name, const detail::Call& call, Label label, Nanos begin, Flops flops,
                 back::Marks& marks);
  Counters counted();

  const RankOptions& options_;
  int rank_;
  Control& control_;
  std::unique_ptr<back::Device> device_;
  CostModel costs_;
  Trace trace_;
  Counters counters_;
  std::unique_ptr<MemoryDesk> memory_;
  std::unique_ptr<SavedTable> saved_;
  std::unique_ptr<WorkTable> works_;
  std::unique_ptr<GroupDesk> groups_;
  std::unique_ptr<HostDesk> host_;
  std::vector<Published> published_;
  Nanos now_;
  std::uint64_t order_ = 0;
  int layer_depth_ = 0;
  const char* layer_call_ = "";  ///< the learner's, while layer_depth_ > 0
  Nanos layer_begin_;
  Flops layer_flops_;
  back::Marks marks_;  ///< of the operation under way
  back::Marks layer_marks_;
  struct Deferred {
    Misuse misuse;
    std::string sentence;
    Location at;
  };
  std::vector<Deferred> deferred_;
  const char* last_call_ = "";
  Location last_place_;
  std::uint64_t calls_ = 0;  ///< of the learner's code
  const char* noted_file_ = nullptr;
  std::optional<RankReport> kept_;  ///< set by end_measuring()
};

/// A verb's handler; see handlers.h for the table.
using Handler = detail::Reply (*)(RankFront&, const detail::Call&);

}  // namespace shardlings::front
