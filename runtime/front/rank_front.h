/// \file
/// One rank's front: every call of the learner ends here. It checks, counts, moves the clock, and lets the back
/// compute.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/arguments.h"
#include "api/call.h"
#include "back/kernels/kernels.h"
#include "front/clock/cost.h"
#include "front/doors.h"
#include "front/memory/memory_desk.h"
#include "front/rank/options.h"
#include "front/texts.h"
#include "front/trace/run_report.h"
#include "front/trace/trace.h"
#include "shardlings/error.h"

namespace shardlings::front {

class Control;
class GroupDesk;
class HostDesk;
class ModelTable;
class SavedTable;
class WorkTable;

class RankFront {
 public:
  RankFront(const RankOptions& options, int rank, std::unique_ptr<back::Device> device, Control& control);
  ~RankFront();
  RankFront(const RankFront&) = delete;
  RankFront& operator=(const RankFront&) = delete;

  /// The port of the rank's code.
  detail::Port& port() { return doors_.learner(); }
  /// The front behind a port of this process.
  static RankFront& behind(detail::Port& port);
  /// A call that one of the doors has let in. Throws.
  detail::Reply handle(const detail::Call& call);

  /// \name For the handlers of verbs
  /// @{
  int rank() const { return rank_; }
  const RankOptions& options() const { return options_; }
  back::Device& device() { return *device_; }

  /// Argument i, to be read or written, in the device's memory: see MemoryDesk::find. An argument in the host's memory
  /// is an error.
  Operand reading(const detail::Call& call, int i) { return on_device(call, {.index = i}); }
  Operand writing(const detail::Call& call, int i) { return on_device(call, {.index = i, .writes = true}); }
  template <detail::FieldKind kind>
  Operand reading(const detail::Call& call, detail::Argument<kind> argument) {
    return reading(call, argument.index);
  }
  template <detail::FieldKind kind>
  Operand writing(const detail::Call& call, detail::Argument<kind> argument) {
    return writing(call, argument.index);
  }
  /// Where the call stands in the source.
  Location place(const detail::Call& call) const { return {texts_.text(call.at.file), call.at.line}; }
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

  Doors& doors() { return doors_; }
  Texts& texts() { return texts_; }
  const Texts& texts() const { return texts_; }
  MemoryDesk& memory() { return *memory_; }
  Ledger& ledger() { return memory_->ledger(Memory::device); }
  StorageTable& storages() { return memory_->storages(); }
  Bytes live() { return ledger().live(); }
  Trace& trace() { return trace_; }
  Counters& counters() { return counters_; }
  const CostModel& costs() const { return costs_; }
  SavedTable& saved() { return *saved_; }
  ModelTable& models() { return *models_; }
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
  detail::Reply handle_released(const detail::Call& call);
  void add_event(EventKind kind, const char* name, const detail::Call& call, Label label, Nanos begin, Flops flops,
                 back::Marks& marks);
  Counters counted();

  Doors doors_;
  Texts texts_;
  const RankOptions& options_;
  int rank_;
  Control& control_;
  std::unique_ptr<back::Device> device_;
  CostModel costs_;
  Trace trace_;
  Counters counters_;
  std::unique_ptr<MemoryDesk> memory_;
  std::unique_ptr<SavedTable> saved_;
  std::unique_ptr<ModelTable> models_;
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
  std::vector<std::exception_ptr> deferred_;
  const char* last_call_ = "";
  Location last_place_;
  std::uint64_t calls_ = 0;  ///< of the learner's code
  detail::TextId noted_file_ = 0;
  std::optional<RankReport> kept_;  ///< set by end_measuring()
};

/// A verb's handler; see handlers.h for the table.
using Handler = detail::Reply (*)(RankFront&, const detail::Call&);

}  // namespace shardlings::front
