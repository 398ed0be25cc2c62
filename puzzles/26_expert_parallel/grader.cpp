// Judges a layer of experts that are divided over ranks: who goes where and who is dropped, numbers of one device, the
// bytes of rows and counts, products on the rows that arrive, and what is alive at once.

#include "grading/judge/grader.h"

#include <numeric>

#include "case/data.h"
#include "experts.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/tensor_parallel.h"
#include "grading/judge/least_of_products.h"
#include "grading/judge/most_of_products.h"
#include "grading/judge/predictions.h"
#include "grading/reference/noise.h"
#include "routing.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::EventKind;

namespace {

// ---- Sizes of a case ----

/// Rows of one rank, as the rule routes them.
struct RowCounts {
  Count out = 0;          ///< of this rank, to all experts
  Count to_others = 0;    ///< those to other ranks' experts
  Count in = 0;           ///< that arrive at its experts
  Count from_others = 0;  ///< those from other ranks
};

/// How many rows rank `from` has for the experts of rank `to`, of the same ep group.
Count rows_between(const ExpertSizes& sizes, int from, int to) {
  const std::vector<Count> counts = counts_of(sizes.experts, rows_of(sizes, from, right_routes(sizes, from)));
  const auto first = counts.begin() + to % sizes.e * sizes.experts_of_rank();
  return std::accumulate(first, first + sizes.experts_of_rank(), Count{0});
}

RowCounts row_counts(const ExpertSizes& sizes, int rank) {
  RowCounts rows;
  const int first = rank / sizes.e * sizes.e;
  for (int other = first; other < first + sizes.e; ++other) {
    const Count sent = rows_between(sizes, rank, other), received = rows_between(sizes, other, rank);
    rows.out += sent;
    rows.in += received;
    if (other == rank) continue;
    rows.to_others += sent;
    rows.from_others += received;
  }
  return rows;
}

/// Rows of rank 0 that would be dropped with this capacity.
Count dropped_beyond(const ExpertSizes& sizes, Count capacity) {
  Count dropped = 0;
  for (const Count wanted : counts_of(sizes.experts, rows_of(sizes, 0, right_routes(sizes, 0, {.drops = false})))) {
    dropped += std::max(Count{0}, wanted - capacity);
  }
  return dropped;
}

Bytes bytes_of_rows(const ExpertSizes& sizes, Count rows) {
  return Bytes(rows * sizes.hidden * kBytesOfF32);
}

/// What a rank sends so that each other one knows how many rows come.
Bytes count_bytes(const ExpertSizes& sizes) {
  return Bytes((sizes.experts - sizes.experts_of_rank()) * kBytesOfF32);
}

Bytes gradient_bytes(const ExpertSizes& sizes, int rank) {
  return Bytes(sizes.experts_of_rank() *
               all_reduce_bytes(sizes.hidden * sizes.hidden, sizes.replicas(), rank / sizes.e));
}

Formula<Bytes> sent_budget(const ExpertSizes& sizes, int rank) {
  const RowCounts rows = row_counts(sizes, rank);
  Formula<Bytes> budget = named("counts", count_bytes(sizes)) +
                          2 * folded(named("rows to others", bytes_of_rows(sizes, rows.to_others)) +
                                     named("rows from others", bytes_of_rows(sizes, rows.from_others)));
  if (sizes.replicas() > 1) budget += named("gradients", gradient_bytes(sizes, rank));
  return budget;
}

/// The floating-point operations of one product of a rank's rows.
Formula<Flops> product(const ExpertSizes& sizes, int rank) {
  const Count h = sizes.hidden;
  return named("2 h h x rows that arrive", Flops(2 * h * h * row_counts(sizes, rank).in));
}

Formula<Bytes> given(const ExpertSizes& sizes, int rank) {
  const Count h = sizes.hidden;
  return 2 * named("experts", Bytes(sizes.experts_of_rank() * h * h * kBytesOfF32)) +
         4 * named("tokens", bytes_of_rows(sizes, sizes.tokens(rank))) +
         2 * named("token, factor", Bytes(row_counts(sizes, rank).out * kBytesOfF32));
}

Formula<Bytes> peak_budget(const ExpertSizes& sizes, int rank) {
  const RowCounts rows = row_counts(sizes, rank);
  const Formula<Bytes> rows_at_work = 4 * named("rows that arrive", bytes_of_rows(sizes, rows.in)) +
                                      named("rows that go out", bytes_of_rows(sizes, rows.out));
  const Formula<Bytes> counts = 2 * named("counts", Bytes(sizes.experts * kBytesOfF32));
  return given(sizes, rank) + (counts.value() > rows_at_work.value() ? counts : rows_at_work);
}

// ---- Routes ----

std::vector<float> all_routes(const ExpertSizes& sizes, const RoutingRule& rule = {}) {
  std::vector<float> all;
  for (int rank = 0; rank < sizes.ranks; ++rank) {
    const std::vector<int> routes = right_routes(sizes, rank, rule);
    all.insert(all.end(), routes.begin(), routes.end());
  }
  return all;
}

/// Each choice has the score that it should have, and some are another expert's: of equal ones any comes first.
bool ties_in_no_order(const ExpertSizes& sizes, const std::vector<float>& found) {
  bool differs = false;
  std::size_t at = 0;
  for (int rank = 0; rank < sizes.ranks; ++rank) {
    const std::vector<float> scores = scores_of(sizes, rank);
    for (Count t = 0; t < sizes.tokens(rank); ++t) {
      const std::vector<int> order = ranked(scores, sizes.experts, t, {});
      const auto score = [&](int expert) { return scores[static_cast<std::size_t>(t * sizes.experts + expert)]; };
      for (int j = 0; j < sizes.k; ++j, ++at) {
        const int expert = static_cast<int>(found.at(at)), right = order[static_cast<std::size_t>(j)];
        if (expert == kNobody) continue;
        if (expert < 0 || expert >= sizes.experts || score(expert) != score(right)) return false;
        differs = differs || expert != right;
      }
    }
  }
  return differs;
}

void diagnose_routes(CheckContext& check, const ExpertSizes& sizes) {
  const std::pair<const char*, RoutingRule> mistakes[] = {
      {"never_full", {.drops = false}},
      {"token_by_token", {.choice_by_choice = false}},
      {"lowest_scores", {.best = false}},
      {"ties_to_higher", {.ties_to_lower = false}},
      {"sent_elsewhere", {.goes_on_to_next = true}},
      {"capacity_for_each_choice", {.one_capacity = false}},
      {"last_tokens_first", {.last_first = true}},
      {"one_row_too_many", {.more_room = 1}},
      {"one_row_too_few", {.more_room = -1}},
  };
  const Output* found = check.output("routes");
  const std::vector<float> right = all_routes(sizes);
  for (const auto& [id, rule] : mistakes) {
    const std::vector<float> mistaken = all_routes(sizes, rule);
    if (found != nullptr && mistaken != right && found->values == mistaken) return check.diagnose(id);
  }
  const bool is_whole = found != nullptr && found->values.size() == right.size();
  if (is_whole && ties_in_no_order(sizes, found->values)) check.diagnose("ties_in_no_order");
}

// ---- Numbers ----

/// Of the right routes, with all inputs shaken.
template <class Real>
ExpertTraining<Real> training_of(const Case& kase, const ExpertSizes& sizes, std::uint64_t shake) {
  std::vector<std::vector<int>> routes;
  for (int rank = 0; rank < sizes.ranks; ++rank) routes.push_back(right_routes(sizes, rank));
  return ExpertTraining<Real>(sizes, routes, [&](int which, Count n) {
    const std::vector<float> drawn = normals_of(kase, which, n);
    std::vector<Real> numbers(drawn.begin(), drawn.end());
    shake_all(numbers, shake, static_cast<std::uint64_t>(which));
    return numbers;
  });
}

/// The right numbers, and how far f32 arithmetic may be from them.
struct ExpertReference {
  ExpertReference(const Case& kase, const ExpertSizes& sizes) : exact(training_of<double>(kase, sizes, 0).run({})) {
    std::vector<ExpertNumbers<float>> runs;
    for (std::uint64_t shake = 0; shake < kRuns; ++shake)
      runs.push_back(training_of<float>(kase, sizes, shake).run({}));
    const auto of_runs = [&](auto part) {
      std::vector<const std::vector<float>*> parts;
      for (const auto& run : runs) parts.push_back(&(run.*part));
      return parts;
    };
    using Run = ExpertNumbers<float>;
    tolerance = {tolerances_of(exact.y, of_runs(&Run::y)), tolerances_of(exact.grad_x, of_runs(&Run::grad_x)),
                 tolerances_of(exact.grads, of_runs(&Run::grads))};
  }

