/// \file
/// Numbers into a rank's device and out of a run: what a puzzle's harness does, without one.
#pragma once

#include <string>
#include <vector>

#include "shardlings/puzzle.h"
#include "world/world.h"

namespace shardlings::support {

/// A tensor with these values (rounded to the type).
Tensor load(Rank& rank, const std::vector<float>& values, DType dtype = DType::f32, Kind kind = Kind::other);
Tensor load(Rank& rank, const std::vector<float>& values, const Shape& shape, DType dtype = DType::f32,
            Kind kind = Kind::other);
/// Leaves the values of a view in the run's report.
void publish(Rank& rank, const std::string& name, ConstView view);

/// What a rank published under this name. Throws std::runtime_error if it did not.
const std::vector<float>& published(const front::RunReport& report, int rank, const std::string& name);

/// To the nearest bf16, ties to even.
float round_to_bf16(float value);
/// As the type stores it.
float round_to(DType dtype, float value);

}  // namespace shardlings::support
