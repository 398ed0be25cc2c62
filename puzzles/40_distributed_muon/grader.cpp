// Judges Muon on N ranks: the weights of one rank with all gradients, who orthogonalizes what, bytes, momentum, and
// that the ranks work at the same time.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "at_work.h"
#include "base/parts.h"
#include "base/poison.h"
#include "case/data.h"
#include "costs.h"
#include "dealt.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/deal.h"
#include "grading/formulas/muon_cost.h"
#include "grading/formulas/muon_training.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/standstill.h"
#include "grading/formulas/tensor_parallel.h"
#include "grading/reference/muon.h"
#include "grading/reference/noise.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::Event;
using front::EventKind;

namespace {

// ---- Numbers ----

/// The tolerance of each element, matrix by matrix.
Layers tolerances_by_matrix(const Case& kase, const Layers& exact) {
  std::vector<std::vector<Array<float>>> runs;
  for (std::uint64_t shake = 0; shake < kRuns; ++shake) runs.push_back(MuonTraining<float>(kase, shake).run({}, {}));
  return tolerances_of(exact, runs);
}

/// As `deal` has said.
Deal owners(const CheckContext& check) {
  const Output* output = check.output("owners");
  if (output == nullptr) return {};
  return {output->values.begin(), output->values.end()};
}

/// Every rank has the right matrices of its own, and the first weights of all others.
bool keeps_own_only(const CheckContext& check, const Layers& right, const Layers& first) {
  const Deal owner = owners(check);
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Layers found = layers_of_rank(check.result(), "matrix", rank);
    for (std::size_t i = 0; i < right.size(); ++i) {
      if (i >= found.size() || i >= owner.size()) return false;
      if (!alike(found[i], owner[i] == rank ? right[i] : first[i])) return false;
    }
  }
  return check.ranks() > 1;
}

/// There are numbers beyond all bounds, and nothing that was never written.
bool has_grown(const Layers& found) {
  bool grown = false;
  for (const std::vector<double>& layer : found) {
    for (const double each : layer) {
      if (std::isnan(each) && origin_of_nan(each) != NanOrigin::computed) return false;
      grown = grown || !std::isfinite(each);
    }
  }
  return grown;
}

void diagnose_output(CheckContext& check, const Layers& right) {
  const Case& kase = check.kase();
  const MuonTraining<double> training(kase, 0);
  const Layers first = training.initial();
  if (keeps_own_only(check, right, first)) return check.diagnose("not_broadcast");
  const Layers found = layers_of_rank(check.result(), "matrix", 0);
  std::int64_t norms = 0;
  for (int rank = 0; rank < check.ranks(); ++rank) norms += num_calls(check, rank, "add_squares");
  if (found == first) return check.diagnose("nothing_moved");
  if (!all_finite(found) && norms == 0) return check.diagnose("not_normalized");
  if (has_grown(found)) return check.diagnose("rounds_diverge");
  const auto moved = constant_ratio(combine(found, -1, first), combine(right, -1, first));
  if (near(moved, -1)) return check.diagnose("moved_uphill");
  if (check.ranks() > 1 && near(moved, 1.0 / check.ranks())) return check.diagnose("averaged");
  const std::pair<const char*, MuonRule> mistakes[] = {
      {"gradient_not_reduced", {.gradient = MuonGradient::of_owner}},
      {"reduced_to_another", {.gradient = MuonGradient::of_all_on_rank_0}},
      {"shards_orthogonalized", {.divided = MuonDivided::by_rows}},
      {"shards_orthogonalized", {.divided = MuonDivided::by_columns}},
      {"momentum_forgotten", {.momentum = MuonMomentum::forgotten}},
      {"momentum_of_updates", {.momentum = MuonMomentum::of_updates}},
      {"momentum_overwritten", {.momentum = MuonMomentum::orthogonalized}},
      {"momentum_overwritten", {.momentum = MuonMomentum::normalized}},
      {"nesterov_momentum", {.momentum = MuonMomentum::nesterov}},
      {"scaled_by_shape", {.scaled_by_shape = true}},
      {"wrong_number_of_rounds", {.rounds = {.number = kMuonRounds - 1}}},
      {"wrong_number_of_rounds", {.rounds = {.number = kMuonRounds + 1}}},
      {"not_orthogonalized", {.rounds = {.number = 0}}},
      {"not_orthogonalized", {.rounds = {.number = 0, .begins_with_normalized = false}}},
      {"beta_forgotten", {.momentum = MuonMomentum::summed}},
      {"normalized_in_each_round", {.rounds = {.normalized_in_each = true}}},
  };
  for (const auto& [id, rule] : mistakes) {
    const Layers mistaken = training.run(rule, owners(check));
    // What one step leaves equal, such as a momentum that is forgotten, is no sign of anything.
    if (!alike(mistaken, right) && alike(combine(found, -1, first), combine(mistaken, -1, first))) {
      return check.diagnose(id);
    }
  }
}