  ExpertNumbers<double> exact, tolerance;
};

/// Names the mistake that gives this one of the three, and does not leave it right.
bool diagnose_as_rule(CheckContext& check, const ExpertSizes& sizes, const char* name,
                      std::vector<double> ExpertNumbers<double>::*part) {
  const Output* found = check.output(name);
  if (found == nullptr || !found->complete) return false;
  const ExpertTraining<double> training = training_of<double>(check.kase(), sizes, 0);
  const std::vector<double> right = training.run({}).*part;
  const std::vector<double> numbers(found->values.begin(), found->values.end());
  const std::pair<const char*, ExpertRule> mistakes[] = {
      {"factor_missing", {.factor_in_forward = false}},   {"factor_missing_in_backward", {.factor_in_backward = false}},
      {"factor_before", {.factor_before = true}},         {"rows_by_expert", {.rows_by_rank = false}},
      {"expert_of_the_rank", {.by_remainder = false}},    {"w_as_it_lies", {.w_as_it_lies = true}},
      {"relu_missing", {.relu_in_forward = false}},       {"relu_missing_in_backward", {.gate = ExpertGate::none}},
      {"relu_of_the_input", {.gate = ExpertGate::input}}, {"grad_x_by_wt", {.grad_x_by_wt = true}},
      {"grads_exchanged", {.grads_exchanged = true}},     {"replicas_not_summed", {.sum = ExpertSum::own}},
      {"summed_over_all", {.sum = ExpertSum::world}},     {"summed_over_all", {.sum = ExpertSum::ep}},
  };
  for (const auto& [id, rule] : mistakes) {
    const std::vector<double> mistaken = training.run(rule).*part;
    if (alike(mistaken, right) || !alike(numbers, mistaken)) continue;
    check.diagnose(id);
    return true;
  }
  if (sizes.replicas() == 1 || part != &ExpertNumbers<double>::grads) return false;
  if (!near(constant_ratio({numbers}, {right}), 1.0 / sizes.replicas())) return false;
  check.diagnose("averaged");
  return true;
}

void diagnose_bytes(CheckContext& check, const ExpertSizes& sizes, int rank) {
  const Bytes sent = check.counters(rank).bytes_sent(), counts = count_bytes(sizes);
  const Bytes planned = sent_budget(sizes, rank).value();
  if (sent == planned + (sizes.e - 1) * counts) return check.diagnose("counts_to_all");
  const Bytes again = bytes_of_rows(sizes, row_counts(sizes, rank).to_others);
  if (sent == planned + again) check.diagnose("rows_sent_again");
}

void diagnose_memory(CheckContext& check, const ExpertSizes& sizes, int rank) {
  const RowCounts rows = row_counts(sizes, rank);
  const Bytes more = check.peak(rank) - peak_budget(sizes, rank).value();
  const Bytes all_others((sizes.experts - sizes.experts_of_rank()) * sizes.hidden * sizes.hidden * kBytesOfF32);
  if (sizes.e > 1 && more == all_others) return check.diagnose("room_for_all_experts");
  // Also where what goes out is not there at the peak, and more of what arrives is.
  for (Count in = 0; in <= 3; ++in) {
    for (Count out = -1; out <= 2; ++out) {
      if (more == bytes_of_rows(sizes, in * rows.in + out * rows.out)) return check.diagnose("rows_kept");
    }
  }
  const Bytes counts = count_bytes(sizes);
  if (check.counters(rank).bytes_sent() == sent_budget(sizes, rank).value() + (sizes.e - 1) * counts) {
    check.diagnose("counts_to_all");
  }
}

}  // namespace

