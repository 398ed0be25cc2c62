/// \file
/// Many cases that differ in a few numbers: `--sweep tp=1..8,pp=1..8`.
#pragma once

#include <string>
#include <vector>

#include "simulation/layout.h"

namespace shardlings::simulation {

/// What a sweep tries, and with which values: an axis of parallelism, a number of the case, or what is recomputed.
struct SweepVariable {
  std::string name;
  std::vector<double> values;
  std::vector<std::string> words{};  ///< of `recompute`: what the values stand for, which count from 0

  std::string text_of(double value) const;
};

/// "tp=1..8,bucket=100..1600": from the first number on, each twice the one before, to the last. "bucket=100:2000":
/// about twenty numbers in equal steps, and whole if both ends are; "bucket=100:2000:50": in steps of 50.
/// "recompute=off,full": these words. Throws std::runtime_error that says what is expected.
std::vector<SweepVariable> parse_sweep(const std::string& text);

/// One combination of values.
struct SweepPoint {
  std::vector<double> values;  ///< by variable
  cases::Case kase;
  std::string refusal;  ///< why there is no such case; empty if there is
};

/// All combinations, the last variable changing fastest. Where `--ranks` is given, replicas take what the other axes
/// leave. Throws std::runtime_error if none of them is possible.
std::vector<SweepPoint> points_of(const cases::Manifest& puzzle, const Wish& wish,
                                  const std::vector<SweepVariable>& variables, const Files& files);

/// What came of one.
struct SweepResult {
  bool finished = false;
  bool endless = false;  ///< it was stopped, since it did not come to its end
  std::string ending;    ///< why not, in a line
  std::string folding;   ///< which replicas were run (folding.h); empty: nobody has asked for it
  Nanos end;
  Bytes peak;  ///< of the fullest rank
  Bytes sent;  ///< by the rank that sends most
  bool fits = false;
  /// No other that fits is faster and takes less memory.
  bool on_frontier = false;
};

/// Sets on_frontier (Pareto's: of time and memory) and returns the index of the fastest that fits; -1 if none does.
int mark_frontier(std::vector<SweepResult>& results);

}  // namespace shardlings::simulation
