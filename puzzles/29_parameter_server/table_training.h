// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// The table of puzzle 29 as one device would train it, and as known ways of averaging would have it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "grading/formulas/training.h"
#include "plan.h"

namespace shardlings {

/// Ways to average, the right one first.
struct Averaging {
  bool slow_ones_too = false;  ///< gradients of all workers count
  double divisor = 0;          ///< 0: how many gradients count
  double sign = -1;
  bool keeps_sums = false;  ///< the gradients of earlier steps stay in the sum
  bool next_rows = false;   ///< gradients are added to the rows of the next batch
  int stale = 0;            ///< workers have the rows of so many steps before
  int never = -1;           ///< from this worker on so many as there are backups never count, and all others do
};

/// The tables of all servers, one after another.
class TableTraining {
 public:
  explicit TableTraining(const cases::Case& kase) : plan_(kase), curvature_(numbers(kase, 0, plan_.hidden)) {
    for (int s = 0; s < plan_.servers; ++s) first_.push_back(numbers(kase, plan_.table(s), plan_.rows_of(s)));
    for (int step = 0; step < plan_.steps; ++step) {
      for (int w = 0; w < plan_.workers; ++w) {
        wanted_.push_back(numbers(kase, plan_.wanted(w, step), plan_.touched_in_all()));
      }
    }
  }

  grader::Layers run(const Averaging& how) const {
    std::vector<grader::Layers> versions{first_};
    grader::Layers sums = grader::combine(first_, -1, first_);
    for (int step = 0; step < plan_.steps; ++step) {
      if (!how.keeps_sums) sums = grader::combine(first_, -1, first_);
      const grader::Layers& seen = versions[static_cast<std::size_t>(std::max(0, step - how.stale))];
      int counted = 0;
      for (int w = 0; w < plan_.workers; ++w) {
        if (how.never >= 0 ? w >= how.never && w < how.never + plan_.backups
                           : plan_.backups > 0 && plan_.is_slow(w) && !how.slow_ones_too) {
          continue;
        }
        add_gradient(sums, seen, w, step, how.next_rows);
        ++counted;
      }
      const double divisor = how.divisor > 0 ? how.divisor : counted;
      versions.push_back(grader::combine(versions.back(), how.sign * static_cast<double>(plan_.lr) / divisor, sums));
    }
    return versions.back();
  }

 private:
  static std::vector<double> numbers(const cases::Case& kase, int which, Count rows) {
    const std::vector<float> drawn = cases::normals_of(kase, which, rows * kase.integer("h"));
    return {drawn.begin(), drawn.end()};
  }

  void add_gradient(grader::Layers& sums, const grader::Layers& seen, int worker, int step, bool next_rows) const {
    const auto h = static_cast<std::size_t>(plan_.hidden);
    const std::vector<double>& wanted = wanted_[static_cast<std::size_t>(step * plan_.workers + worker)];
    std::size_t row = 0;
    for (int s = 0; s < plan_.servers; ++s) {
      const auto server = static_cast<std::size_t>(s);
      const auto from = plan_.ids(worker, step, s);
      const auto to = next_rows && step + 1 < plan_.steps ? plan_.ids(worker, step + 1, s) : from;
      for (std::size_t i = 0; i < from.size(); ++i, ++row) {
        const auto source = static_cast<std::size_t>(from[i]) * h, target = static_cast<std::size_t>(to[i]) * h;
        for (std::size_t k = 0; k < h; ++k) {
          const double off = seen[server][source + k] - wanted[row * h + k];
          for (std::size_t j = 0; j < h; ++j) sums[server][target + j] += off * curvature_[k * h + j];
        }
      }
    }
  }

  ServerPlan plan_;
  std::vector<double> curvature_;
  grader::Layers first_, wanted_;
};

}  // namespace shardlings