SHARDLINGS_CHECK(routing) {
  const ExpertSizes sizes(check.kase());
  if (!check.identical("routes", all_routes(sizes))) diagnose_routes(check, sizes);
}

SHARDLINGS_CHECK(output) {
  const ExpertSizes sizes(check.kase());
  const ExpertReference right(check.kase(), sizes);
  const auto is_right = [&](const char* name, auto part) {
    if (check.equal(name, right.exact.*part, right.tolerance.*part)) return true;
    diagnose_as_rule(check, sizes, name, part);
    return false;
  };
  using Numbers = ExpertNumbers<double>;
  static_cast<void>(is_right("y", &Numbers::y) && is_right("grad_x", &Numbers::grad_x) &&
                    is_right("grads", &Numbers::grads));
}

SHARDLINGS_CHECK(communication) {
  const ExpertSizes sizes(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const std::string name = check.name_of(rank);
    if (!check.at_most("sent by " + name, check.counters(rank).bytes_sent(), sent_budget(sizes, rank),
                       check.place_of_last(rank, EventKind::send))) {
      return diagnose_bytes(check, sizes, rank);
    }
    if (!check.at_most("numbers that " + name + " has read", check.counters(rank).host_reads,
                       named("E", Count(sizes.experts)), "numbers")) {
      return check.diagnose("read_too_often");
    }
  }
}

