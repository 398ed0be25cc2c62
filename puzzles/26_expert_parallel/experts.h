// Spoils the puzzle: this is the judge's, and puzzle.cpp does not need it.
//
// What a layer of experts computes, forward and backward, on all ranks together, and what known mistakes make of it.
#pragma once

#include <cstdint>
#include <vector>

#include "grading/formulas/expert_routing.h"
#include "routing.h"

namespace shardlings {

using grading::formulas::RoutingRule;

inline std::vector<int> right_routes(const ExpertSizes& sizes, int rank, const RoutingRule& rule = {}) {
  return grading::formulas::routes_of(scores_of(sizes, rank), sizes.experts, sizes.k, sizes.capacity(rank), rule);
}

/// Over which ranks the gradients of experts are added up.
enum class ExpertSum : std::uint8_t { replicas, own, world, ep };

/// What lets a gradient through relu in backward, where it is above 0.
enum class ExpertGate : std::uint8_t { sum, input, none };

struct ExpertRule {
  bool factor_in_forward = true;
  bool factor_in_backward = true;
  bool factor_before = false;  ///< rows are multiplied with it before they go out, too
  bool rows_by_rank = true;    ///< false: rows that arrive are taken to be ordered by expert, then by rank
  bool by_remainder = true;    ///< false: stretch i of the rows that arrive is taken for expert i / e of the rank
  bool relu_in_forward = true;
  ExpertGate gate = ExpertGate::sum;
  bool w_as_it_lies = false;     ///< x w in forward, in the place of x wT
  bool grad_x_by_wt = false;     ///< g wT in backward, in the place of g w
  bool grads_exchanged = false;  ///< xT g, in the place of gT x
  ExpertSum sum = ExpertSum::replicas;
};

/// y and grad_x of the tokens of all ranks, one behind the other; grads of each rank's experts, rank by rank.
template <class Real>
struct ExpertNumbers {
  std::vector<Real> y, grad_x, grads;
};

template <class Real>
class ExpertTraining {
 public:
  /// `routes` by rank; draw(which, n) gives the n numbers of an input.
  template <class Draw>
  ExpertTraining(const ExpertSizes& sizes, const std::vector<std::vector<int>>& routes, const Draw& draw)
      : sizes_(sizes), h_(static_cast<std::size_t>(sizes.hidden)) {
    for (int rank = 0; rank < sizes.ranks; ++rank) {
      const Count size = sizes.tokens(rank) * sizes.hidden;
      x_.push_back(draw(which(ExpertDrawn::x, rank), size));
      grad_y_.push_back(draw(which(ExpertDrawn::grad_y, rank), size));
      rows_.push_back(rows_of(sizes, rank, routes[static_cast<std::size_t>(rank)]));
    }
    for (int i = 0; i < sizes.experts; ++i) {
      weights_.push_back(draw(which(ExpertDrawn::weights, i), sizes.hidden * sizes.hidden));
    }
  }

  ExpertNumbers<Real> run(const ExpertRule& rule) const {
    const auto size = static_cast<std::size_t>(sizes_.first_token(sizes_.ranks)) * h_;
    const std::size_t of_rank = static_cast<std::size_t>(sizes_.experts_of_rank()) * h_ * h_;
    ExpertNumbers<Real> numbers{std::vector<Real>(size), std::vector<Real>(size), {}};
    std::vector<std::vector<Real>> own;  // gradients from the rows that have arrived on each rank
    for (int rank = 0; rank < sizes_.ranks; ++rank) {
      own.emplace_back(of_rank);
      for (const Arrived& row : arrived(rank, rule)) compute(row, rule, numbers, own.back());
    }
    for (int rank = 0; rank < sizes_.ranks; ++rank) {
      std::vector<Real> sum(of_rank);
      for (int other = 0; other < sizes_.ranks; ++other) {
        if (!adds(rule.sum, rank, other)) continue;
        for (std::size_t i = 0; i < of_rank; ++i) sum[i] += own[static_cast<std::size_t>(other)][i];
      }
      numbers.grads.insert(numbers.grads.end(), sum.begin(), sum.end());
    }
    return numbers;
  }

