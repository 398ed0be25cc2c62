/// \file
/// Steps of Muon on several ranks (puzzle 40), as the judge takes them, and with the mistakes that it knows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/parts.h"
#include "case/data.h"
#include "grading/formulas/deal.h"
#include "grading/formulas/muon_cost.h"
#include "grading/reference/muon.h"
#include "grading/reference/noise.h"

namespace shardlings::grading::formulas {

/// What becomes of the momentum.
enum class MuonMomentum : std::uint8_t { kept, forgotten, summed, of_updates, orthogonalized, normalized, nesterov };
/// Whose gradient the owner takes.
enum class MuonGradient : std::uint8_t { of_all, of_owner, of_all_on_rank_0 };
/// Whether a matrix is orthogonalized as a whole, or in as many parts as there are ranks.
enum class MuonDivided : std::uint8_t { no, by_rows, by_columns };

/// How somebody takes a step: the right way, or with one of these mistakes.
struct MuonRule {
  MuonGradient gradient = MuonGradient::of_all;
  MuonDivided divided = MuonDivided::no;
  MuonMomentum momentum = MuonMomentum::kept;
  reference::MuonRounds rounds = {};
  bool scaled_by_shape = false;  ///< the update, by the root of rows over columns where that is above 1
};

/// Part by part, each of them by itself.
template <class Real>
reference::Array<Real> orthogonalized_in_parts(const reference::Array<Real>& m, MuonMatrix of, int parts,
                                               const MuonRule& rule) {
  if (rule.divided == MuonDivided::no) return reference::orthogonalized(m, of.rows, of.cols, rule.rounds);
  const bool by_columns = rule.divided == MuonDivided::by_columns;
  const reference::Array<Real> turned = by_columns ? reference::transposed(m, of.rows, of.cols) : m;
  if (by_columns) std::swap(of.rows, of.cols);
  reference::Array<Real> result;
  for (int part = 0; part < parts; ++part) {
    const Range rows = part_of(of.rows, parts, part);
    if (rows.size() == 0) continue;
    const reference::Array<Real> own(turned.begin() + rows.begin * of.cols, turned.begin() + rows.end * of.cols);
    const reference::Array<Real> x = reference::orthogonalized(own, rows.size(), of.cols, rule.rounds);
    result.insert(result.end(), x.begin(), x.end());
  }
  return by_columns ? reference::transposed(result, of.rows, of.cols) : result;
}

/// A case's steps in one number type.
template <class Real>
class MuonTraining {
 public:
  MuonTraining(const cases::Case& kase, std::uint64_t shake)
      : kase_(kase), shake_(shake), matrices_(muon_matrices(kase)) {}

  std::vector<reference::Array<Real>> initial() const {
    std::vector<reference::Array<Real>> weights;
    for (std::size_t i = 0; i < matrices_.size(); ++i) {
      const std::vector<float> layer = cases::weights_of(kase_, static_cast<int>(i));
      weights.emplace_back(layer.begin(), layer.begin() + matrices_[i].size());
      reference::shake_all(weights.back(), shake_, 0);
    }
    return weights;
  }

  std::vector<reference::Array<Real>> run(const MuonRule& rule, const Deal& owner) const {
    const Real lr = static_cast<float>(kase_.number("lr")), beta = static_cast<float>(kase_.number("beta"));
    const Real kept = rule.momentum == MuonMomentum::forgotten ? Real(0)
                      : rule.momentum == MuonMomentum::summed  ? Real(1)
                                                               : beta;
    std::vector<reference::Array<Real>> weights = initial();
    for (std::size_t i = 0; i < matrices_.size(); ++i) {
      reference::Array<Real> m(weights[i].size());
      for (int step = 0; step < kase_.steps; ++step) {
        reference::Array<Real> g = gradient(rule, step, static_cast<int>(i), i < owner.size() ? owner[i] : 0);
        if (rule.momentum == MuonMomentum::of_updates) g = update_of(g, i, rule);
        for (std::size_t k = 0; k < m.size(); ++k) {
          m[k] = kept * m[k] + g[k];
        }
        reference::Array<Real> ahead = m;
        for (std::size_t k = 0; k < m.size() && rule.momentum == MuonMomentum::nesterov; ++k)
          ahead[k] = g[k] + beta * m[k];
        const reference::Array<Real> update = rule.momentum == MuonMomentum::of_updates ? m : update_of(ahead, i, rule);
        const Real shape = std::sqrt(static_cast<Real>(matrices_[i].rows) / static_cast<Real>(matrices_[i].cols));
        const Real factor = rule.scaled_by_shape ? std::max(Real(1), shape) : Real(1);
        for (std::size_t k = 0; k < m.size(); ++k) weights[i][k] -= lr * factor * update[k];
        if (rule.momentum == MuonMomentum::orthogonalized) m = update;
        if (rule.momentum == MuonMomentum::normalized) m = reference::normalized(m);
      }
    }
    return weights;
  }

 private:
  reference::Array<Real> update_of(const reference::Array<Real>& m, std::size_t i, const MuonRule& rule) const {
    return orthogonalized_in_parts(m, matrices_[i], kase_.ranks, rule);
  }

  reference::Array<Real> of_rank(int step, int matrix, int rank) const {
    const int which = (step * static_cast<int>(matrices_.size()) + matrix) * kase_.ranks + rank;
    const std::vector<float> numbers =
        cases::normals_of(kase_, which, matrices_[static_cast<std::size_t>(matrix)].size());
    reference::Array<Real> g(numbers.begin(), numbers.end());
    reference::shake_all(g, shake_, static_cast<std::uint64_t>(which) + 1);
    return g;
  }

  reference::Array<Real> gradient(const MuonRule& rule, int step, int matrix, int owner) const {
    const bool own =
        rule.gradient == MuonGradient::of_owner || (rule.gradient == MuonGradient::of_all_on_rank_0 && owner != 0);
    if (own) return of_rank(step, matrix, owner);
    reference::Array<Real> mean = of_rank(step, matrix, 0);
    for (int rank = 1; rank < kase_.ranks; ++rank) {
      const reference::Array<Real> other = of_rank(step, matrix, rank);
      for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += other[k];
    }
    for (Real& each : mean) each /= static_cast<Real>(kase_.ranks);
    return mean;
  }

  const cases::Case& kase_;
  std::uint64_t shake_;
  std::vector<MuonMatrix> matrices_;
};

}  // namespace shardlings::grading::formulas
