/// \file
/// The operations once more, in double and as plainly as possible: what the runtime's are compared with.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "front/ops/on_rank.h"

namespace shardlings::ops_test::plain {

inline std::size_t at(Count i) {
  return static_cast<std::size_t>(i);
}

/// op(a) (m, k) times op(b) (k, n).
inline Doubles matmul(const Doubles& a, const Doubles& b, Count m, Count n, Count k, bool trans_a, bool trans_b) {
  Doubles c(at(m * n), 0.0);
  for (Count i = 0; i < m; ++i) {
    for (Count j = 0; j < n; ++j) {
      for (Count l = 0; l < k; ++l) {
        c[at(i * n + j)] += a[at(trans_a ? l * m + i : i * k + l)] * b[at(trans_b ? j * k + l : l * n + j)];
      }
    }
  }
  return c;
}

inline double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

inline double relu(double x) {
  return std::max(x, 0.0);
}

template <class F>
Doubles map(Doubles x, F f) {
  std::transform(x.begin(), x.end(), x.begin(), f);
  return x;
}

inline Doubles softmax(Doubles x, Count rows, Count cols) {
  for (Count r = 0; r < rows; ++r) {
    double top = -INFINITY;
    double sum = 0;
    for (Count i = 0; i < cols; ++i) top = std::max(top, x[at(r * cols + i)]);
    for (Count i = 0; i < cols; ++i) sum += std::exp(x[at(r * cols + i)] - top);
    for (Count i = 0; i < cols; ++i) x[at(r * cols + i)] = std::exp(x[at(r * cols + i)] - top) / sum;
  }
  return x;
}

inline Doubles layer_norm(const Doubles& x, const Doubles& weight, const Doubles& bias) {
  const auto cols = static_cast<Count>(weight.size());
  Doubles y(x.size());
  for (std::size_t row = 0; row < x.size(); row += weight.size()) {
    double mean = 0;
    double variance = 0;
    for (Count i = 0; i < cols; ++i) mean += x[row + at(i)] / static_cast<double>(cols);
    for (Count i = 0; i < cols; ++i) variance += std::pow(x[row + at(i)] - mean, 2) / static_cast<double>(cols);
    for (Count i = 0; i < cols; ++i) {
      y[row + at(i)] = (x[row + at(i)] - mean) / std::sqrt(variance + 1e-5) * weight[at(i)] + bias[at(i)];
    }
  }
  return y;
}

/// qkv (s, b, 3w) to (s, b, w).
inline Doubles attention(const Doubles& qkv, Count s, Count b, Count heads, Count w) {
  const Count d = w / heads;
  const auto element = [&](Count t, Count i, Count part, Count head, Count j) {
    return qkv[at((t * b + i) * 3 * w + part * w + head * d + j)];
  };
  Doubles y(at(s * b * w), 0.0);
  for (Count i = 0; i < b; ++i) {
    for (Count head = 0; head < heads; ++head) {
      for (Count t = 0; t < s; ++t) {
        Doubles p(at(t + 1), 0.0);
        for (Count u = 0; u <= t; ++u) {
          for (Count j = 0; j < d; ++j) p[at(u)] += element(t, i, 0, head, j) * element(u, i, 1, head, j);
          p[at(u)] /= std::sqrt(static_cast<double>(d));
        }
        p = softmax(p, 1, t + 1);
        for (Count u = 0; u <= t; ++u) {
          for (Count j = 0; j < d; ++j) y[at((t * b + i) * w + head * d + j)] += p[at(u)] * element(u, i, 2, head, j);
        }
      }
    }
  }
  return y;
}

/// Sum over the rows with a target, divided by tokens.
inline double cross_entropy(const Doubles& logits, const std::vector<int>& targets, Count cols, Count tokens) {
  double loss = 0;
  for (std::size_t r = 0; r < targets.size(); ++r) {
    if (targets[r] < 0) continue;
    double sum = 0;
    for (Count i = 0; i < cols; ++i) sum += std::exp(logits[r * at(cols) + at(i)]);
    loss += (std::log(sum) - logits[r * at(cols) + at(targets[r])]) / static_cast<double>(tokens);
  }
  return loss;
}

}  // namespace shardlings::ops_test::plain
