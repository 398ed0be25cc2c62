#include "grading/formulas/tensor_parallel.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "base/parts.h"
#include "base/text.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/shared_diagnosis.h"
#include "grading/judge/needless_calls.h"

namespace shardlings::grading::formulas {
namespace {

/// All n elements but those of one rank's part.
std::int64_t all_but_part(Count n, int ranks, int rank) {
  return ranks == 1 ? 0 : judge::kBytesOfF32 * (n - part_of(n, ranks, rank % ranks).size());
}

std::vector<front::Event> products(const judge::CheckContext& check, int rank) {
  std::vector<front::Event> found = check.events(rank, front::EventKind::operation);
  std::erase_if(
      found, [&](const front::Event& event) { return !check.trace(rank).names.at(event.name).starts_with("matmul"); });
  return found;
}

std::vector<front::Event> calls_of(const judge::CheckContext& check, int rank, const std::string& operation) {
  std::vector<front::Event> found = check.events(rank, front::EventKind::operation);
  std::erase_if(found, [&](const front::Event& event) { return check.trace(rank).names.at(event.name) != operation; });
  return found;
}

wire::Place line_of(const front::Event& event) {
  return {std::string(base_name(event.at.file)), event.at.line};
}

wire::Place place_of_number(const std::vector<front::Event>& events, std::int64_t n) {
  const auto at = static_cast<std::size_t>(n);
  return at < events.size() ? line_of(events[at]) : wire::Place();
}

/// One rank has what is right, and the others have not.
bool on_one_rank(const reference::Layers& replicas, const std::vector<double>& right) {
  return std::count_if(replicas.begin(), replicas.end(), [&](const auto& each) { return alike(each, right); }) == 1;
}

consteval SharedId in_sum(std::string_view id) {
  return {"diagnose_sum", id};
}
consteval SharedId in_sum_and_bias(std::string_view id) {
  return {"diagnose_sum_and_bias", id};
}
static_assert(says_all_of("diagnose_sum_and_bias", "diagnose_sum"));

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
  if (!bias.empty() && alike(found, sum)) return in_sum_and_bias("bias_missing");
  if (!bias.empty() && alike(found, plus_bias(sum, t))) return in_sum_and_bias("bias_on_every_rank");
  const auto is_scaled = [&](double factor) {
    return alike(found, plus_bias(scaled({sum}, factor)[0], 1)) || alike(found, scaled({right}, factor)[0]);
  };
  if (is_scaled(1 / t)) return in_sum("averaged");
  return is_scaled(t) ? in_sum("reduced_twice") : SharedId();
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

std::int64_t num_collectives(const judge::CheckContext& check, int rank) {
  const std::vector<front::Event> events = check.events(rank, front::EventKind::collective);
  const auto moves_data = [&](const front::Event& event) {
    const std::string& name = check.trace(rank).names.at(event.name);
    return name != "split" && name != "barrier";
  };
  return std::count_if(events.begin(), events.end(), moves_data) +
         static_cast<std::int64_t>(check.events(rank, front::EventKind::send).size());
}

bool CallDifference::is_in_pieces() const {
  std::int64_t sent = 0, planned = 0;
  for (const front::Event& event : unexpected) sent += event.bytes.value();
  for (const Call& call : missing) planned += call.sent.value();
  // A part of each of them may be longer by one element, going and coming.
  const std::int64_t roundings = 2 * judge::kBytesOfF32 * (std::ssize(unexpected) + std::ssize(missing));
  return planned > 0 && std::abs(sent - planned) <= roundings;
}

bool CallDifference::lacks_only(front::Collective kind) const {
  return !missing.empty() &&
         std::all_of(missing.begin(), missing.end(), [&](const Call& call) { return call.kind == kind; });
}

CallDifference difference_of_calls(const judge::CheckContext& check, int rank, std::vector<Call> expected) {
  std::vector<front::Event> events = check.events(rank, front::EventKind::collective);
  const std::vector<front::Event> sends = check.events(rank, front::EventKind::send);
  events.insert(events.end(), sends.begin(), sends.end());
  const auto is_harness = [](const front::Event& event) { return base_name(event.at.file) == "harness.cpp"; };
  std::sort(events.begin(), events.end(), [&](const front::Event& a, const front::Event& b) {
    return std::pair(!is_harness(a), a.order) <
           std::pair(!is_harness(b), b.order);  // what is the harness's comes first
  });
  CallDifference difference;
  for (const front::Event& event : events) {
    const std::string& name = check.trace(rank).names.at(event.name);
    if (name == "split" || name == "barrier") continue;
    const auto is_this = [&](const Call& call) { return back::name_of(call.kind) == name && call.sent == event.bytes; };
    const auto found = std::find_if(expected.begin(), expected.end(), is_this);
    if (found != expected.end()) {
      expected.erase(found);
    } else {
      difference.unexpected.push_back(event);
    }
  }
  difference.missing = std::move(expected);
  return difference;
}

wire::Place place_of_unexpected(const judge::CheckContext& check, int rank, std::vector<Call> expected) {
  const CallDifference difference = difference_of_calls(check, rank, std::move(expected));
  return difference.unexpected.empty() ? check.place_of_last(rank, front::EventKind::collective)
                                       : line_of(difference.unexpected.front());
}

Flops product_flops(const judge::CheckContext& check, int rank) {
  Flops flops;
  for (const front::Event& event : check.events(rank, front::EventKind::operation)) {
    const auto product = judge::product_of(check.trace(rank).names.at(event.name));
    if (product && cases::is_of_matrices(*product)) flops += event.flops;
  }
  return flops;
}

std::int64_t num_products(const judge::CheckContext& check, int rank) {
  return static_cast<std::int64_t>(products(check, rank).size());
}

std::int64_t num_calls(const judge::CheckContext& check, int rank, const std::string& operation) {
  return static_cast<std::int64_t>(calls_of(check, rank, operation).size());
}

wire::Place place_of_product(const judge::CheckContext& check, int rank, std::int64_t n) {
  return place_of_number(products(check, rank), n);
}

wire::Place place_of_call(const judge::CheckContext& check, int rank, const std::string& operation, std::int64_t n) {
  return place_of_number(calls_of(check, rank, operation), n);
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

std::vector<double> norm_backward_at_output(const std::vector<double>& x, const std::vector<double>& weight,
                                            const std::vector<double>& bias, const std::vector<double>& grad) {
  constexpr double kEpsilon = 1e-5;
  const std::size_t width = weight.size();
  std::vector<double> result = grad;
  for (std::size_t begin = 0; begin < x.size(); begin += width) {
    const auto row = x.begin() + static_cast<std::ptrdiff_t>(begin), end = row + static_cast<std::ptrdiff_t>(width);
    const double mean = std::accumulate(row, end, 0.0) / static_cast<double>(width);
    const double square = std::inner_product(row, end, row, 0.0) / static_cast<double>(width) - mean * mean;
    const double scale = 1 / std::sqrt(square + kEpsilon);
    std::vector<double> taken;  // for the normed row, as backward makes it of what it takes for x
    double sum = 0, along = 0;
    for (std::size_t k = 0; k < width; ++k) {
      taken.push_back(((x[begin + k] - mean) * scale * weight[k] + bias[k] - mean) * scale);
      result[begin + k] *= weight[k];
      sum += result[begin + k];
      along += result[begin + k] * taken.back();
    }
    for (std::size_t k = 0; k < width; ++k) {
      result[begin + k] = scale * (result[begin + k] - (sum + along * taken[k]) / static_cast<double>(width));
    }
  }
  return result;
}

bool alike(const std::vector<double>& a, const std::vector<double>& b) {
  return alike(reference::Layers{a}, reference::Layers{b});
}

bool diagnose_as(judge::CheckContext& check, const std::vector<double>& found,
                 const std::vector<Candidate>& candidates) {
  for (const Candidate& candidate : candidates) {
    if (!alike(found, candidate.values)) continue;
    check.diagnose(candidate.diagnosis);
    return true;
  }
  return false;
}

bool diagnose_sum(judge::CheckContext& check, const std::string& name, const std::vector<double>& right,
                  const std::string& partial) {
  return diagnose_sum_and_bias(check, name, right, {}, partial);
}

bool diagnose_sum_and_bias(judge::CheckContext& check, const std::string& name, const std::vector<double>& right,
                           const std::vector<double>& bias, const std::string& partial) {
  if (check.ranks() > 1 && !check.result().report.ranks.empty() && on_one_rank(by_rank(check, name), right) &&
      check.counters(0).calls(front::Collective::reduce) > 0) {
    check.diagnose(in_sum("reduced_to_one"));
    return true;
  }
  const std::string mistake = mistake_in_sum(by_rank(check, name), right, bias, partial);
  if (!mistake.empty()) check.diagnose(mistake);
  return !mistake.empty();
}

}  // namespace shardlings::grading::formulas
