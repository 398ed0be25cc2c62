// Documents packed into sequences: against a packing by hand, and grid against grid.
#include "grading/formulas/data_packing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace shardlings::grading::formulas {
namespace {

/// Documents of 3, 5, 1, 4 and 2 tokens; two steps of 2 sequences of 3 tokens, then steps of 2 sequences of 4.
cases::Case packed_run(int ranks, int t, int p) {
  cases::Case kase;
  kase.ranks = ranks;
  kase.steps = 2;
  kase.seed = 9;
  kase.model.layers = 2;
  kase.model.hidden = 3;
  kase.model.sequence = 3;
  kase.model.lr = 0.05F;
  kase.numbers = {{"t", t},
                  {"p", p},
                  {"t_later", 1},
                  {"p_later", 1},
                  {"steps_later", 2},
                  {"sequences", 5},
                  {"batch", 2},
                  {"cursor", 0},
                  {"middle", 4},
                  {"rate", 0},
                  {"documents", 5},
                  {"document_0", 3},
                  {"document_1", 5},
                  {"document_2", 1},
                  {"document_3", 4},
                  {"document_4", 2},
                  {"sequence_later", 4}};
  return kase;
}

TEST(DataPacking, CutsWhatFollowsOneAnother) {
  const cases::Case kase = packed_run(1, 1, 1);
  const DataCase of(kase);
  const std::vector<PackedStep> steps = all_packed_steps(of);
  ASSERT_EQ(steps.size(), 4U);
  const std::vector<Count> cursors{0, 6, 12, 15}, sizes{6, 6, 3, 8}, sequences{2, 2, 1, 2};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].cursor, cursors[i]);
    EXPECT_EQ(steps[i].size(), sizes[i]);
    EXPECT_EQ(steps[i].sequences(), sequences[i]);
  }
}

/// By hand: the order of the epoch is asked for, and its documents are laid one behind another.
TEST(DataPacking, TargetsEndWithTheirDocumentAndNotWithTheirSequence) {
  const cases::Case kase = packed_run(1, 1, 1);
  const DataCase of(kase);
  const std::vector<Count> begins{0, 3, 8, 9, 13}, order = order_of(of, 0);
  std::vector<PackedToken> expected;
  for (const Count document : order) {
    const auto begin = static_cast<Count>(expected.size());
    const Count first = begins[static_cast<std::size_t>(document)],
                length = of.lengths[static_cast<std::size_t>(document)];
    for (Count i = 0; i < length; ++i) {
      const Count place = begin + i, sequence = place < 12 ? place / 3 * 3 : 12;
      expected.push_back({first + i, i + 1 == length ? -1 : first + i + 1, std::max(begin - sequence, Count(0))});
    }
  }
  std::vector<PackedToken> found;
  for (Count step = 0; step < 3; ++step) {
    const std::vector<PackedToken> own = all_packed_steps(of)[static_cast<std::size_t>(step)].tokens;
    found.insert(found.end(), own.begin(), own.end());
  }
  EXPECT_EQ(found, expected);
  Count targets = 0;
  for (const PackedToken& token : found) targets += token.target >= 0 ? 1 : 0;
  EXPECT_EQ(targets, 15 - 5) << "every token but the last one of each document";
}

TEST(DataPacking, EveryEpochReadsEveryTokenOnceWhateverTheLengthOfSequences) {
  for (int s = 1; s <= 9; ++s) {
    for (int batch = 1; batch <= 4; ++batch) {
      cases::Case kase = packed_run(1, 1, 1);
      kase.model.sequence = s;
      kase.numbers["batch"] = batch;
      kase.steps = (15 + s * batch - 1) / (s * batch);
      kase.numbers["steps_later"] = 0;
      std::multiset<Count> read;
      for (const PackedStep& step : all_packed_steps(DataCase(kase))) {
        for (const PackedToken& token : step.tokens) read.insert(token.token);
      }
      std::vector<Count> all(15);
      std::iota(all.begin(), all.end(), 0);
      EXPECT_TRUE(std::equal(read.begin(), read.end(), all.begin(), all.end())) << s << " " << batch;
    }
  }
}

TEST(DataPacking, ReplicasHaveTheStepTogether) {
  const cases::Case kase = packed_run(1, 1, 1);
  for (const PackedStep& step : all_packed_steps(DataCase(kase))) {
    for (int d = 1; d <= 9; ++d) {
      Count next = 0;
      for (int r = 0; r < d; ++r) {
        const Range mine = step.part(d, r);
        EXPECT_EQ(mine.begin, std::min(next, step.size())) << d << " " << r;
        next = mine.end;
      }
      EXPECT_EQ(next, step.size());
    }
  }
}

/// Where there are replicas and a cursor in the middle of a sequence, each known mistake reads or says something else.
TEST(DataPacking, KnownMistakesAreApart) {
  cases::Case kase = packed_run(2, 1, 1);
  kase.numbers["cursor"] = 17;
  kase.numbers["batch"] = 3;  // replicas have 2 sequences and 1
  const DataCase of(kase);
  const auto all = [&](const auto& tokens_of) {
    std::vector<PackedToken> tokens;
    Count number = 0;
    for (const PackedStep& step : all_packed_steps(of)) {
      for (int r = 0; r < 2; ++r) {
        const std::vector<PackedToken> own = tokens_of(step, number, r);
        tokens.insert(tokens.end(), own.begin(), own.end());
        tokens.push_back({-1, -1, r});  // here the replica's end
      }
      ++number;
    }
    return tokens;
  };
  std::vector<std::vector<PackedToken>> seen = {all([&](const PackedStep& step, Count, int r) {
    const Range mine = step.part(2, r);
    return std::vector<PackedToken>(step.tokens.begin() + mine.begin, step.tokens.begin() + mine.end);
  })};
  std::vector<KnownPacking> known = known_packings();
  for (KnownPacking& other : known_targets()) known.push_back(std::move(other));
  for (const KnownPacking& mistake : known) {
    seen.push_back(all(
        [&](const PackedStep& step, Count number, int r) { return mistake.tokens(of, number, step.cursor, 2, r); }));
    for (std::size_t i = 0; i + 1 < seen.size(); ++i) EXPECT_NE(seen[i], seen.back()) << mistake.diagnosis;
  }
}

TEST(DataPacking, TheLossIsThatOfTokensWithATarget) {
  const cases::Case kase = packed_run(1, 1, 1);
  cases::Case alone = packed_run(1, 1, 1);  // documents of one token: nothing has a target
  for (int i = 0; i < 5; ++i) alone.numbers["document_" + std::to_string(i)] = 1;
  alone.steps = 1;
  alone.numbers["steps_later"] = 0;
  const std::vector<float> before = first_weights(DataCase(kase));
  const TrainedWeights trained = trained_by_one_device(DataCase(kase)),
                       untouched = trained_by_one_device(DataCase(alone));
  double moved = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    moved += std::abs(trained.exact[i] - static_cast<double>(before[i]));
    EXPECT_EQ(untouched.exact[i], static_cast<double>(before[i]));
  }
  EXPECT_GT(moved, 0.01);
}

}  // namespace
}  // namespace shardlings::grading::formulas
