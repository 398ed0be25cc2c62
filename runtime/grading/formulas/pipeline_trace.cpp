#include "grading/formulas/pipeline_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "base/text.h"
#include "grading/formulas/beyond_plan.h"

namespace shardlings::grading::formulas {
namespace {

consteval SharedId in_excess(std::string_view id) {
  return {"reason_of_excess", id};
}

using front::Event;
using front::EventKind;

/// The chunk of a rank whose forward begins, or whose backward begins, with this layer.
std::optional<int> chunk_entered(const Pipeline& pipeline, int rank, const Event& event) {
  for (int chunk = 0; chunk < pipeline.v; ++chunk) {
    const Range own = pipeline.layers_of(rank, chunk);
    if (event.label.layer == (event.kind == EventKind::forward ? own.begin : own.end - 1)) return chunk;
  }
  return std::nullopt;
}

Nanos duration_of(const cases::Case& kase, const Pipeline& pipeline, int rank, const Slot& slot) {
  const Nanos each = slot.forward ? kase.cluster.table.forward : kase.cluster.table.backward;
  return pipeline.layers_of(rank, slot.chunk).size() * each;
}

/// All ranks go along their orders, each as far as messages let it.
class EarliestWalk {
 public:
  EarliestWalk(const cases::Case& kase, const Pipeline& pipeline, const std::function<Order(int)>& order, Mail mail)
      : kase_(kase), pipeline_(pipeline), mail_(mail), ranks_(static_cast<std::size_t>(pipeline.p)) {
    for (int rank = 0; rank < pipeline.p; ++rank) at(rank).order = order(rank);
    const auto messages = static_cast<std::size_t>(pipeline.p * pipeline.v * pipeline.m);
    for (auto& sent : sent_) sent.resize(messages);
  }

  std::vector<std::vector<Nanos>> begins() {
    bool moves = true;
    while (moves) {
      moves = false;
      for (int rank = 0; rank < pipeline_.p; ++rank) {
        while (go_on(rank)) moves = true;
      }
    }
    std::vector<std::vector<Nanos>> begins;
    for (const OnRank& rank : ranks_) {
      if (rank.begins.size() < rank.order.size()) return {};
      begins.push_back(rank.begins);
    }
    return begins;
  }
  Nanos end() const {
    return std::max_element(ranks_.begin(), ranks_.end(), [](const auto& a, const auto& b) { return a.now < b.now; })
        ->now;
  }

 private:
  struct OnRank {
    Order order;
    std::vector<Nanos> begins;
    Nanos now;
    Nanos posted[2];  ///< when the next receive stands open, by direction
  };
  OnRank& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  std::optional<Nanos>& sent(bool forward, int stage, int micro) {
    return sent_[forward][static_cast<std::size_t>(stage * pipeline_.m + micro)];
  }

  /// One slot more; false if it cannot begin yet, or there is none.
  bool go_on(int rank) {
    OnRank& own = at(rank);
    if (own.begins.size() == own.order.size()) return false;
    const Slot& slot = own.order[own.begins.size()];
    const int stage = pipeline_.stage(rank, slot.chunk), from = slot.forward ? stage - 1 : stage + 1;
    if (from >= 0 && from < pipeline_.p * pipeline_.v) {
      const std::optional<Nanos> left = sent(slot.forward, from, slot.micro);
      if (!left) return false;
      const Nanos open = mail_.receives_ahead ? own.posted[slot.forward] : own.now;
      own.now = std::max(own.now, std::max(*left, open) + kase_.cluster.links[0].latency);
      own.posted[slot.forward] = own.now;
    }
    own.begins.push_back(own.now);
    own.now += duration_of(kase_, pipeline_, rank, slot);
    sent(slot.forward, stage, slot.micro) = own.now;
    return true;
  }

