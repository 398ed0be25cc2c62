// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// What the trace of a run shows of a state that did not arrive, and of a save that was not made again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "elastic_run.h"

namespace shardlings {

class ElasticCauses {
 public:
  ElasticCauses(const grading::judge::CheckContext& check, const ElasticRun& run) : check_(check), run_(run) {}

  /// The id of what is wrong with how ranks without the state have got it: a rank computes gradients in a phase at
  /// whose beginning it had none, and nothing has come to it before. Empty if that is not so.
  std::string arrival() const {
    for (std::size_t p = 1; p < run_.phases().size(); ++p) {
      const Phase& phase = run_.phases()[p];
      if (phase.first == 0) continue;  // all have the state of the beginning
      for (const int rank : phase.loaded ? phase.ranks : phase.healed) {
        const std::optional<Nanos> computes = first_gradient(p, rank);
        if (!computes || has_arrived(p, rank, *computes)) continue;
        // It was to get the state before, and that was broken off: by now it believes that it has it.
        if (contains(run_.phases()[p - 1].ranks, rank)) return "counted_too_early";
        if (!phase.loaded) return "never_healed";
      }
    }
    return "";
  }

  /// A death has broken a save off, and those that were left have gone on to the next update without making it again.
  bool save_was_given_up() const {
    const Count every = check_.kase().integer("every");
    for (std::size_t p = 0; p + 1 < run_.phases().size(); ++p) {
      const Phase &phase = run_.phases()[p], &next = run_.phases()[p + 1];
      const bool was_due = phase.last > 0 && phase.last % every == 0;
      if (!was_due || next.loaded || !writes(p, Side::behind_updates) || publishes(p)) continue;
      if (!writes(p + 1, Side::before_updates)) return true;
    }
    return false;
  }

  /// Nobody makes an update behind the last death, though more than one is left: one alone may have been skipped.
  bool is_cut_short() const {
    if (run_.phases().empty()) return false;
    const std::size_t last = run_.phases().size() - 1;
    const Phase& phase = run_.phases()[last];
    const std::vector<front::Event> updates = check_.events(phase.ranks.front(), front::EventKind::update);
    const bool any = std::any_of(updates.begin(), updates.end(),
                                 [&](const front::Event& event) { return run_.window(last).has(event.begin); });
    return !any && phase.first + 1 < check_.kase().steps;
  }

 private:
  static bool contains(const std::vector<int>& ranks, int rank) {
    return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
  }
  std::string name(int rank, const front::Event& event) const { return check_.trace(rank).names.at(event.name); }

  std::optional<Nanos> first_gradient(std::size_t p, int rank) const {
    for (const front::Event& event : check_.events(rank, front::EventKind::forward)) {
      if (run_.window(p).has(event.begin)) return event.begin;
    }
    return std::nullopt;
  }
  /// Something that may be a state: by a message, by a collective that brings what others have, or from the store.
  bool has_arrived(std::size_t p, int rank, Nanos before) const {
    const std::vector<front::Event>& events = check_.trace(rank).events;
    return std::any_of(events.begin(), events.end(), [&](const front::Event& event) {
      if (!run_.window(p).has(event.begin) || event.begin >= before) return false;
      const std::string called = name(rank, event);
      return event.kind == front::EventKind::recv || called == "broadcast" || called == "all_gather" ||
             called == "scatter" || called == "all_to_all" || called == "store.read";
    });
  }
  enum class Side : std::uint8_t { before_updates, behind_updates };
  /// Some rank writes a tensor in a phase, before its first update or behind its last one.
  bool writes(std::size_t p, Side side) const { return calls(p, side, "store.write", Bytes(kNumber)); }
  bool publishes(std::size_t p) const { return calls(p, Side::behind_updates, "store.publish", Bytes(-1)); }
  bool calls(std::size_t p, Side side, const char* called, Bytes more_than) const {
    const std::vector<int>& ranks = run_.phases()[p].ranks;
    return std::any_of(ranks.begin(), ranks.end(), [&](int rank) {
      const ElasticRun::Window part = part_of_window(p, rank, side);
      const std::vector<front::Event>& events = check_.trace(rank).events;
      return std::any_of(events.begin(), events.end(), [&](const front::Event& event) {
        return part.has(event.begin) && event.bytes > more_than && name(rank, event) == called;
      });
    });
  }
  ElasticRun::Window part_of_window(std::size_t p, int rank, Side side) const {
    ElasticRun::Window part = run_.window(p);
    for (const front::Event& event : check_.events(rank, front::EventKind::update)) {
      if (!run_.window(p).has(event.begin)) continue;
      if (side == Side::behind_updates) part.begin = event.begin;
      if (side == Side::before_updates) part.end = std::min(part.end, event.begin);
    }
    return part;
  }

  static constexpr std::int64_t kNumber = 8;  ///< bytes of a number in the store
  const grading::judge::CheckContext& check_;
  const ElasticRun& run_;
};

}  // namespace shardlings
