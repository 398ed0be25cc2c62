// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// How long a run takes in q chunks on a machine, and the numbers that wrong formulas choose: the judge of
// number_of_chunks.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "machines.h"

namespace shardlings {

inline constexpr Count kOperations = 3;  ///< of a chunk

/// What a gather or a scatter of a chunk takes that has this share of all positions, and what its operations take.
inline double move_time(const Machine& machine, double share) {
  return machine.latency + machine.transfer * share;
}
inline double work_time(const Machine& machine, double share) {
  return kOperations * machine.launch + machine.compute * share;
}

/// How long a run takes in q chunks of a share, by the lesson's formula: each turn is as long as its longer part.
inline double by_turns(const Machine& machine, Count q, double share) {
  const double move = move_time(machine, share), work = work_time(machine, share);
  return 2 * move + work + static_cast<double>(q - 1) * std::max(work, 2 * move);
}

/// How long it takes gather by gather and scatter by scatter, with each chunk's share.
inline double by_steps(const Machine& machine, const std::vector<double>& shares) {
  double link_free = move_time(machine, shares.front()), there = link_free, now = 0, gone = 0;
  for (std::size_t chunk = 0; chunk < shares.size(); ++chunk) {
    now = std::max(now, there);
    if (chunk + 1 < shares.size()) link_free = there = std::max(link_free, now) + move_time(machine, shares[chunk + 1]);
    now = std::max(now + work_time(machine, shares[chunk]), gone);
    link_free = gone = std::max(link_free, now) + move_time(machine, shares[chunk]);
  }
  return gone;
}

/// Shares of q chunks that begin where `begin` says, in positions.
inline std::vector<double> shares_of(const Machine& machine, Count q, const std::function<Count(Count)>& begin) {
  std::vector<double> all;
  for (Count c = 0; c < q; ++c) {
    all.push_back(static_cast<double>(begin(c + 1) - begin(c)) / static_cast<double>(machine.positions));
  }
  return all;
}

/// A way to reckon with a run of q chunks. The stub leaves open which: a number that is good by one of them is good.
using Reckoning = double (*)(const Machine&, Count q);
inline double equal_turns(const Machine& machine, Count q) {
  return by_turns(machine, q, 1.0 / static_cast<double>(q));
}
inline constexpr Reckoning kReckonings[] = {
    equal_turns,
    [](const Machine& m, Count q) {  // all as long as the longest
      return by_turns(m, q, static_cast<double>((m.positions + q - 1) / q) / static_cast<double>(m.positions));
    },
    [](const Machine& m, Count q) {
      return by_steps(m, std::vector<double>(static_cast<std::size_t>(q), 1.0 / static_cast<double>(q)));
    },
    [](const Machine& m, Count q) {  // longer ones here and there
      return by_steps(m, shares_of(m, q, [&](Count c) { return m.positions * c / q; }));
    },
    [](const Machine& m, Count q) {  // longer ones first
      return by_steps(m, shares_of(m, q, [&](Count c) { return m.positions / q * c + std::min(c, m.positions % q); }));
    },
};

/// The number up to `positions` for which a time is least, of those that are allowed.
inline Count least(const Machine& machine, Reckoning time, bool (*allowed)(const Machine&, Count q) = nullptr) {
  Count best = 1;
  for (Count q = 2; q <= machine.positions; ++q) {
    if ((allowed == nullptr || allowed(machine, q)) && time(machine, q) < time(machine, best)) best = q;
  }
  return best;
}

/// How many times as long as with the best number a run takes, by one way to reckon.
inline double excess_by(Reckoning time, const Machine& machine, Count q) {
  return time(machine, q) / time(machine, least(machine, time));
}
/// The way to reckon by which q is nearest to the best number, and how near it is.
inline Reckoning kindest_reckoning(const Machine& machine, Count q) {
  return *std::min_element(std::begin(kReckonings), std::end(kReckonings), [&](Reckoning a, Reckoning b) {
    return excess_by(a, machine, q) < excess_by(b, machine, q);
  });
}
inline double excess_of(const Machine& machine, Count q) {
  return excess_by(kindest_reckoning(machine, q), machine, q);
}

/// What the learner is asked about a machine.
inline std::string call_for(const Machine& machine) {
  const auto time = [](const char* name, double ns) {
    return std::string(", ") + name + std::to_string(std::llround(ns));
  };
  return "number_of_chunks(positions " + std::to_string(machine.positions) + time("latency ", machine.latency) +
         time("transfer ", machine.transfer) + time("launch ", machine.launch) + time("compute ", machine.compute) +
         ")";
}

/// The best number of a machine of which one time is a multiple of what it is.
inline Count with_another(Machine machine, double Machine::*time, double factor) {
  machine.*time *= factor;
  return least(machine, equal_turns);
}

/// Where transfers hide behind the operations the time is least for this number, which need not be whole.
inline double root_of_launches(const Machine& machine) {
  return std::sqrt(2 * machine.transfer / (static_cast<double>(kOperations) * machine.launch));
}

inline Count in_range(const Machine& machine, double number) {
  return std::clamp(static_cast<Count>(number), Count{1}, machine.positions);
}

/// A way to choose that is wrong, by the id of its diagnosis.
struct Habit {
  const char* diagnosis;
  Count (*choose)(const Machine&);
};
inline constexpr Habit kHabits[] = {
    {"launches_forgotten", [](const Machine& m) { return with_another(m, &Machine::launch, 0); }},
    {"calls_cost_nothing",
     [](const Machine& m) {
       Machine quick = m;
       quick.latency = 0;
       return with_another(quick, &Machine::launch, 0);
     }},
    {"two_launches", [](const Machine& m) { return with_another(m, &Machine::launch, 2.0 / kOperations); }},
    {"last_number_left_out",
     [](const Machine& m) {
       return least(m, equal_turns, [](const Machine& of, Count q) { return q < of.positions; });
     }},
    {"one_launch", [](const Machine& m) { return with_another(m, &Machine::launch, 1.0 / kOperations); }},
    {"latency_forgotten", [](const Machine& m) { return with_another(m, &Machine::latency, 0); }},
    {"divisors_only",
     [](const Machine& m) {
       return least(m, equal_turns, [](const Machine& of, Count q) { return of.positions % q == 0; });
     }},
    {"powers_of_two_only",
     [](const Machine& m) {
       return least(m, equal_turns, [](const Machine&, Count q) { return (q & (q - 1)) == 0; });
     }},
    {"one_transfer_a_turn",
     [](const Machine& m) {
       return least(m, [](const Machine& of, Count q) {
         const double share = 1.0 / static_cast<double>(q), move = move_time(of, share), work = work_time(of, share);
         return 2 * move + work + static_cast<double>(q - 1) * std::max(work, move);
       });
     }},
    {"links_never_full",
     [](const Machine& m) {
       return least(m, [](const Machine& of, Count q) {
         const double share = 1.0 / static_cast<double>(q);
         return 2 * move_time(of, share) + static_cast<double>(q) * work_time(of, share);
       });
     }},
    // The same in closed form, rounded to the nearest number or down.
    {"links_never_full", [](const Machine& m) { return in_range(m, std::round(root_of_launches(m))); }},
    {"links_never_full", [](const Machine& m) { return in_range(m, std::floor(root_of_launches(m))); }},
};

}  // namespace shardlings