  const cases::Case& kase_;
  const Pipeline& pipeline_;
  Mail mail_;
  std::vector<OnRank> ranks_;
  std::vector<std::optional<Nanos>> sent_[2];  ///< by direction, stage and micro-batch
};

const char* way_of(const Slot& slot) {
  return slot.forward ? "forward" : "backward";
}

/// How many slots come before the first one backward.
std::size_t leading_forwards_of(const std::vector<FoundSlot>& found) {
  const auto backward = std::find_if(found.begin(), found.end(), [](const auto& slot) { return !slot.slot.forward; });
  return static_cast<std::size_t>(backward - found.begin());
}

/// The first slot of a rank that is another one than expected, or too late.
std::optional<std::pair<Nanos, Delay>> delay_on(const judge::CheckContext& check, const std::vector<FoundSlot>& found,
                                                int rank, const Order& order, const std::vector<Nanos>& begins,
                                                const std::vector<Nanos>& latest) {
  for (std::size_t k = 0; k < found.size() && k < order.size(); ++k) {
    const FoundSlot& slot = found[k];
    const std::string what = fmt::format("{} begins {} of micro-batch {} at {}", check.name_of(rank), way_of(slot.slot),
                                         slot.slot.micro, to_text(slot.first.begin));
    const auto enough = static_cast<std::size_t>(leading_forwards(order));
    if (slot.slot.forward && !order[k].forward && k == enough) {
      return std::pair(slot.first.begin,
                       Delay{judge::place_of(slot.first),
                             fmt::format("{} goes forward {} times before its first backward, where {} would do; from "
                                         "then on each backward comes a forward later than it could",
                                         check.name_of(rank), leading_forwards_of(found), enough)});
    }
    if (slot.slot.forward != order[k].forward) {
      return std::pair(slot.first.begin,
                       Delay{judge::place_of(slot.first),
                             fmt::format("{}, where it would go {} at {} if all ranks kept to the order", what,
                                         way_of(order[k]), to_text(begins[k]))});
    }
    if (slot.first.begin <= latest[k]) continue;
    return std::pair(slot.first.begin,
                     Delay{judge::place_of(slot.first),
                           fmt::format("{}; for the step to end in time it has to by {}", what, to_text(latest[k]))});
  }
  return std::nullopt;
}

/// How the excess changes from slot to slot. What a slot leaves behind is seen after the next one.
struct Course {
  int after_sends = 0;      ///< it grew by an output after a slot forward that sent one
  int by_logits = 0;        ///< it grew by the logits in the backward right after their forward
  int after_backwards = 0;  ///< it grew after a slot backward
  int otherwise = 0;        ///< it grew otherwise, but for the first slot backward
  int falls = 0;
  bool up_and_down = false;      ///< it fell, and grew again by outputs
  bool before_backward = false;  ///< there was an excess before the first slot backward
};

Course course_of(const Pipeline& pipeline, int rank, const Order& order, const std::vector<std::int64_t>& excess) {
  Course course;
  const auto first_backward = static_cast<std::size_t>(leading_forwards(order));
  for (std::size_t k = 0; k < excess.size(); ++k) {
    course.before_backward = course.before_backward || (k < first_backward && excess[k] > 0);
    if (k == 0) continue;
    const std::int64_t before = std::max<std::int64_t>(0, excess[k - 1]);
    const std::int64_t growth = std::max<std::int64_t>(0, excess[k]) - before;
    if (growth < 0) ++course.falls;
    if (growth <= 0) continue;
    const Slot& left = order[k - 1];
    const Count last = pipeline.layers_of(rank, left.chunk).end - 1;
    const bool is_output = growth == pipeline.layers[static_cast<std::size_t>(last)].output;
    const bool on_last_stage = pipeline.is_last(rank, left.chunk);
    if (left.forward && is_output && !on_last_stage) {
      ++course.after_sends;
      course.up_and_down = course.up_and_down || course.falls > 0;
    } else if (left.forward && is_output && !order[k].forward && left.micro == order[k].micro) {
      ++course.by_logits;
    } else if (!left.forward) {
      ++course.after_backwards;
    } else if (k != first_backward) {
      ++course.otherwise;
    }
  }
  return course;
}

}  // namespace

std::vector<FoundSlot> slots_found(const judge::CheckContext& check, const Pipeline& pipeline, int rank) {
  std::vector<FoundSlot> slots;
  for (const Event& event : check.trace(rank).events) {
    if (event.depth != 0 || (event.kind != EventKind::forward && event.kind != EventKind::backward)) continue;
    if (const std::optional<int> chunk = chunk_entered(pipeline, rank, event)) {
      slots.push_back({{event.kind == EventKind::forward, event.label.micro, *chunk}, event, event});
    } else if (!slots.empty()) {
      slots.back().last = event;
    }
  }
  return slots;
}

std::vector<std::vector<Nanos>> earliest_begins(const cases::Case& kase, const Pipeline& pipeline,
                                                const std::function<Order(int)>& order, Mail mail) {
  return EarliestWalk(kase, pipeline, order, mail).begins();
}

std::vector<std::vector<Nanos>> latest_begins(const cases::Case& kase, const Pipeline& pipeline,
                                              const std::function<Order(int)>& order,
                                              const std::vector<std::vector<Nanos>>& begins, Nanos end) {
  struct Place {
    Nanos begin;
    std::size_t rank, k;
  };
  std::vector<Order> orders;
  std::vector<Place> places;
  for (std::size_t r = 0; r < begins.size(); ++r) {
    orders.push_back(order(static_cast<int>(r)));
    for (std::size_t k = 0; k < begins[r].size(); ++k) places.push_back({begins[r][k], r, k});
  }
  // What waits for a slot begins after it: so its latest begin is known already.
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.begin > b.begin; });
  std::vector<std::vector<Nanos>> latest = begins;
  std::map<std::tuple<bool, int, int>, Nanos> of_stage;  // by direction, stage and micro-batch
  for (const Place& place : places) {
    const Slot& slot = orders[place.rank][place.k];
    const int stage = pipeline.stage(static_cast<int>(place.rank), slot.chunk);
    const auto taker = of_stage.find({slot.forward, slot.forward ? stage + 1 : stage - 1, slot.micro});
    Nanos over = end;
    if (place.k + 1 < latest[place.rank].size()) over = std::min(over, latest[place.rank][place.k + 1]);
    if (taker != of_stage.end()) over = std::min(over, taker->second - kase.cluster.links[0].latency);
    latest[place.rank][place.k] = over - duration_of(kase, pipeline, static_cast<int>(place.rank), slot);
    of_stage[{slot.forward, stage, slot.micro}] = latest[place.rank][place.k];
  }
  return latest;
}

