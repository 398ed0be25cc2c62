// The best placement against trying all of them, and the end of 1F1B on it against closed forms.
#include "grading/formulas/stage_placement.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "base/random.h"
#include "model/flops.h"

namespace shardlings::grading::formulas {
namespace {

/// Layers and stages of random costs; stages further behind keep fewer micro-batches, as with 1F1B.
PlacementRules random_rules(std::uint64_t seed) {
  std::uint64_t next = 0;
  const auto below = [&](std::uint32_t n) { return static_cast<std::int64_t>(below_at(n, seed, next++)); };
  PlacementRules rules;
  const std::int64_t p = 1 + below(4), layers = p + below(6), m = 1 + below(5);
  for (std::int64_t l = 0; l < layers; ++l) {
    rules.work.push_back(below(30));
    rules.states.push_back(below(20));
    rules.kept.push_back(below(10));
  }
  for (std::int64_t r = 0; r < p; ++r) rules.in_flight.push_back(std::min(p - r, m));
  rules.memory = 20 + below(120);
  return rules;
}

/// The slowest stage of the best of all placements from stage r and layer `begin` on.
std::optional<std::int64_t> best_of_all(const PlacementRules& rules, Count r, Count begin) {
  const Count stages = std::ssize(rules.in_flight), layers = std::ssize(rules.work);
  if (r == stages) return begin == layers ? std::optional<std::int64_t>(0) : std::nullopt;
  std::optional<std::int64_t> best;
  for (Count end = begin + 1; end <= layers; ++end) {
    if (rules.needed_on(r, {begin, end}) > rules.memory) continue;
    const auto rest = best_of_all(rules, r + 1, end);
    if (!rest) continue;
    const std::int64_t slowest = std::max(*rest, rules.work_of({begin, end}));
    best = best ? std::min(*best, slowest) : slowest;
  }
  return best;
}

TEST(StagePlacement, IsTheBestOfAll) {
  int fitting = 0, limited = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    PlacementRules rules = random_rules(seed);
    const auto expected = best_of_all(rules, 0, 0);
    const Stages found = best_stages(rules);
    ASSERT_EQ(!found.empty(), expected.has_value()) << "seed " << seed;
    if (!expected) continue;
    EXPECT_TRUE(rules.fit(found)) << "seed " << seed;
    EXPECT_EQ(rules.slowest_of(found), *expected) << "seed " << seed;
    for (std::size_t r = 0; r < found.size(); ++r) {
      EXPECT_LT(found[r].begin, found[r].end) << "seed " << seed;
      EXPECT_EQ(found[r].begin, r == 0 ? 0 : found[r - 1].end) << "seed " << seed;
    }
    ++fitting;
    rules.memory = 1'000'000;
    limited += *best_of_all(rules, 0, 0) < *expected ? 1 : 0;
  }
  EXPECT_GT(fitting, 200) << "that some placement fits";
  EXPECT_GT(limited, 20) << "in which memory rules the fastest one out";
}

/// All placements of `layers` layers that can follow those that are there.
void each_placement(Count layers, std::size_t p, Stages& there, const std::function<void(const Stages&)>& look) {
  const Count begin = there.empty() ? 0 : there.back().end;
  if (there.size() == p) {
    if (begin == layers) look(there);
    return;
  }
  for (Count end = begin + 1; end <= layers; ++end) {
    there.push_back({begin, end});
    each_placement(layers, p, there, look);
    there.pop_back();
  }
}

TEST(StagePlacement, CountsThoseThatFitAndAreFastEnough) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    PlacementRules rules = random_rules(seed);
    if (seed % 2 == 1) std::reverse(rules.in_flight.begin(), rules.in_flight.end());  // later stages may need more
    const std::int64_t most = 10 + static_cast<std::int64_t>(seed);
    double within = 0, all = 0;
    Stages none;
    each_placement(std::ssize(rules.work), rules.in_flight.size(), none, [&](const Stages& stages) {
      within += rules.fit(stages) && rules.slowest_of(stages) <= most ? 1 : 0;
      ++all;
    });
    EXPECT_EQ(placements_within(rules, most), within) << "seed " << seed;
    EXPECT_EQ(all_placements(rules), all) << "seed " << seed;
  }
}

TEST(StagePlacement, FilledUpLeavesTheRestForTheLastStage) {
  PlacementRules rules{{4, 4, 4, 3, 3}, {0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}, {2, 1}, 100};
  EXPECT_EQ(filled_up(rules), (Stages{{0, 2}, {2, 5}})) << "the mean is 9";
  rules.memory = 3;
  EXPECT_EQ(filled_up(rules), (Stages{{0, 1}, {1, 5}})) << "two layers need 4 bytes on stage 0";
}

