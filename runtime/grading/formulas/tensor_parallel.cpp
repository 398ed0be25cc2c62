#include "grading/formulas/tensor_parallel.h"

#include <algorithm>

#include "base/parts.h"
#include "grading/formulas/sharding.h"

namespace shardlings::grading::formulas {
namespace {

/// All n elements but those of one rank's part.
std::int64_t all_but_part(Count n, int ranks, int rank) {
  return ranks == 1 ? 0 : judge::kBytesOfF32 * (n - part_of(n, ranks, rank % ranks).size());
}

/// The id of the mistake; empty if it is none of those that are known.
std::string mistake_in_sum(const reference::Layers& replicas, const std::vector<double>& right,
                           const std::vector<double>& bias, const std::string& partial) {
  if (replicas.size() < 2 || replicas[0].size() != right.size()) return "";
  const auto t = static_cast<double>(replicas.size());
  const auto plus_bias = [&](const std::vector<double>& sum, double times) {
    return bias.empty() ? sum : plus_row(sum, times, bias);
  };
  const std::vector<double>& found = replicas.front();
  const std::vector<double> sum = plus_bias(right, -1);  // of the terms
  if (!alike(found, replicas.back())) {
    const std::vector<double> all = sum_over_ranks(replicas);  // the bias may be in it any number of times
    return alike(all, sum) || alike(all, right) || alike(all, plus_bias(sum, t)) ? partial : "";
  }
  if (!bias.empty() && alike(found, sum)) return "bias_missing";
  if (!bias.empty() && alike(found, plus_bias(sum, t))) return "bias_on_every_rank";
  const auto is_scaled = [&](double factor) {
    return alike(found, plus_bias(scaled({sum}, factor)[0], 1)) || alike(found, scaled({right}, factor)[0]);
  };
  if (is_scaled(1 / t)) return "averaged";
  return is_scaled(t) ? "reduced_twice" : "";
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

std::int64_t largest_sent(const judge::CheckContext& check, int rank, front::Collective kind) {
  std::int64_t largest = 0;
  for (const front::Event& event : collectives(check, rank, kind)) largest = std::max(largest, event.bytes.value());
  return largest;
}

Flops product_flops(const judge::CheckContext& check, int rank) {
  Flops flops;
  for (const front::Event& event : check.events(rank, front::EventKind::operation)) {
    if (check.trace(rank).names.at(event.name).starts_with("matmul")) flops += event.flops;
  }
  return flops;
}

std::vector<double> slice(const std::vector<double>& numbers, Range range) {
  return {numbers.begin() + range.begin, numbers.begin() + range.end};
}

reference::Layers by_rank(const judge::CheckContext& check, const std::string& name) {
  const wire::Output* output = check.output(name);
  if (output == nullptr || !output->complete) return {};
  if (output->replicas.empty() && !output->conflict.empty()) return {};
  reference::Layers values;
  for (const auto& replica : output->replicas) values.emplace_back(replica.begin(), replica.end());
  if (!values.empty()) return values;
  return reference::Layers(static_cast<std::size_t>(check.ranks()), {output->values.begin(), output->values.end()});
}

std::vector<double> sum_over_ranks(const reference::Layers& replicas) {
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
  return alike(reference::Layers{a}, reference::Layers{b});
}

bool diagnose_sum(judge::CheckContext& check, const std::string& name, const std::vector<double>& right,
                  const std::vector<double>& bias, const std::string& partial) {
  const std::string mistake = mistake_in_sum(by_rank(check, name), right, bias, partial);
  if (!mistake.empty()) check.diagnose(mistake);
  return !mistake.empty();
}

}  // namespace shardlings::grading::formulas
