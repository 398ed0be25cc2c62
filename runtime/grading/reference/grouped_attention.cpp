#include "grading/reference/grouped_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "case/data.h"
#include "grading/reference/noise.h"

namespace shardlings::grading::reference {
namespace {

template <class Real>
using Array = std::vector<Real>;

template <class Real>
struct Numbers {
  Array<Real> y, lse, grad_q, grad_k, grad_v;
};

/// One pass over all pairs, in one number type.
template <class Real>
class Pass {
 public:
  Pass(const GroupedInputs& inputs, const Sees& sees, std::uint64_t shake, Sees adds = nullptr)
      : in_(inputs),
        sees_(sees),
        adds_(std::move(adds)),
        q_(shaken(inputs.q, shake, 0)),
        k_(shaken(inputs.k, shake, 1)),
        v_(shaken(inputs.v, shake, 2)),
        grad_y_(shaken(inputs.grad_y, shake, 3)),
        scale_(1 / std::sqrt(static_cast<Real>(inputs.head_size))) {}

  Numbers<Real> run() {
    Numbers<Real> of;
    of.y.assign(q_.size(), Real(0));
    of.lse.assign(static_cast<std::size_t>(in_.sequence * in_.batch * in_.heads), Real(0));
    if (!grad_y_.empty()) {
      of.grad_q.assign(q_.size(), Real(0));
      of.grad_k.assign(k_.size(), Real(0));
      of.grad_v.assign(v_.size(), Real(0));
    }
    for (Count query = 0; query < in_.sequence; ++query) {
      seen_.clear();
      for (Count key = 0; key < in_.sequence; ++key) {
        if (sees_(query, key)) seen_.push_back(key);
      }
      for (Count sequence = 0; sequence < in_.batch; ++sequence) {
        for (Count head = 0; head < in_.heads; ++head) one_query(query, sequence, head, of);
      }
    }
    return of;
  }

 private:
  static Array<Real> shaken(const std::vector<float>& numbers, std::uint64_t shake, std::uint64_t stream) {
    Array<Real> result(numbers.begin(), numbers.end());
    shake_all(result, shake, stream);
    return result;
  }
  std::size_t of_query(Count query, Count sequence, Count head) const {
    return static_cast<std::size_t>(((query * in_.batch + sequence) * in_.heads + head) * in_.head_size);
  }
  std::size_t of_key(Count key, Count sequence, Count head) const {
    const Count key_head = head / (in_.heads / in_.key_heads);
    return static_cast<std::size_t>(((key * in_.batch + sequence) * in_.key_heads + key_head) * in_.head_size);
  }
  Real product(const Real* a, const Real* b) const {
    Real sum = 0;
    for (Count i = 0; i < in_.head_size; ++i) sum += a[i] * b[i];
    return sum;
  }
  void add(Real* y, Real factor, const Real* x) const {
    for (Count i = 0; i < in_.head_size; ++i) y[i] += factor * x[i];
  }

  void one_query(Count query, Count sequence, Count head, Numbers<Real>& of) {
    const std::size_t at = of_query(query, sequence, head);
    Array<Real> p;
    Real top = -std::numeric_limits<Real>::infinity();
    for (const Count key : seen_) {
      p.push_back(product(&q_[at], &k_[of_key(key, sequence, head)]) * scale_);
      top = std::max(top, p.back());
    }
    Real sum = 0;
    for (Real& value : p) sum += value = std::exp(value - top);
    of.lse[at / static_cast<std::size_t>(in_.head_size)] = seen_.empty() ? top : top + std::log(sum);
    for (std::size_t i = 0; i < p.size(); ++i) {
      p[i] /= sum;
      add(&of.y[at], p[i], &v_[of_key(seen_[i], sequence, head)]);
    }
    if (grad_y_.empty()) return;
    const Real dot = product(&of.y[at], &grad_y_[at]);
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (adds_ && !adds_(query, seen_[i])) continue;
      const std::size_t key = of_key(seen_[i], sequence, head);
      const Real of_score = p[i] * (product(&grad_y_[at], &v_[key]) - dot) * scale_;
      add(&of.grad_v[key], p[i], &grad_y_[at]);
      add(&of.grad_k[key], of_score, &q_[at]);
      add(&of.grad_q[at], of_score, &k_[key]);
    }
  }

  const GroupedInputs& in_;
  const Sees& sees_;
  Sees adds_;
  Array<Real> q_, k_, v_, grad_y_;
  Real scale_;
  std::vector<Count> seen_;
};

std::vector<double> tolerance(const std::vector<double>& exact, const std::vector<Numbers<float>>& runs,
                              Array<float> Numbers<float>::*which) {
  std::vector<const std::vector<float>*> picked;
  for (const Numbers<float>& run : runs) picked.push_back(&(run.*which));
  return tolerances_of(exact, picked);
}

}  // namespace

GroupedInputs grouped_inputs(const cases::Case& kase, bool with_gradient) {
  // Which of the case's tensors is which: the harnesses of 27 and 28 draw the same ones.
  enum Drawn : int { kQueries, kKeys, kValues, kGradient };
  const model::ModelSpec& model = kase.model;
  GroupedInputs in;
  in.sequence = model.sequence;
  in.batch = kase.batch;
  in.heads = model.heads;
  in.key_heads = kase.integer("kv_heads");
  in.head_size = model.hidden / model.heads;
  const auto drawn = [&](Drawn which, Count width) {
    return cases::normals_of(kase, which, in.sequence * in.batch * width);
  };
  in.q = drawn(kQueries, model.hidden);
  in.k = drawn(kKeys, in.key_heads * in.head_size);
  in.v = drawn(kValues, in.key_heads * in.head_size);
  if (with_gradient) in.grad_y = drawn(kGradient, model.hidden);
  return in;
}

GroupedNumbers grouped_attention(const GroupedInputs& inputs, const Sees& sees, const Sees& adds) {
  Numbers<double> of = Pass<double>(inputs, sees, 0, adds).run();
  return {std::move(of.y), std::move(of.lse), std::move(of.grad_q), std::move(of.grad_k), std::move(of.grad_v)};
}

GroupedReference grouped_reference(const GroupedInputs& inputs, const Sees& sees) {
  using Run = Numbers<float>;
  std::vector<Run> runs;
  for (std::uint64_t shake = 0; shake < kRuns; ++shake) runs.push_back(Pass<float>(inputs, sees, shake).run());
  GroupedReference result;
  result.exact = grouped_attention(inputs, sees);
  result.tolerance.y = tolerance(result.exact.y, runs, &Run::y);
  result.tolerance.lse = tolerance(result.exact.lse, runs, &Run::lse);
  result.tolerance.grad_q = tolerance(result.exact.grad_q, runs, &Run::grad_q);
  result.tolerance.grad_k = tolerance(result.exact.grad_k, runs, &Run::grad_k);
  result.tolerance.grad_v = tolerance(result.exact.grad_v, runs, &Run::grad_v);
  return result;
}

}  // namespace shardlings::grading::reference