std::optional<Delay> first_delay(const judge::CheckContext& check, const Pipeline& pipeline,
                                 const std::function<Order(int)>& order, Mail mail) {
  EarliestWalk walk(check.kase(), pipeline, order, mail);
  const auto begins = walk.begins();
  const Nanos end = step_time(check.kase(), pipeline).value();
  if (begins.empty() || walk.end() != end) return std::nullopt;
  const auto latest = latest_begins(check.kase(), pipeline, order, begins, end);
  std::optional<std::pair<Nanos, Delay>> first;
  for (int rank = 0; rank < pipeline.p; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    const auto delay = delay_on(check, slots_found(check, pipeline, rank), rank, order(rank), begins[r], latest[r]);
    if (delay && (!first || delay->first < first->first)) first = delay;
  }
  return first ? std::optional(first->second) : std::nullopt;
}

std::vector<std::int64_t> excess_after_slots(const judge::CheckContext& check, const Pipeline& pipeline, int rank,
                                             Mail mail) {
  const std::vector<FoundSlot> found = slots_found(check, pipeline, rank);
  Order order;
  for (const FoundSlot& slot : found) {
    order.push_back(slot.slot);
    // What came by a collective has no label. Micro-batches are equally large.
    order.back().micro = std::clamp(slot.slot.micro, 0, pipeline.m - 1);
  }
  const PipelineMemory needed = memory_along(check.kase(), pipeline, rank, order, mail);
  std::vector<std::int64_t> excess;
  for (std::size_t k = 0; k < found.size(); ++k) {
    excess.push_back(found[k].last.live_after.value() - needed.after[k]);
  }
  return excess;
}

SharedId reason_of_excess(const Pipeline& pipeline, int rank, const Order& order,
                          const std::vector<std::int64_t>& excess) {
  if (excess.empty()) return {};
  const Course course = course_of(pipeline, rank, order, excess);
  const bool from_the_start = excess.front() > 0;
  const int grew = course.after_sends + course.by_logits + course.after_backwards + course.otherwise;
  const bool only_at_first_backward = !course.before_backward && grew <= 1 && course.falls > 1;
  if ((from_the_start && grew == 0 && course.falls > 0) || only_at_first_backward) return in_excess("room_made_early");
  if (from_the_start) return {};
  if (course.after_sends > 1 && !course.up_and_down) return in_excess("outputs_kept");
  if (course.by_logits > 1 && course.after_backwards == 0) return in_excess("logits_kept");
  return course.after_backwards > 1 && !course.before_backward && course.otherwise == 0 ? in_excess("activations_kept")
                                                                                        : SharedId();
}

}  // namespace shardlings::grading::formulas
