#include "grading/tensor_parallel.h"

#include <algorithm>

#include "base/parts.h"
#include "grading/sharding.h"

namespace shardlings::grading {
namespace {

constexpr std::int64_t kElement = 4;

/// All n elements but those of one rank's part.
std::int64_t all_but_part(Count n, int ranks, int rank) {
  return ranks == 1 ? 0 : kElement * (n - part_of(n, ranks, rank % ranks).size());
}

}  // namespace

std::int64_t all_gather_bytes(Count n, int ranks, int rank) {
  return all_but_part(n, ranks, rank + 1);
}

std::int64_t reduce_scatter_bytes(Count n, int ranks, int rank) {
  return all_but_part(n, ranks, rank);
}

std::int64_t all_reduce_bytes(Count n, int ranks, int rank) {
  return reduce_scatter_bytes(n, ranks, rank) + all_gather_bytes(n, ranks, rank);
}

std::int64_t largest_sent(const CheckContext& check, int rank, front::Collective kind) {
  std::int64_t largest = 0;
  for (const front::Event& event : collectives(check, rank, kind)) largest = std::max(largest, event.bytes.value());
  return largest;
}

std::int64_t product_flops(const CheckContext& check, int rank) {
  std::int64_t flops = 0;
  for (const front::Event& event : check.events(rank, front::EventKind::operation)) {
    if (check.trace(rank).names.at(event.name).starts_with("matmul")) flops += event.flops.value();
  }
  return flops;
}

std::vector<double> slice(const std::vector<double>& numbers, Range range) {
  return {numbers.begin() + range.begin, numbers.begin() + range.end};
}

Layers by_rank(const CheckContext& check, const std::string& name) {
  const Output* output = check.output(name);
  if (output == nullptr || !output->complete) return {};
  if (output->replicas.empty() && !output->conflict.empty()) return {};
  Layers values;
  for (const auto& replica : output->replicas) values.emplace_back(replica.begin(), replica.end());
  if (!values.empty()) return values;
  return Layers(static_cast<std::size_t>(check.ranks()), {output->values.begin(), output->values.end()});
}

std::vector<double> sum_over_ranks(const Layers& replicas) {
  std::vector<double> sum;
  for (const std::vector<double>& replica : replicas) {
    sum.resize(std::max(sum.size(), replica.size()));
    for (std::size_t i = 0; i < replica.size(); ++i) sum[i] += replica[i];
  }
  return sum;
}

std::vector<double> plus_row(const std::vector<double>& matrix, double factor, const std::vector<double>& row) {
  std::vector<double> sum = matrix;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * row[i % row.size()];
  return sum;
}

bool alike(const std::vector<double>& a, const std::vector<double>& b) {
  return alike(Layers{a}, Layers{b});
}

}  // namespace shardlings::grading