TEST(StagePlacement, EqualStagesHaveTheLongerOnesFirst) {
  EXPECT_EQ(equal_stages(7, 3), (Stages{{0, 3}, {3, 5}, {5, 7}}));
}

cases::Case pipeline_of_linear_layers(int p, int m, int layers) {
  cases::Case kase;
  kase.ranks = p;
  kase.batches = 1;
  kase.batch = 1;
  kase.micro_batches = m;
  kase.model.layers = layers;
  kase.model.hidden = kase.model.outputs = 8;
  kase.model.sequence = 2;
  kase.numbers["memory"] = 1e6;
  return kase;
}

/// Of one layer: forward and backward, of the last one with the loss.
Nanos time_of_layer(const cases::Case& kase, std::size_t l, bool forward) {
  const model::LayerStructure layer = model::make_structure(kase.model).layers[l];
  if (forward) return Nanos(model::forward_flops(layer, 2, 1).value());
  const bool last = l + 1 == static_cast<std::size_t>(kase.model.layers);
  return Nanos(model::backward_flops(layer, 2, 1).value() +
               (last ? model::loss_flops(kase.model.outputs, 2).value() : 0));
}

TEST(EndOf1F1B, OnOneStageIsAllWorkOneAfterAnother) {
  const cases::Case kase = pipeline_of_linear_layers(1, 3, 2);
  Nanos once;
  for (const std::size_t l : {0U, 1U}) once += time_of_layer(kase, l, true) + time_of_layer(kase, l, false);
  EXPECT_EQ(end_of_1f1b(kase, {{0, 2}}), once * 3);
}

TEST(EndOf1F1B, IsThatOfTheSlowestStageWhichNeverWaits) {
  for (const int m : {1, 2, 5, 9}) {
    const cases::Case kase = pipeline_of_linear_layers(2, m, 4);  // stage 0 has three layers of four
    Nanos first, second, first_backward;
    for (const std::size_t l : {0U, 1U, 2U}) first_backward += time_of_layer(kase, l, false);
    for (const std::size_t l : {0U, 1U, 2U}) first += time_of_layer(kase, l, true);
    first += first_backward;
    second = time_of_layer(kase, 3, true) + time_of_layer(kase, 3, false);
    ASSERT_LT(second, first_backward) << "what stage 0 does while the last micro-batch is away";
    EXPECT_EQ(end_of_1f1b(kase, {{0, 3}, {3, 4}}), m == 1 ? first + second : first * m) << m << " micro-batches";
    EXPECT_EQ(estimate_of_1f1b(kase, {{0, 3}, {3, 4}}), first * m + second) << m << " micro-batches";
  }
}

TEST(PlacementRules, AreWeightsWithGradientsAndWhatIsInFlight) {
  const cases::Case kase = pipeline_of_linear_layers(3, 2, 4);
  const PlacementRules rules = placement_rules(kase);
  EXPECT_EQ(rules.in_flight, (std::vector<std::int64_t>{2, 2, 1}));
  const std::int64_t weights = 4 * (8 * 8 + 8), x = 4 * 2 * 8;
  EXPECT_EQ(rules.states, std::vector<std::int64_t>(4, 2 * weights));
  EXPECT_EQ(rules.kept[0], x + x) << "its input, and what GELU is applied to";
  EXPECT_EQ(rules.kept[3], x) << "the last layer has no GELU";
  EXPECT_EQ(rules.needed_on(0, {0, 2}), 4 * weights + 2 * (4 * x));
  EXPECT_EQ(rules.memory, 1'000'000);
}

// Four layers of 10 bytes and one of 25, on three stages of 30 bytes that keep no micro-batch: work is not looked at.
TEST(StagePlacement, FilledWithMemoryFromBothEnds) {
  PlacementRules rules;
  rules.work = {1, 1, 50, 1, 1};
  rules.states = {10, 10, 10, 10, 25};
  rules.kept.assign(5, 0);
  rules.in_flight = {3, 2, 1};
  rules.memory = 30;
  const std::vector<Stages> filled = filled_with_memory(rules);
  ASSERT_EQ(filled.size(), 2U);
  EXPECT_EQ(filled[0], (Stages{{0, 3}, {3, 4}, {4, 5}}));
  EXPECT_EQ(filled[1], (Stages{{0, 1}, {1, 4}, {4, 5}}));
}

}  // namespace
}  // namespace shardlings::grading::formulas
