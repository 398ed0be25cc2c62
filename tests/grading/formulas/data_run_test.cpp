// What one device reads and draws, and the same in grids: against counts by hand, and grid against grid.
#include "grading/formulas/data_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "grading/formulas/data_numbering.h"

namespace shardlings::grading::formulas {
namespace {

/// Two steps of an epoch of 7 sequences, with 4 in a step, in a grid of t and p.
cases::Case run_in(int ranks, int t, int p, float rate = 0.25F) {
  cases::Case kase;
  kase.ranks = ranks;
  kase.steps = 2;
  kase.seed = 5;
  kase.model.layers = 3;
  kase.model.hidden = 3;
  kase.model.sequence = 2;
  kase.model.lr = 0.01F;
  kase.numbers = {{"t", t},         {"p", p},     {"t_later", 1}, {"p_later", 1}, {"steps_later", 2},
                  {"sequences", 7}, {"batch", 4}, {"cursor", 0},  {"middle", 5},  {"rate", rate}};
  return kase;
}

TEST(DataRun, ReadsEachSequenceOnceInAnEpoch) {
  const cases::Case kase = run_in(1, 1, 1);
  const std::vector<StepRead> steps = all_steps(DataCase(kase));
  ASSERT_EQ(steps.size(), 4U);
  const std::vector<Count> cursors{0, 4, 7, 11}, sizes{4, 3, 4, 3};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].cursor, cursors[i]);
    EXPECT_EQ(steps[i].size(), sizes[i]);
  }
  for (const std::size_t first : {0U, 2U}) {
    std::vector<Count> epoch = steps[first].sequences, all(7);
    epoch.insert(epoch.end(), steps[first + 1].sequences.begin(), steps[first + 1].sequences.end());
    std::iota(all.begin(), all.end(), 0);
    std::sort(epoch.begin(), epoch.end());
    EXPECT_EQ(epoch, all);
  }
  EXPECT_NE(order_of(DataCase(kase), 0), order_of(DataCase(kase), 1));
}

TEST(DataRun, NumbersRanksWithPartsInside) {
  const cases::Case kase = run_in(12, 3, 2);
  const DataCase of(kase);
  const GridPlace eleventh = place_in_grid(of, 10, 0), later = place_in_grid(of, 10, 2);
  EXPECT_EQ(eleventh.d, 2);
  EXPECT_EQ(eleventh.dp, 1);
  EXPECT_EQ(eleventh.pp, 1);
  EXPECT_EQ(eleventh.tp, 1);
  EXPECT_EQ(later.d, 12);
  EXPECT_EQ(later.dp, 10);
}

std::vector<Mask> masks_in(const cases::Case& kase, const NumberingRule& rule) {
  std::vector<Mask> masks;
  all_masks(DataCase(kase), rule, [&](const Mask& mask) {
    masks.push_back(mask);
    return true;
  });
  return masks;
}

TEST(DataNumbering, IsThatOfOneDeviceInEveryGrid) {
  const std::vector<Mask> right = masks_in(run_in(1, 1, 1), right_numbering);
  ASSERT_EQ(right.size(), 4U * 3 * 2);
  for (const auto& [ranks, t, p] : {std::array{12, 3, 2}, std::array{5, 1, 1}, std::array{8, 4, 1}}) {
    const std::vector<Mask> masks = masks_in(run_in(ranks, t, p), right_numbering);
    ASSERT_EQ(masks.size(), right.size());
    for (std::size_t i = 0; i < masks.size(); ++i) EXPECT_EQ(masks[i].values, right[i].values) << masks[i].name;
  }
}

TEST(DataNumbering, RowsOfAMaskAreTokens) {
  const cases::Case kase = run_in(4, 2, 1);
  const DataCase of(kase);
  const StepRead step = all_steps(of).front();
  const Mask mask = mask_by(of, 0, step, 1, true, right_numbering);
  const std::vector<float> rows = mask_by_row(of, stream_of(of, 0, 1, true), step.size() * of.s, of.middle);
  for (Count i = 0; i < of.s; ++i) {
    for (Count j = 0; j < step.size(); ++j) {
      for (Count k = 0; k < of.middle; ++k) {
        EXPECT_EQ(mask.values[static_cast<std::size_t>((i * step.size() + j) * of.middle + k)],
                  rows[static_cast<std::size_t>((j * of.s + i) * of.middle + k)]);
      }
    }
  }
}

/// Where a grid has all axes, and a short step is divided otherwise than a whole one, each known mistake gives masks of
/// its own.
TEST(DataNumbering, KnownMistakesAreApart) {
  cases::Case kase = run_in(8, 2, 2);
  kase.numbers["sequences"] = 6;
  std::vector<std::vector<Mask>> seen = {masks_in(kase, right_numbering)};
  for (const KnownNumbering& known : known_numberings()) {
    const std::vector<Mask> masks = masks_in(kase, known.rule);
    for (const std::vector<Mask>& others : seen) {
      bool equal = true;
      for (std::size_t i = 0; i < masks.size(); ++i) equal = equal && masks[i].values == others[i].values;
      EXPECT_FALSE(equal) << known.diagnosis;
    }
    seen.push_back(masks);
  }
}

/// Weights move, and other masks move them elsewhere.
TEST(DataRun, TrainsWithItsMasks) {
  const cases::Case with = run_in(1, 1, 1), without = run_in(1, 1, 1, 0);
  const TrainedWeights a = trained_by_one_device(DataCase(with)), b = trained_by_one_device(DataCase(without));
  const std::vector<float> before = first_weights(DataCase(with));
  ASSERT_EQ(a.exact.size(), before.size());
  double moved = 0, apart = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    moved += std::abs(a.exact[i] - static_cast<double>(before[i]));
    apart += std::abs(a.exact[i] - b.exact[i]);
    EXPECT_GT(a.tolerance[i], 0);
    EXPECT_LT(a.tolerance[i], 1e-4);
  }
  EXPECT_GT(moved, 0.01);
  EXPECT_GT(apart, 0.01);
}

}  // namespace
}  // namespace shardlings::grading::formulas
