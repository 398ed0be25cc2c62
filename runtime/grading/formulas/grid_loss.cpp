#include "grading/formulas/grid_loss.h"

#include <cstddef>

#include "case/data.h"
#include "grading/formulas/grid_step.h"
#include "grading/formulas/training.h"
#include "grading/reference/trainer.h"

namespace shardlings::grading::formulas {
namespace {

/// Each rank has the sum, or the mean, over all ranks that are together with it.
bool is_reduced(const std::vector<double>& found, const std::vector<double>& right, auto are_together) {
  std::vector<double> sums, means;
  for (std::size_t rank = 0; rank < right.size(); ++rank) {
    double sum = 0;
    int count = 0;
    for (std::size_t other = 0; other < right.size(); ++other) {
      if (!are_together(rank, other)) continue;
      sum += right[other];
      ++count;
    }
    sums.push_back(sum);
    means.push_back(sum / count);
  }
  return alike({found}, {sums}) || alike({found}, {means});
}

}  // namespace

std::vector<double> losses_by_rank(const cases::Case& kase) {
  const reference::LayersOf<double> weights = reference::initial_weights<double>(kase);
  reference::Layers unused = scaled(weights, 0);
  std::vector<double> losses;
  for (int rank = 0; rank < kase.ranks; ++rank) {
    double loss = 0;
    for (int i = 0; GridRank(kase, rank).is_last() && i < kase.micro_batches; ++i) {
      const cases::MicroData data = cases::micro_of(kase, kase.batch_of(rank), i);
      loss += reference::train_micro(kase, data, cases::tokens_of_step(kase), weights, unused);
    }
    losses.push_back(loss);
  }
  return losses;
}

bool loss_is_reduced(const judge::CheckContext& check, const std::vector<double>& right) {
  const wire::Output* output = check.output("loss by rank");
  if (output == nullptr || output->values.size() != right.size()) return false;
  const std::vector<double> found(output->values.begin(), output->values.end());
  std::vector<GridRank> grid;
  for (int rank = 0; rank < check.ranks(); ++rank) grid.emplace_back(check.kase(), rank);
  const auto have_the_same = [&](int GridRank::*one, int GridRank::*other) {
    return [&grid, one, other](std::size_t a, std::size_t b) {
      return grid[a].*one == grid[b].*one && grid[a].*other == grid[b].*other;
    };
  };
  return is_reduced(found, right, have_the_same(&GridRank::tp, &GridRank::pp)) ||
         is_reduced(found, right, have_the_same(&GridRank::tp, &GridRank::dp)) ||
         is_reduced(found, right, [](std::size_t, std::size_t) { return true; });
}

}  // namespace shardlings::grading::formulas