// ---- Deals ----

void diagnose_deal(CheckContext& check) {
  const Deal owner = owners(check);
  const int ranks = check.ranks();
  if (std::all_of(owner.begin(), owner.end(), [&](int each) { return each == owner.front(); })) {
    return check.diagnose("all_on_one");
  }
  Deal in_blocks(owner.size());
  for (int rank = 0; rank < ranks; ++rank) {
    const Range block = part_of(std::ssize(owner), ranks, rank);
    std::fill(in_blocks.begin() + block.begin, in_blocks.begin() + block.end, rank);
  }
  if (owner == in_blocks) return check.diagnose("dealt_by_number");
  Dealt one{ranks, {}, costs(check.kase()), owner};
  for (const MuonMatrix& matrix : muon_matrices(check.kase())) one.matrices.push_back({matrix.rows, matrix.cols});
  if (const char* habit = habit_behind({one})) check.diagnose(habit);
}

/// Of the drawn deals the one in which the busiest rank has most, compared with the best one.
void check_drawn_deals(CheckContext& check) {
  const Output* output = check.output("owners_of_drawn");
  if (output == nullptr) return;
  const std::vector<Dealt> all = dealt(drawn_deals(check.kase().seed), output->values, [](const MatrixSize& size) {
    return MuonMatrix{size.rows, size.cols}.flops();
  });
  const Dealt& worst = worst_of(all);
  const Formula<Flops> budget = called(fmt::format("4/3 x the best deal of {} other matrices", worst.costs.size()),
                                       Formula<Flops>(Flops(worst.best() * 4 / 3)));
  if (check.at_most(fmt::format("products of the busiest of {} ranks", worst.ranks), Flops(worst.most()), budget)) {
    return;
  }
  check.detail(fmt::format("what the matrices cost: {}", fmt::join(worst.costs, ", ")));
  check.detail(fmt::format("the ranks that deal() gives them to: {}", fmt::join(worst.owner, ", ")));
  if (const char* habit = habit_behind(all)) check.diagnose(habit);
}

/// Products of the matrices that deal() gives a rank, in all steps.
Formula<Flops> dealt_to(const CheckContext& check, int rank) {
  const Costs cost = costs(check.kase());
  const Deal owner = owners(check);
  std::int64_t dealt = 0;
  for (std::size_t i = 0; i < owner.size(); ++i) dealt += owner[i] == rank ? cost[i] : 0;
  return in_all_steps(check.kase(), named("of the matrices that deal() gives it", Flops(dealt)));
}

/// Each rank has worked on the matrices that deal() gives it, since the budgets of time and memory believe that.
void check_as_dealt(CheckContext& check) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (check.at_most("products of " + check.name_of(rank), product_flops(check, rank), dealt_to(check, rank),
                      check.place_of_first(rank, EventKind::operation))) {
      continue;
    }
    return check.diagnose("other_deal");
  }
}

/// `all` operations of all ranks are more than needed.
void diagnose_products(CheckContext& check, Flops all) {
  const Case& kase = check.kase();
  const auto is = [&](auto f) { return all == Flops(kase.steps * sum_of(of_each(kase, f))); };
  if (check.ranks() > 1 && all == Flops(check.ranks() * kase.steps * sum_of(costs(kase)))) {
    return check.diagnose("everybody_computes");
  }
  if (is([](const MuonMatrix& matrix) { return matrix.flops_with(matrix.large()); }) ||
      is([](const MuonMatrix& matrix) { return matrix.flops_with(matrix.rows); }) ||
      is([](const MuonMatrix& matrix) { return matrix.flops_with(matrix.cols); })) {
    return check.diagnose("larger_side");
  }
  const auto three_products = [](const MuonMatrix& matrix) { return kMuonRounds * 6 * matrix.size() * matrix.small(); };
  if (is(three_products)) return check.diagnose("third_product_with_x");
  std::int64_t products = 0;
  for (int rank = 0; rank < check.ranks(); ++rank) products += num_products(check, rank);
  constexpr int kProducts = 4;  // in a round, one too many
  if (products == kProducts * kMuonRounds * kase.steps * std::ssize(muon_matrices(kase))) {
    check.diagnose("fourth_product");
  }
}

// ---- Time ----

