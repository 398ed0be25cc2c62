#include "grading/formulas/v_waits.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace shardlings::grading::formulas {
namespace {

using Run = std::vector<TimedPass>;

constexpr ChunkPass kFirstForward{Pass::forward, 0}, kSecondForward{Pass::forward, 1}, kFirstInput{Pass::input, 0},
    kSecondInput{Pass::input, 1};

bool is_forward(ChunkPass pass) {
  return pass.pass == Pass::forward;
}

bool all_of_the_same_passes(const Timetable& found, const Timetable& right) {
  return std::equal(found.begin(), found.end(), right.begin(), right.end(),
                    [](const Run& one, const Run& other) { return one.size() == other.size(); });
}

class Comparison {
 public:
  Comparison(const FoldedPlan& plan, Timetable found, Timetable right)
      : plan_(plan), found_(std::move(found)), right_(std::move(right)) {}

  /// In the order in which they begin.
  std::vector<TimedPass> new_waits() const {
    std::vector<TimedPass> waits;
    for (const Run& run : found_) {
      for (const TimedPass& pass : run) {
        const TimedPass& right = in(right_, pass.which);
        if (pass.begin - pass.free > right.begin - right.free) waits.push_back(pass);
      }
    }
    std::stable_sort(waits.begin(), waits.end(), [](const auto& a, const auto& b) { return a.free < b.free; });
    return waits;
  }

  std::optional<WaitCause> cause_of(const TimedPass& waiting) const {
    if (waiting.ready <= in(right_, waiting.which).ready) return too_soon(waiting);
    const std::optional<TimedPass> late = late_one_behind(waiting);
    if (!late) return std::nullopt;
    WaitCause cause{waiting, false, *late, {}, all_forward_before(late->which)};
    for (const TimedPass& other : run_before_its_place(*late)) {
      if (other.end > late->ready) cause.instead.push_back(other.which);
    }
    return cause.instead.empty() ? std::nullopt : std::optional(cause);
  }

 private:
  const Run& run_in(const Timetable& timetable, int rank) const { return timetable[static_cast<std::size_t>(rank)]; }
  std::size_t place_in(const Timetable& timetable, const PassOnRank& which) const {
    const Run& run = run_in(timetable, which.rank);
    const auto is_it = [&](const TimedPass& pass) { return pass.which == which; };
    return static_cast<std::size_t>(std::find_if(run.begin(), run.end(), is_it) - run.begin());
  }
  const TimedPass& in(const Timetable& timetable, const PassOnRank& which) const {
    return run_in(timetable, which.rank)[place_in(timetable, which)];
  }
  bool all_forward_before(const PassOnRank& which) const {
    const Run& run = run_in(found_, which.rank);
    const auto end = run.begin() + static_cast<std::ptrdiff_t>(place_in(found_, which));
    return std::count_if(run.begin(), end, [](const auto& pass) { return is_forward(pass.which.pass); }) == 2 * plan_.m;
  }

  /// Whether a rank has room for a forward that is missing before a pass, if it leaves out those that v_order() runs
  /// behind the missing one.
  bool has_room_for(const PassOnRank& missing, const PassOnRank& before) const {
    int held = 0;
    for (const TimedPass& other : run_in(found_, before.rank)) {
      if (other.which == before) break;
      const Pass pass = other.which.pass.pass;
      if (pass == Pass::forward && place_in(right_, other.which) < place_in(right_, missing)) ++held;
      if (pass == Pass::weights) --held;
    }
    return held < 2 * plan_.p;
  }

  std::optional<WaitCause> too_soon(const TimedPass& waiting) const {
    const int rank = waiting.which.rank;
    const std::size_t place = place_in(found_, waiting.which);
    WaitCause cause{waiting, true, waiting, {}, all_forward_before(waiting.which)};
    const Run& right = run_in(right_, rank);
    for (std::size_t k = 0; k < place_in(right_, waiting.which); ++k) {
      const TimedPass& missing = in(found_, right[k].which);
      if (place_in(found_, missing.which) < place || missing.ready >= waiting.begin) continue;
      if (is_forward(missing.which.pass) && !has_room_for(missing.which, waiting.which)) continue;
      cause.instead.push_back(missing.which);
    }
    return cause.instead.empty() ? std::nullopt : std::optional(cause);
  }

