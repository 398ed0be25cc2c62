/// \file
/// What the rank's own work costs: each operation is counted, moves the clock and leaves an event; so does each call of
/// the model as a whole.
#pragma once

#include "api/call.h"
#include "front/rank/rank_context.h"

namespace shardlings::front {

/// What some operations cost.
struct Spent {
  Nanos time;
  Flops flops;
  std::int64_t operations = 0;
};

/// A call of the model, for its time and its event.
struct LayerWork {
  EventKind kind = EventKind::forward;
  Label label;
  Count sequences = 1;         ///< of the micro-batch, for a table that counts them
  bool forward_again = false;  ///< a backward that has begun with a forward of its own takes the time of both
};
/// The sequences of a layer's input: (s, b, h), or token ids (s, b). Without such a dimension it counts as one.
Count sequences_of(const Shape& x, bool is_ids);

class Meter {
 public:
  explicit Meter(RankContext& rank) : rank_(rank) {}

  /// To the device, with a mark before the first kernel of an operation.
  void launch(const back::Kernel& kernel);
  /// Counts one operation, moves the clock by its cost and records its event. Call after launch().
  void charge(const char* name, const detail::Call& call, Cost cost, Label label);
  /// A call of the model: the operations that it is made of (between begin and end) cost nothing more on clusters with
  /// a table of calls.
  void begin_layer_call(const detail::Call& call);
  void end_layer_call(const LayerWork& work, const detail::Call& call);
  /// Counts what operations have cost that are not made again, and moves the clock. They leave no event.
  void repeat(const Spent& spent);
  /// The call of the model under way takes at least that long.
  void last_at_least(Nanos time);
  /// Forgets what is under way.
  void restart();

 private:
  /// Of a rank that leaves a trace.
  void add_event(EventKind kind, const char* name, const detail::Call& call, Label label, Nanos begin, Flops flops,
                 back::Marks& marks);
  void spend(Nanos time);

  RankContext& rank_;
  Nanos layer_begin_;
  Flops layer_flops_;
  back::Marks marks_;  ///< of the operation under way
  back::Marks layer_marks_;
};

}  // namespace shardlings::front
