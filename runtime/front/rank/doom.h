/// \file
/// The death that the case has for this rank (clock/death.h), and whether it has come to that yet. Ranks that have
/// died, as the others know of them, are in group/deaths.h.
#pragma once

#include <optional>
#include <vector>

#include "base/units.h"
#include "front/clock/death.h"

namespace shardlings::front {

/// Ends the function of a rank that has died, at whatever it would have called next. It is no std::exception, so that
/// who catches errors does not catch it; who catches everything meets it again at the next call.
struct Died {};

class Doom {
 public:
  Doom(const std::vector<Death>& deaths, int rank);

  /// What is measured begins and ends: a rank dies in between.
  void begin() { measuring_ = true; }
  void end() { measuring_ = false; }
  /// Whether any call has to be looked at.
  bool is_near() const { return (death_ && measuring_) || died_; }
  /// A call is about to be made: whether the rank is dead instead. `counts`: it gets a number among the rank's calls.
  bool strikes(Nanos now, bool counts);
  /// A call has come to its end: whether the rank has died in it.
  bool has_come(Nanos now);
  /// Its next write to the store lasts from `start` to `end`; known at `now`.
  void note_write(Nanos start, Nanos end, Nanos now);

  /// When it will be dead, as far as that is known. Who lives until the end of what is measured does not die any more.
  std::optional<Nanos> at() const { return death_ && measuring_ ? death_->at : std::nullopt; }
  /// When it has died.
  std::optional<Nanos> died() const { return died_; }

 private:
  std::optional<Death> death_;
  std::optional<Nanos> died_;
  bool measuring_ = false;
  int calls_ = 0;
  int writes_ = 0;
};

}  // namespace shardlings::front
