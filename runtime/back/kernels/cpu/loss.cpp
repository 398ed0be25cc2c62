// Cross entropy and its gradient.
#include <algorithm>
#include <cmath>
#include <limits>

#include "back/kernels/cpu/exp.h"
#include "back/kernels/cpu/table.h"

namespace shardlings::back::cpu {
namespace {

/// Row becomes its gradient, (softmax - one-hot) / tokens; returns log(sum exp) - logit of the target. `e`: scratch.
template <class T>
float cross_entropy_row(T* row, Count cols, std::int32_t target, float tokens, float* e) {
  const float top = max_of(row, cols);
  map(e, row, cols, [top](float v) { return fast_exp(v - top); });
  const float total = sum(cols, [e](Count i) { return e[i]; });
  const float loss = std::log(total) + top - load(row[target]);
  const float factor = 1.0F / (total * tokens);
  e[target] -= total;  // before the rounding to T
  map(row, e, cols, [factor](float v) { return v * factor; });
  return loss;
}

SHARDLINGS_KERNEL void cross_entropy(const Kernel& k, Workspace& workspace) {
  const Count cols = k.n[1];
  const auto* targets = in<std::int32_t>(k, 0);
  const auto tokens = static_cast<float>(k.n[2]);
  float* e = workspace.floats(static_cast<std::size_t>(cols));
  double loss = 0;
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    for (Count r = 0; r < k.n[0]; ++r) {
      T* row = out<T>(k, 0) + r * cols;
      if (targets[r] < 0) {
        std::fill_n(row, cols, T{});
      } else if (targets[r] < cols) {
        loss += static_cast<double>(cross_entropy_row(row, cols, targets[r], tokens, e));
      } else {
        loss = std::numeric_limits<double>::quiet_NaN();
        for (Count i = 0; i < cols; ++i) store(row[i], std::numeric_limits<float>::quiet_NaN());
      }
    }
  });
  *out<float>(k, 1) += static_cast<float>(loss / static_cast<double>(k.n[2]));
}

void loss_add(const Kernel& k, Workspace&) {
  const auto* targets = in<std::int32_t>(k, 3);
  double loss = 0;
  by_float(k.dtype, [&](auto type) {
    using T = decltype(type);
    for (Count i = 0; i < k.n[0]; ++i) {
      if (targets[i] < 0) continue;
      const float row = std::log(load(in<T>(k, 0)[i])) + load(in<T>(k, 2)[i]) - load(in<T>(k, 1)[i]);
      loss += static_cast<double>(row);
    }
  });
  *out<float>(k, 0) += static_cast<float>(loss / static_cast<double>(k.n[1]));
}

}  // namespace

void add_loss_kernels(KernelTable& table) {
  table[KernelId::cross_entropy] = cross_entropy;
  table[KernelId::loss_add] = loss_add;
}

}  // namespace shardlings::back::cpu
