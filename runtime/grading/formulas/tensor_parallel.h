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
/// How many collectives and messages it has called, not counting barriers and the making of groups.
std::int64_t num_collectives(const judge::CheckContext& check, int rank);
/// A collective, by what a rank sends in it.
struct Call {
  front::Collective kind;
  Bytes sent;
};
/// How the collectives and messages of a rank differ from those that are expected of it. Barriers and the making of
/// groups do not count, and what the harness has called is expected.
struct CallDifference {
  std::vector<front::Event> unexpected;  ///< in program order: none of the expected ones, or more than those
  std::vector<Call> missing;
  /// What is missing was made of other calls: they send as much together, but for the roundings of their parts. Calls
  /// that come on top of all that is expected are no pieces of it.
  bool is_in_pieces() const;
  /// Only calls of this kind are missing.
  bool lacks_only(front::Collective kind) const;
};
CallDifference difference_of_calls(const judge::CheckContext& check, int rank, std::vector<Call> expected);
/// The line of the first collective of a rank that is none of `expected`, or more than is expected of its like; of the
/// last one if there is no such call, because something is missing.
wire::Place place_of_unexpected(const judge::CheckContext& check, int rank, std::vector<Call> expected);
/// @}

/// \name Work
/// @{
/// Floating-point operations of a rank in matrix products, those inside attention included.
Flops product_flops(const judge::CheckContext& check, int rank);
/// How many matrix products it has computed, not counting those inside attention.
std::int64_t num_products(const judge::CheckContext& check, int rank);
/// How often it has called an operation: "attention".
std::int64_t num_calls(const judge::CheckContext& check, int rank, const std::string& operation);
/// The line of its matrix product, or call of an operation, number `n` from 0 on; nowhere if there are not so many.
wire::Place place_of_product(const judge::CheckContext& check, int rank, std::int64_t n);
wire::Place place_of_call(const judge::CheckContext& check, int rank, const std::string& operation, std::int64_t n);
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
/// What layer_norm_backward makes of `grad`, row by row, if it gets the norm's output in the place of its input x, with
/// the statistics of x.
std::vector<double> norm_backward_at_output(const std::vector<double>& x, const std::vector<double>& weight,
                                            const std::vector<double>& bias, const std::vector<double>& grad);
/// alike() for a single tensor.
bool alike(const std::vector<double>& a, const std::vector<double>& b);
/// @}

/// Something that a mistake would have left behind.
struct Candidate {
  const char* diagnosis;
  std::vector<double> values;
};
/// Names the first of them that `found` is; false if it is none.
bool diagnose_as(judge::CheckContext& check, const std::vector<double>& found,
                 const std::vector<Candidate>& candidates);

/// Names what has gone wrong where every rank makes a term of `right`, and the terms are summed over the ranks. With a
/// bias (the same in every row) that is of `right` minus `bias`, which is added once behind the sum. False if it is
/// none of these, the two about a bias only where there is one:
///
/// | diagnosis          | what the ranks hold                    |
/// |--------------------|----------------------------------------|
/// | as `partial` says  | each one its own term                  |
/// | bias_on_every_rank | the bias t times: added before the sum |
/// | bias_missing       | no bias                                |
/// | averaged           | the mean of the terms                  |
/// | reduced_twice      | the sum, summed over the ranks again   |
/// | reduced_to_one     | one of them the sum: it called reduce  |
bool diagnose_sum(judge::CheckContext& check, const std::string& name, const std::vector<double>& right,
                  const std::string& partial);
bool diagnose_sum_and_bias(judge::CheckContext& check, const std::string& name, const std::vector<double>& right,
                           const std::vector<double>& bias, const std::string& partial);

}  // namespace shardlings::grading::formulas
