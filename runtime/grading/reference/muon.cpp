#include "grading/reference/muon.h"

#include <cmath>
#include <numeric>

namespace shardlings::grading::reference {
namespace {

/// x yᵀ, both with rows of so many elements.
template <class Real>
Array<Real> products_of_rows(const Array<Real>& x, const Array<Real>& y, Count length) {
  Array<Real> result;
  for (auto a = x.begin(); a != x.end(); a += length) {
    for (auto b = y.begin(); b != y.end(); b += length) {
      result.push_back(std::inner_product(a, a + length, b, Real(0)));
    }
  }
  return result;
}

}  // namespace

template <class Real>
Array<Real> transposed(const Array<Real>& x, Count rows, Count cols) {
  Array<Real> result(x.size());
  for (Count row = 0; row < rows; ++row) {
    for (Count col = 0; col < cols; ++col) {
      result[static_cast<std::size_t>(col * rows + row)] = x[static_cast<std::size_t>(row * cols + col)];
    }
  }
  return result;
}

template <class Real>
Array<Real> normalized(Array<Real> x) {
  const Real norm = std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), Real(0)));
  for (Real& each : x) each /= norm;
  return x;
}

template <class Real>
Array<Real> orthogonalized(const Array<Real>& m, Count rows, Count cols, const MuonRounds& rounds) {
  if (rows > cols) return transposed(orthogonalized(transposed(m, rows, cols), cols, rows, rounds), cols, rows);
  Array<Real> x = rounds.begins_with_normalized ? normalized(m) : m;
  for (int i = 0; i < rounds.number; ++i) {
    if (rounds.normalized_in_each) x = normalized(x);
    const Array<Real> square = products_of_rows(x, x, cols);
    Array<Real> factor = products_of_rows(square, square, rows);  // the square is symmetric
    for (std::size_t k = 0; k < factor.size(); ++k) factor[k] = Real(-4.7750) * square[k] + Real(2.0315) * factor[k];
    const Array<Real> sum = products_of_rows(factor, transposed(x, rows, cols), rows);
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = Real(3.4445) * x[k] + sum[k];
  }
  return x;
}

template Array<float> transposed(const Array<float>&, Count, Count);
template Array<double> transposed(const Array<double>&, Count, Count);
template Array<float> normalized(Array<float>);
template Array<double> normalized(Array<double>);
template Array<float> orthogonalized(const Array<float>&, Count, Count, const MuonRounds&);
template Array<double> orthogonalized(const Array<double>&, Count, Count, const MuonRounds&);

}  // namespace shardlings::grading::reference
