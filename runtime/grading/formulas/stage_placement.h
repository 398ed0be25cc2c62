/// \file
/// Which stage of a pipeline has which layers, if layers do not cost the same (puzzle 24): what a placement goes by,
/// the best one, and when 1F1B ends on it.
///
/// With 1F1B stage r of p keeps what min(p - r, m) micro-batches leave of its layers (Narayanan et al. 2021, section
/// 2.2). The step is as fast as the slowest stage, but for the way of one micro-batch through all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "grading/formulas/pipeline.h"

namespace shardlings::grading::formulas {

/// By stage: its layers.
using Stages = std::vector<Range>;

/// What a placement goes by: the judge's rules, or those of somebody who overlooks something.
struct PlacementRules {
  std::vector<std::int64_t> work;       ///< of layer l: operations of its forward
  std::vector<std::int64_t> states;     ///< bytes of its weights and gradients
  std::vector<std::int64_t> kept;       ///< bytes that a micro-batch in flight keeps of it
  std::vector<std::int64_t> in_flight;  ///< micro-batches on stage r
  std::int64_t memory = 0;              ///< bytes of a stage

  std::int64_t work_of(Range layers) const;
  /// Bytes that these layers need on stage r.
  std::int64_t needed_on(Count r, Range layers) const;
  std::int64_t slowest_of(const Stages& stages) const;
  bool fit(const Stages& stages) const;
};

/// The judge's rules, for a case with the number `memory`.
PlacementRules placement_rules(const cases::Case& kase);

/// A placement with the fastest slowest stage of those that fit, where a stage needs no more than the one before it
/// would with the same layers; empty if none fits.
Stages best_stages(const PlacementRules& rules);
/// How many placements fit and have no stage with more work than `most`.
double placements_within(const PlacementRules& rules, std::int64_t most);
/// How many there are in all: L-1 over p-1.
double all_placements(const PlacementRules& rules);
/// Each stage takes layers up to the mean work of all, as long as it fits, and the last one what is left.
Stages filled_up(const PlacementRules& rules);
/// Each stage takes layers as long as they fit, whatever their work is, and the last one to be filled what is left:
/// from the first stage on, and from the last one on.
std::vector<Stages> filled_with_memory(const PlacementRules& rules);
/// As equally many layers on each of p stages as can be, the longer stages first.
Stages equal_stages(Count layers, int p);

/// The rank's order of 1F1B in this case, which has a stage for each rank.
Order one_f_one_b(const cases::Case& kase, int rank);
/// When 1F1B ends with these stages, on a cluster that makes one operation in a nanosecond and moves bytes in no time.
/// The loss belongs to the last stage's backward.
Nanos end_of_1f1b(const cases::Case& kase, const Stages& stages);
/// The lesson's estimate of it, which is never less: the way of one micro-batch through all stages and back, and then
/// the slowest stage for each of the others.
Nanos estimate_of_1f1b(const cases::Case& kase, const Stages& stages);

}  // namespace shardlings::grading::formulas