/// Of a reduction or a broadcast of a matrix, round a ring.
Nanos travel(const Case& kase, const MuonMatrix& matrix) {
  if (kase.ranks == 1) return Nanos(0);
  const front::LinkSpeed& link = kase.cluster.links.front();
  return (kase.ranks - 1) * link.latency +
         Nanos(std::llround(static_cast<double>(matrix.bytes()) / link.bytes_per_second * 1e9));
}

Formula<Nanos> time_budget(const CheckContext& check) {
  const Case& kase = check.kase();
  const auto moves = of_each(kase, [&](const MuonMatrix& matrix) { return travel(kase, matrix).value(); });
  const auto work = of_each(kase, [&](const MuonMatrix& matrix) {
    const auto flops = static_cast<double>(matrix.flops() + matrix.other_flops());
    return static_cast<std::int64_t>(std::llround(flops / kase.cluster.roofline.flops_per_second * 1e9));
  });
  const Formula<Nanos> step = named("reductions", Nanos(sum_of(moves))) +
                              named("busiest rank", Nanos(busiest(work, owners(check), kase.ranks))) +
                              named("broadcasts", Nanos(sum_of(moves)));
  return and_percent(in_all_steps(kase, step), 3);
}

// ---- Memory ----

/// Bytes of the rank's own momentum.
Bytes own_momentum(const CheckContext& check, int rank) {
  const Deal owner = owners(check);
  const Costs bytes = of_each(check.kase(), [](const MuonMatrix& matrix) { return matrix.bytes(); });
  Bytes own;
  for (std::size_t i = 0; i < owner.size(); ++i) own += Bytes(owner[i] == rank ? bytes[i] : 0);
  return own;
}

/// After the run the rank has momentum of a matrix that is another's.
bool keeps_others_momentum(const CheckContext& check, int rank) {
  const Deal owner = owners(check);
  const Output* sizes = check.output("momentum");  // of each rank's matrices, one rank behind the other
  const std::size_t first = static_cast<std::size_t>(rank) * owner.size();
  if (sizes == nullptr || sizes->values.size() < first + owner.size()) return false;
  for (std::size_t i = 0; i < owner.size(); ++i) {
    if (owner[i] != rank && sizes->values[first + i] > 0) return true;
  }
  return false;
}

/// What stays at work between two matrices of the rank: the one during which its memory is fullest, and the one before
/// it. If that is its first matrix, what is there at the beginning and still behind it. A matrix has three products in
/// each round; 0 if the products are others.
Bytes kept_between_matrices(const CheckContext& check, int rank) {
  constexpr std::size_t kProducts = 3 * kMuonRounds;
  const Deal owner = owners(check);
  std::vector<Event> products = check.events(rank, EventKind::operation);
  std::erase_if(products,
                [&](const Event& event) { return !check.trace(rank).names.at(event.name).starts_with("matmul"); });
  const auto own = static_cast<std::size_t>(std::count(owner.begin(), owner.end(), rank) * check.kase().steps);
  const std::vector<front::MemoryPoint>& curve = check.trace(rank).memory;
  if (own < 2 || products.size() != own * kProducts || curve.empty()) return Bytes(0);
  const auto total = [](const front::MemoryPoint& point) {
    return std::accumulate(point.live.begin(), point.live.end(), Bytes(0));
  };
  const auto fullest = std::ranges::max_element(curve, {}, total);
  std::size_t turn = 0;
  while (turn + 1 < own && products[(turn + 1) * kProducts].begin <= fullest->time) ++turn;
  const auto before = [&](std::size_t next) {
    return staying(curve, products[next * kProducts - 1].end, products[next * kProducts].begin);
  };
  if (turn > 0) return before(turn);
  const auto begun = std::ranges::find_if(curve, [](const auto& point) { return point.time > Nanos(0); });
  return begun == curve.begin() ? Bytes(0) : std::min(at_work(*std::prev(begun)), before(1));
}

/// `excess` is how far the rank's peak lies above its budget.
void diagnose_memory(CheckContext& check, int rank, Bytes excess) {
  if (keeps_others_momentum(check, rank)) {
    const bool is_as_dealt = product_flops(check, rank) <= dealt_to(check, rank).value();
    return check.diagnose(is_as_dealt ? "momentum_everywhere" : "other_deal");
  }
  const Bytes gradients = in_all_steps(check.kase(), named("gradients", Bytes(sum_of_bytes(check.kase())))).value();
  if (most_of(check.trace(rank).memory, Kind::gradient) > gradients) return check.diagnose("gradients_copied");
  // Momentum that is of another kind would be taken for something that stays.
  const Bytes states = check.counters(rank).live_by_kind[static_cast<std::size_t>(Kind::optimizer)];
  const bool all_momentum_told = states == own_momentum(check, rank);
  if (all_momentum_told && kept_between_matrices(check, rank) >= excess) check.diagnose("work_kept");
}

