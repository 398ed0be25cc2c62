// What a case of puzzle 30 is. Harness and grader have the same.
#pragma once

#include "base/units.h"

namespace shardlings {

struct AsyncPlan {
  template <class Case>
  explicit AsyncPlan(const Case& kase)
      : steps(kase.steps),
        workers(kase.ranks - 1),
        slow(static_cast<int>(kase.integer("slow"))),
        slowness(static_cast<int>(kase.integer("slowness"))),
        bound(static_cast<int>(kase.integer("bound"))),
        by_staleness(kase.integer("by_staleness") != 0),
        size(kase.integer("n")),
        lr(static_cast<float>(kase.number("lr"))),
        curvature(static_cast<float>(kase.number("curvature"))) {}

  int steps, workers;
  int slow;      ///< so many workers, the first ones, are slow
  int slowness;  ///< and take so many times as long
  int bound;     ///< -1: none
  bool by_staleness;
  Count size;  ///< n
  float lr, curvature;

  /// Of a rank, 1 to N.
  int slowness_of(int worker) const { return worker <= slow ? slowness : 1; }
  bool all_are_equal() const { return slow == 0 || slowness == 1; }

  /// \name Which random numbers are what: see Harness::normals
  /// @{
  static int weights() { return 0; }
  static int target(int worker) { return worker; }
  /// @}
};

}  // namespace shardlings
