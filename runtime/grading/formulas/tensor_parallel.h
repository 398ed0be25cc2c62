/// \file
/// What graders of divided layers have in common: bytes of collectives on activations, work, and what each rank holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grading/formulas/training.h"

namespace shardlings::grading::formulas {

/// \name Ring traffic
/// What rank `rank` of `ranks` sends for n f32 elements; the formulas are those of front/group/ring_traffic.h.
/// @{
std::int64_t all_gather_bytes(Count n, int ranks, int rank);
std::int64_t reduce_scatter_bytes(Count n, int ranks, int rank);
/// Both of the above.
std::int64_t all_reduce_bytes(Count n, int ranks, int rank);
/// The most that a rank sends in one collective of this kind.
std::int64_t largest_sent(const judge::CheckContext& check, int rank, front::Collective kind);
/// @}

/// \name Work
/// @{
/// Floating-point operations of a rank in matrix products.
Flops product_flops(const judge::CheckContext& check, int rank);
/// @}

/// \name Numbers
/// @{
/// Elements [range.begin, range.end).
std::vector<double> slice(const std::vector<double>& numbers, Range range);
/// What every rank has published under a name: the same for all of them where replicas are equal. Empty if nothing
/// was, or rectangles.
reference::Layers by_rank(const judge::CheckContext& check, const std::string& name);
/// The sum over the ranks of by_rank().
std::vector<double> sum_over_ranks(const reference::Layers& replicas);
/// Row by row: matrix (rows x row.size()) + factor row.
std::vector<double> plus_row(const std::vector<double>& matrix, double factor, const std::vector<double>& row);
/// alike() for a single tensor.
bool alike(const std::vector<double>& a, const std::vector<double>& b);
/// @}

/// Names what has gone wrong where every rank makes a term of `right` minus `bias`, the terms are summed over the
/// ranks, and `bias` (the same in every row; may be empty) is added once. False if it is none of these:
///
/// | diagnosis          | what the ranks hold                    |
/// |--------------------|----------------------------------------|
/// | as `partial` says  | each one its own term                  |
/// | bias_on_every_rank | the bias t times: added before the sum |
/// | bias_missing       | no bias                                |
/// | averaged           | the mean of the terms                  |
/// | reduced_twice      | the sum, summed over the ranks again   |
bool diagnose_sum(judge::CheckContext& check, const std::string& name, const std::vector<double>& right,
                  const std::vector<double>& bias, const std::string& partial);

}  // namespace shardlings::grading::formulas
