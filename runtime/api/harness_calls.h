/// \file
/// The calls that only a harness can make, as functions. They go through the rank's HarnessPort (harness_port.h); from
/// a Rank that has none, all throw std::logic_error.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "api/access.h"
#include "api/harness_port.h"
#include "api/rank_model.h"
#include "base/matrix_part.h"

namespace shardlings::detail::harness {

/// Host values as a tensor of the device. Their bytes must be those of shape and type.
Tensor load(const Rank& rank, std::span<const std::byte> values, const Shape& shape, DType dtype, Kind kind,
            Location at = kNoPlace);
template <class T>
Tensor load(const Rank& rank, std::span<const T> values, const Shape& shape, DType dtype, Kind kind,
            Location at = kNoPlace) {
  return load(rank, std::as_bytes(values), shape, dtype, kind, at);
}

/// False: nothing is computed, and values given to load() are not looked at.
bool computes(const Rank& rank);

/// Says which layer a tensor belongs to, for the numbers in timelines.
void mark_layer(const Rank& rank, ConstView tensor, int layer);

/// An item of the store, of f32, that is there from the beginning.
void give_item(const Rank& rank, const char* folder, const Item& item, std::span<const float> values);

/// Where nothing is computed: the number that the next read() gives, the one after those of earlier calls.
void script_read(const Rank& rank, float value);

/// Makes a model's structure known to the rank, which its calls then name by `model.id`.
void add_model(const Rank& rank, RankModel& model);

/// Counters, clock, trace and peak start anew here; memory that is alive stays counted.
void begin_measuring(const Rank& rank);
/// What comes after is not part of the report.
void end_measuring(const Rank& rank);

/// Leaves a view's elements for the judge, as that part of the whole of that name.
void publish(const Rank& rank, const std::string& name, ConstView view, const MatrixPart& place,
             Location at = kNoPlace);

/// The elements of a view, as f32: not counted, and without virtual time.
std::vector<float> values_of(ConstView view);
/// The rank's virtual clock.
Nanos now(const Rank& rank);
/// Where the learner's code made its last call on this rank; nowhere before its first one.
Location last_place(const Rank& rank);

}  // namespace shardlings::detail::harness