 private:
  struct Arrived {
    int source = 0;  ///< rank
    int expert = 0;  ///< by which it is computed, of all
    const RoutedRow* row = nullptr;
  };

  bool adds(ExpertSum sum, int rank, int other) const {
    switch (sum) {
      case ExpertSum::replicas: return rank % sizes_.e == other % sizes_.e;
      case ExpertSum::own: return rank == other;
      case ExpertSum::ep: return rank / sizes_.e == other / sizes_.e;
      case ExpertSum::world: return true;
    }
    return false;
  }

  /// By the rank that they come from, and those of one rank by expert.
  std::vector<Arrived> arrived(int rank, const ExpertRule& rule) const {
    const int own = sizes_.experts_of_rank(), first = rank % sizes_.e * own;
    std::vector<Arrived> rows;
    for (int source = rank / sizes_.e * sizes_.e; source < (rank / sizes_.e + 1) * sizes_.e; ++source) {
      for (const RoutedRow& row : rows_[static_cast<std::size_t>(source)]) {
        if (row.expert / own * own == first) rows.push_back({source, row.expert, &row});
      }
    }
    if (!rule.by_remainder) {
      for (Arrived& row : rows) {
        const int stretch = row.source % sizes_.e * own + row.expert % own;
        row.expert = first + stretch / sizes_.e;
      }
    }
    if (rule.rows_by_rank) return rows;
    std::vector<int> sorted;
    for (const Arrived& row : rows) sorted.push_back(row.expert);
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].expert = sorted[i];
    return rows;
  }

  void compute(const Arrived& at, const ExpertRule& rule, ExpertNumbers<Real>& numbers,
               std::vector<Real>& grads) const {
    const std::vector<Real>& w = weights_[static_cast<std::size_t>(at.expert)];
    const auto token = static_cast<std::size_t>(at.row->token);
    const std::size_t here = (static_cast<std::size_t>(sizes_.first_token(at.source)) + token) * h_;
    const Real* x = &x_[static_cast<std::size_t>(at.source)][token * h_];
    const Real* grad_y = &grad_y_[static_cast<std::size_t>(at.source)][token * h_];
    Real* grad_w = &grads[static_cast<std::size_t>(at.expert % sizes_.experts_of_rank()) * h_ * h_];
    const Real factor = at.row->factor, before = rule.factor_before ? factor : 1;
    const auto weight = [&](std::size_t o, std::size_t i, bool transposed) {
      return w[transposed ? i * h_ + o : o * h_ + i];
    };
    for (std::size_t o = 0; o < h_; ++o) {
      Real sum = 0;
      for (std::size_t i = 0; i < h_; ++i) sum += before * x[i] * weight(o, i, rule.w_as_it_lies);
      const Real result = rule.relu_in_forward && sum <= 0 ? 0 : sum;
      numbers.y[here + o] += rule.factor_in_forward ? factor * result : result;
      if (rule.gate != ExpertGate::none && (rule.gate == ExpertGate::sum ? sum : x[o]) <= 0) continue;
      const Real grad = rule.factor_in_backward ? factor * grad_y[o] : grad_y[o];
      for (std::size_t i = 0; i < h_; ++i) {
        grad_w[rule.grads_exchanged ? i * h_ + o : o * h_ + i] += grad * before * x[i];
        numbers.grad_x[here + i] += grad * weight(o, i, rule.grad_x_by_wt);
      }
    }
  }

  const ExpertSizes& sizes_;
  std::size_t h_;
  std::vector<std::vector<Real>> x_, grad_y_, weights_;
  std::vector<std::vector<RoutedRow>> rows_;
};

}  // namespace shardlings