// ---- Who works when ----

/// No two ranks ever compute at the same time.
bool in_turn(const CheckContext& check) {
  std::vector<Event> all;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    std::vector<Event> computed = check.events(rank, EventKind::operation);
    std::erase_if(computed, [](const Event& event) { return event.flops == Flops(0); });
    if (overlaps(computed, all)) return false;
    all.insert(all.end(), computed.begin(), computed.end());
  }
  return !all.empty();
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Layers right = MuonTraining<double>(check.kase(), 0).run({}, {});
  if (!check.equal_layers("matrix", right, tolerances_by_matrix(check.kase(), right))) diagnose_output(check, right);
}

SHARDLINGS_CHECK(communication) {
  const Case& kase = check.kase();
  const Formula<Count> n = named("N", Count(kase.ranks)), matrices = named("matrices", std::ssize(muon_matrices(kase)));
  const Formula<Bytes> gradients = named("gradients", Bytes(sum_of_bytes(kase)));
  Bytes sent, summed, brought_back;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    sent += check.counters(rank).bytes_sent();
    summed += check.counters(rank).bytes_sent(Collective::all_reduce);
    brought_back += check.counters(rank).bytes_sent(Collective::broadcast);
  }
  const Place where = check.place_of_last(0, EventKind::collective);
  if (!check.at_most("sent by all ranks", sent, in_all_steps(kase, 2 * (folded(n - 1) * gradients)), where)) {
    check.detail("collectives called: " + names_of_collectives(check, 0));
    // Matrices come back by broadcasts, so what is all-reduced, as often as all gradients, is the gradients.
    const Bytes once = in_all_steps(kase, folded(n - 1) * gradients).value();
    const bool is_of_gradients = summed == 2 * once && brought_back == once && sent == 3 * once;
    return check.diagnose(is_of_gradients ? "all_reduced" : "too_much_sent");
  }
  for (int rank = 0; rank < check.ranks() && check.ranks() > 1; ++rank) {
    if (check.at_most("collectives of " + check.name_of(rank), num_collectives(check, rank),
                      in_all_steps(kase, 2 * matrices), "calls", where)) {
      continue;
    }
    return check.diagnose("in_pieces");
  }
}

SHARDLINGS_CHECK(work) {
  const Case& kase = check.kase();
  const Costs cost = costs(kase);
  Flops all, most;
  int rank_of_most = 0;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Flops own = product_flops(check, rank);
    all += own;
    if (own > most) rank_of_most = rank;
    most = std::max(most, own);
  }
  const Place where = check.place_of_first(rank_of_most, EventKind::operation);
  const Formula<Flops> once = in_all_steps(kase, named("5 (4 k k n + 2 k k k) of all matrices", Flops(sum_of(cost))));
  if (!check.at_most("products of all ranks", all, once, where)) return diagnose_products(check, all);
  check_as_dealt(check);
  if (check.failed()) return;
  const Flops best = in_all_steps(kase, named("best deal", Flops(busiest_of_best_deal(cost, kase.ranks)))).value();
  const Formula<Flops> budget = called("4/3 x the best deal", Formula<Flops>(Flops(best.value() * 4 / 3)));
  if (!check.at_most("products of " + check.name_of(rank_of_most), most, budget, where)) return diagnose_deal(check);
  check_drawn_deals(check);
}

SHARDLINGS_CHECK(time) {
  const int rank = check.slowest_rank();
  const Standstill longest = longest_standstill(check, rank, Nanos(0), check.end_time(rank));
  if (check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank), time_budget(check),
                    longest.place)) {
    return;
  }
  if (check.ranks() > 1 && in_turn(check)) check.diagnose("one_after_another");
}

SHARDLINGS_CHECK(memory) {
  if (!nothing_on_host(check)) return;
  const Case& kase = check.kase();
  std::int64_t work = 0;
  for (const MuonMatrix& matrix : muon_matrices(kase)) {
    work = std::max(work, 2 * matrix.bytes() + 2 * kBytesOfF32 * matrix.small() * matrix.small());
  }
  const Bytes all(sum_of_bytes(kase));
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Formula<Bytes> budget = named("weights", all) + in_all_steps(kase, named("gradients", all)) +
                                  named("own momentum", own_momentum(check, rank)) + named("at work", Bytes(work));
    if (check.peak_at_most(rank, budget)) continue;
    return diagnose_memory(check, rank, check.counters(rank).peak - budget.value());
  }
}