  /// What the rank of a pass ran before it, and v_order() runs behind it.
  std::vector<TimedPass> run_before_its_place(const TimedPass& pass) const {
    std::vector<TimedPass> before;
    for (const TimedPass& other : run_in(found_, pass.which.rank)) {
      if (other.which == pass.which) break;
      if (place_in(right_, other.which) > place_in(right_, pass.which)) before.push_back(other);
    }
    return before;
  }

  /// Back from a pass to the one that made it late: over what it took, or over what its rank had to do first.
  std::optional<TimedPass> late_one_behind(TimedPass pass) const {
    for (;;) {
      const std::optional<PassOnRank> needed = needed_by(plan_.p, pass.which);
      if (needed && pass.begin == pass.ready) {
        pass = in(found_, *needed);
        continue;
      }
      if (pass.begin <= in(right_, pass.which).begin) return std::nullopt;
      if (!run_before_its_place(pass).empty()) return pass;
      const std::size_t place = place_in(found_, pass.which);
      if (place == 0) return std::nullopt;
      pass = run_in(found_, pass.which.rank)[place - 1];
    }
  }

  const FoldedPlan& plan_;
  Timetable found_, right_;
};

bool has(const WaitCause& cause, bool (*is_one)(ChunkPass)) {
  return std::any_of(cause.instead.begin(), cause.instead.end(), [&](const auto& which) { return is_one(which.pass); });
}
bool has(const WaitCause& cause, ChunkPass pass) {
  return std::any_of(cause.instead.begin(), cause.instead.end(), [&](const auto& which) { return which.pass == pass; });
}
bool has_first(const WaitCause& cause, ChunkPass pass) {
  const auto is_it = [&](const auto& which) { return which.pass == pass && which.micro == 0; };
  return std::any_of(cause.instead.begin(), cause.instead.end(), is_it);
}
bool is_weights(ChunkPass pass) {
  return pass.pass == Pass::weights;
}
bool of_second(ChunkPass pass) {
  return pass.chunk == 1 && pass.pass != Pass::weights;
}

/// Of micro-batch 0's passes on the way into the turns of six, nullptr if it is none of them.
const char* name_on_the_way_in(const WaitCause& cause) {
  const ChunkPass pass = cause.pass.which.pass;
  const bool first = cause.pass.which.micro == 0;
  if (cause.too_soon && is_forward(pass)) {
    if (has_first(cause, kSecondInput)) return "second_chunk_long";
    if (has_first(cause, kFirstInput)) return "turn_long";
  }
  if (!first) return nullptr;
  if (pass == kSecondForward && has(cause, kFirstForward)) {
    return cause.too_soon ? "first_chunk_short" : "first_chunk_long";
  }
  if (pass == kSecondInput && has(cause, is_forward))
    return cause.too_soon ? "second_chunk_short" : "second_chunk_long";
  if (pass == kFirstInput && has(cause, of_second) && !cause.all_forward) {
    return cause.too_soon ? "turn_short" : "turn_long";
  }
  return nullptr;
}

}  // namespace

std::optional<WaitCause> first_wait(const FoldedPlan& plan, const std::function<ChunkOrder(int)>& order) {
  std::optional<Timetable> found = timetable_along(plan, order);
  std::optional<Timetable> right = timetable_along(plan, [&](int r) { return v_order(plan, r); });
  if (!found || !right || !all_of_the_same_passes(*found, *right)) return std::nullopt;
  const Comparison comparison(plan, std::move(*found), std::move(*right));
  for (const TimedPass& waiting : comparison.new_waits()) {
    if (const auto cause = comparison.cause_of(waiting)) return cause;
  }
  return std::nullopt;
}

const char* name_of_cause(const WaitCause& cause) {
  if (const char* name = name_on_the_way_in(cause)) return name;
  const bool weights = has(cause, is_weights);
  if (cause.too_soon && weights && !has(cause, [](ChunkPass pass) { return !is_weights(pass); })) {
    return cause.all_forward ? "gaps_left_empty" : "weights_too_late";
  }
  if (!cause.all_forward) return "turns_out_of_order";
  return weights && !cause.too_soon ? "weights_too_early" : "inputs_out_of_order";
}

}  // namespace shardlings::grading::formulas
