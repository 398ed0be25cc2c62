/// \file
/// How numbers are kept between the operations of a training step in 16 bits.
#pragma once

#include <cstdint>
#include <vector>

namespace shardlings::grading::reference {

/// What is kept in 16 bits: in `full` nothing. In `mixed`, weights as the layers see them, activations and gradients
/// are bf16; what is computed from them is rounded when it is stored, once for each operation of shardlings/ops.h. The
/// optimizer's own weights and its moments keep their precision.
enum class Precision : std::uint8_t { full, mixed };

/// Rounds what is stored to bf16. It first shakes each number by about what f32 sums in another order would (one of
/// -1, 0, 1 times 2^-20 of it, at random by `shake`; not at all if that is 0), so that some are rounded the other way.
/// That shows how much depends on a computation's last bits.
template <class Real>
class Rounding {
 public:
  explicit Rounding(std::uint64_t shake = 0) : shake_(shake) {}
  Real operator()(Real value);

 private:
  std::uint64_t shake_;
  std::uint64_t numbers_ = 0;  ///< rounded so far
};

/// Rounds all of them, if there is a rounding: without one, they are kept as they are.
template <class Real>
void keep(Rounding<Real>* rounding, std::vector<Real>& values) {
  if (rounding == nullptr) return;
  for (Real& value : values) value = (*rounding)(value);
}

/// The nearest number with 8 significant bits, even ones where two are as near; infinite beyond the largest bf16.
double nearest_bf16(double value);

}  // namespace shardlings::grading::reference