SHARDLINGS_CHECK(work) {
  const ExpertSizes sizes(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Flops found = product_flops(check, rank);
    const Formula<Flops> once = product(sizes, rank);
    if (check.at_most("products of " + check.name_of(rank), found, 3 * once)) continue;
    if (found == (4 * once).value()) return check.diagnose("computed_again");
    if (sizes.experts_of_rank() > 1 && found == (Count(3 * sizes.experts_of_rank()) * once).value()) {
      return check.diagnose("every_expert_on_every_row");
    }
    return;
  }
}

SHARDLINGS_CHECK(memory) {
  if (!nothing_on_host(check)) return;
  const ExpertSizes sizes(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!check.peak_at_most(rank, peak_budget(sizes, rank))) return diagnose_memory(check, sizes, rank);
  }
}

/// One in forward, two in backward, on each row where it arrives.
SHARDLINGS_LEAST_OF_PRODUCTS(check) {
  const ExpertSizes sizes(check.kase());
  Count rows = 0;
  for (int rank = 0; rank < check.ranks(); ++rank) rows += row_counts(sizes, rank).in;
  return named("3 products", 3) * named("2 h h x all rows", Flops(2 * sizes.hidden * sizes.hidden * rows));
}

/// Rows that come back, and those that leave in backward, are multiplied with their factors; ReLU and its backward see
/// each row that arrives. Both twice, for whoever makes some again.
SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {
  const ExpertSizes sizes(check.kase());
  const RowCounts rows = row_counts(sizes, rank);
  return {{Product::scale_rows, Flops(2 * 2 * rows.out * sizes.hidden)},
          {Product::relu, Flops(2 * 2 * rows.in * sizes.hidden)}};
}

SHARDLINGS_PREDICTIONS("4 ranks") {
  const ExpertSizes sizes(predict.kase());
  const RowCounts rows = row_counts(sizes, 0);
  const Count choices = sizes.k * sizes.tokens(0);
  const Formula<Count> wanted = named("k T", choices);
  predict
      .count("capacity", "How many rows of one rank does an expert take at most?",
             named("cf k T / E", sizes.capacity(0)), "rows")
      .unlike(choices / sizes.experts, "That is without cf: nothing is left for favourites.")
      .unlike(sizes.e * sizes.capacity(0), "T is the number of one rank's tokens, not of all.");
  predict.count("dropped", "How many rows of rank 0 are dropped?", wanted - named("n", rows.out), "rows")
      .unlike(rows.out, "So many are kept.")
      .unlike(dropped_beyond(sizes, choices / sizes.experts), "The capacity has the factor cf in it.");
  const Formula<Bytes> there_and_back = folded(named("rows to others", bytes_of_rows(sizes, rows.to_others)) +
                                               named("rows from others", bytes_of_rows(sizes, rows.from_others)));
  const Formula<Bytes> counts = named("counts", count_bytes(sizes));
  predict.sent("sent", 0, "How many bytes does rank 0 send, forward and backward together?", sent_budget(sizes, 0))
      .unlike(counts + there_and_back, "In backward as many rows travel as in forward.")
      .unlike(counts + 4 * named("rows to others", bytes_of_rows(sizes, rows.to_others)),
              "What rank 0 sends back are the results of other ranks' rows: those that have come from others.")
      .unlike(counts + 2 * bytes_of_rows(sizes, rows.out + rows.in), "What goes to its own experts is not sent.");
  predict.peak("peak", 0, "How many bytes may rank 0 hold at most?", peak_budget(sizes, 0))
      .unlike(given(sizes, 0) + 5 * named("rows that go out", bytes_of_rows(sizes, rows.out)),
              "More rows arrive on rank 0 than go out from it.")
      .unlike(given(sizes, 0) + 4 * named("rows that arrive", bytes_of_rows(sizes, rows.in)),
              "What goes out needs room, too.");
}
