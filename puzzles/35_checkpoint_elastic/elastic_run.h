// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// Which ranks trained together from which update to which, as the trace of a run shows it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "grading/formulas/elastic_training.h"
#include "grading/formulas/training.h"

namespace shardlings {

using grading::formulas::Phase;

/// Updates are counted on the ranks that live longest, so that a run is what it was, and not what it should have been.
class ElasticRun {
 public:
  explicit ElasticRun(const grading::judge::CheckContext& check)
      : check_(check), every_(check.kase().integer("every")), replicas_(check.kase().integer("replicas")) {
    std::vector<int> have;  // the state, of those that trained before
    Phase next;
    for (Nanos now; phases_.size() <= static_cast<std::size_t>(check.ranks());) {
      next.ranks = first_of_living(now);
      if (next.ranks.empty()) return;
      for (const int rank : next.ranks) {
        if (!phases_.empty() && !contains(have, rank) && !next.loaded) next.healed.push_back(rank);
      }
      const std::optional<Nanos> end = end_of(next, now);
      next.broken = end.has_value();
      next.last = next.broken ? next.first + updates(longest(next), now, *end) : check.kase().steps;
      phases_.push_back(next);
      windows_.push_back({now, end.value_or(kEver)});
      if (!end) return;
      have.clear();
      for (const int rank : next.ranks) {
        if (has_state(next, rank, now, *end)) have.push_back(rank);
      }
      const bool loaded_in_vain = next.loaded && next.last == next.first;
      next = {next.last, 0, {}, {}, nobody_left(next, now, *end), false};
      if (next.loaded && !loaded_in_vain) next.first = newest(next.first);
      now = *end;
    }
  }

  const std::vector<Phase>& phases() const { return phases_; }
  /// From when to when a phase was.
  struct Window {
    Nanos begin, end;
    bool has(Nanos time) const { return begin <= time && time < end; }
  };
  const Window& window(std::size_t phase) const { return windows_.at(phase); }
  /// A rank trains to the end.
  bool ends(int rank) const { return !phases_.empty() && contains(phases_.back().ranks, rank); }
  /// What the store has at least when all that train die in the step after so many updates: a checkpoint that is due
  /// there may not be whole yet.
  Count newest(Count updates) const { return updates == 0 ? 0 : (updates - 1) / every_ * every_; }

 private:
  static bool contains(const std::vector<int>& ranks, int rank) {
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  }
  bool lives(int rank, Nanos at) const { return !died(rank) || *died(rank) > at; }
  std::optional<Nanos> died(int rank) const { return check_.counters(rank).died; }
  std::vector<int> first_of_living(Nanos at) const {
    std::vector<int> ranks;
    for (int rank = 0; rank < check_.ranks() && static_cast<Count>(ranks.size()) < replicas_; ++rank) {
      if (lives(rank, at)) ranks.push_back(rank);
    }
    return ranks;
  }
  /// The member that dies last, or one that does not.
  int longest(const Phase& phase) const {
    return *std::max_element(phase.ranks.begin(), phase.ranks.end(), [&](int a, int b) {
      return died(b) ? died(a) && *died(a) < *died(b) : died(a).has_value();
    });
  }
  /// When those that are left have asked who lives, for the first time after somebody has died, a spare rank as well:
  /// all are told of that. Nothing if nobody dies.
  std::optional<Nanos> end_of(const Phase& phase, Nanos begin) const {
    std::optional<Nanos> first;
    for (int rank = 0; rank < check_.ranks(); ++rank) {
      if (died(rank) && *died(rank) > begin && (!first || *died(rank) < *first)) first = died(rank);
    }
    if (!first) return std::nullopt;
    const int rank = longest(phase);
    for (const front::Event& event : check_.trace(rank).events) {
      if (check_.trace(rank).names.at(event.name) == "survivors" && event.end >= *first) return event.end;
    }
    return died(rank) ? died(rank) : first;
  }
  /// Who loads it or is healed has it when it computes gradients, at the latest.
  bool has_state(const Phase& phase, int rank, Nanos begin, Nanos end) const {
    const bool had_it = !phase.loaded && !contains(phase.healed, rank);
    return phase.last > phase.first || had_it || computes(rank, begin, end);
  }
  bool nobody_left(const Phase& phase, Nanos begin, Nanos end) const {
    return std::none_of(phase.ranks.begin(), phase.ranks.end(),
                        [&](int rank) { return lives(rank, end) && has_state(phase, rank, begin, end); });
  }
  /// Gradients of the model: those of exact cases do not show.
  bool computes(int rank, Nanos begin, Nanos end) const {
    const std::vector<front::Event> events = check_.events(rank, front::EventKind::forward);
    return std::any_of(events.begin(), events.end(),
                       [&](const front::Event& event) { return event.begin >= begin && event.begin < end; });
  }
  /// Of all layers, on one rank.
  Count updates(int rank, Nanos begin, Nanos end) const {
    Count calls = 0;
    for (const front::Event& event : check_.events(rank, front::EventKind::update)) {
      if (event.begin >= begin && event.begin < end) ++calls;
    }
    return calls / grading::formulas::number_of_layers(check_.kase());
  }

  const grading::judge::CheckContext& check_;
  static constexpr Nanos kEver{std::numeric_limits<std::int64_t>::max()};
  Count every_, replicas_;
  std::vector<Phase> phases_;
  std::vector<Window> windows_;
};

}  // namespace shardlings
