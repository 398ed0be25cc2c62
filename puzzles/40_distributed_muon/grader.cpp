// Judges Muon on N ranks: the weights of one rank with all gradients, who orthogonalizes what, bytes, momentum, and
// that the ranks work at the same time.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/parts.h"
#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/deal.h"
#include "grading/formulas/muon_cost.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/standstill.h"
#include "grading/formulas/tensor_parallel.h"
#include "grading/judge/predictions.h"
#include "grading/reference/muon.h"
#include "grading/reference/noise.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::Event;
using front::EventKind;

namespace {

// ---- Numbers ----

/// What becomes of the momentum.
enum class Momentum : std::uint8_t { kept, forgotten, of_updates, orthogonalized, normalized, nesterov };
/// Whose gradient the owner takes.
enum class Gradient : std::uint8_t { of_all, of_owner, of_all_on_rank_0 };
/// Whether a matrix is orthogonalized as a whole, or in as many parts as there are ranks.
enum class Divided : std::uint8_t { no, by_rows, by_columns };

/// How somebody takes a step: the right way, or with one of these mistakes.
struct Rule {
  Gradient gradient = Gradient::of_all;
  Divided divided = Divided::no;
  Momentum momentum = Momentum::kept;
  int rounds = kMuonRounds;
  bool scaled_by_shape = false;  ///< the update, by the root of rows over columns where that is above 1
};

/// Part by part, each of them by itself.
template <class Real>
Array<Real> orthogonalized_in_parts(const Array<Real>& m, MuonMatrix of, int parts, const Rule& rule) {
  if (rule.divided == Divided::no) return orthogonalized(m, of.rows, of.cols, rule.rounds);
  const bool by_columns = rule.divided == Divided::by_columns;
  const Array<Real> turned = by_columns ? transposed(m, of.rows, of.cols) : m;
  if (by_columns) std::swap(of.rows, of.cols);
  Array<Real> result;
  for (int part = 0; part < parts; ++part) {
    const Range rows = part_of(of.rows, parts, part);
    if (rows.size() == 0) continue;
    const Array<Real> own(turned.begin() + rows.begin * of.cols, turned.begin() + rows.end * of.cols);
    const Array<Real> x = orthogonalized(own, rows.size(), of.cols, rule.rounds);
    result.insert(result.end(), x.begin(), x.end());
  }
  return by_columns ? transposed(result, of.rows, of.cols) : result;
}

/// A case's steps in one number type.
template <class Real>
class Training {
 public:
  Training(const Case& kase, std::uint64_t shake) : kase_(kase), shake_(shake), matrices_(muon_matrices(kase)) {}

  std::vector<Array<Real>> initial() const {
    std::vector<Array<Real>> weights;
    for (std::size_t i = 0; i < matrices_.size(); ++i) {
      const std::vector<float> layer = weights_of(kase_, static_cast<int>(i));
      weights.emplace_back(layer.begin(), layer.begin() + matrices_[i].size());
      shake_all(weights.back(), shake_, 0);
    }
    return weights;
  }

  std::vector<Array<Real>> run(const Rule& rule, const Deal& owner) const {
    const Real lr = static_cast<float>(kase_.number("lr")), beta = static_cast<float>(kase_.number("beta"));
    std::vector<Array<Real>> weights = initial();
    for (std::size_t i = 0; i < matrices_.size(); ++i) {
      Array<Real> m(weights[i].size());
      for (int step = 0; step < kase_.steps; ++step) {
        Array<Real> g = gradient(rule, step, static_cast<int>(i), i < owner.size() ? owner[i] : 0);
        if (rule.momentum == Momentum::of_updates) g = update_of(g, i, rule);
        for (std::size_t k = 0; k < m.size(); ++k) {
          m[k] = (rule.momentum == Momentum::forgotten ? Real(0) : beta * m[k]) + g[k];
        }
        Array<Real> ahead = m;
        for (std::size_t k = 0; k < m.size() && rule.momentum == Momentum::nesterov; ++k) ahead[k] = g[k] + beta * m[k];
        const Array<Real> update = rule.momentum == Momentum::of_updates ? m : update_of(ahead, i, rule);
        const Real shape = std::sqrt(static_cast<Real>(matrices_[i].rows) / static_cast<Real>(matrices_[i].cols));
        const Real factor = rule.scaled_by_shape ? std::max(Real(1), shape) : Real(1);
        for (std::size_t k = 0; k < m.size(); ++k) weights[i][k] -= lr * factor * update[k];
        if (rule.momentum == Momentum::orthogonalized) m = update;
        if (rule.momentum == Momentum::normalized) m = normalized(m);
      }
    }
    return weights;
  }

 private:
  Array<Real> update_of(const Array<Real>& m, std::size_t i, const Rule& rule) const {
    return orthogonalized_in_parts(m, matrices_[i], kase_.ranks, rule);
  }

  Array<Real> of_rank(int step, int matrix, int rank) const {
    const int which = (step * static_cast<int>(matrices_.size()) + matrix) * kase_.ranks + rank;
    const std::vector<float> numbers = normals_of(kase_, which, matrices_[static_cast<std::size_t>(matrix)].size());
    Array<Real> g(numbers.begin(), numbers.end());
    shake_all(g, shake_, static_cast<std::uint64_t>(which) + 1);
    return g;
  }

  Array<Real> gradient(const Rule& rule, int step, int matrix, int owner) const {
    const bool own = rule.gradient == Gradient::of_owner || (rule.gradient == Gradient::of_all_on_rank_0 && owner != 0);
    if (own) return of_rank(step, matrix, owner);
    Array<Real> mean = of_rank(step, matrix, 0);
    for (int rank = 1; rank < kase_.ranks; ++rank) {
      const Array<Real> other = of_rank(step, matrix, rank);
      for (std::size_t k = 0; k < mean.size(); ++k) mean[k] += other[k];
    }
    for (Real& each : mean) each /= static_cast<Real>(kase_.ranks);
    return mean;
  }

  const Case& kase_;
  std::uint64_t shake_;
  std::vector<MuonMatrix> matrices_;
};

/// The tolerance of each element, matrix by matrix.
Layers tolerances_by_matrix(const Case& kase, const Layers& exact) {
  std::vector<std::vector<Array<float>>> runs;
  for (std::uint64_t shake = 0; shake < kRuns; ++shake) runs.push_back(Training<float>(kase, shake).run({}, {}));
  Layers tolerances;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    std::vector<const std::vector<float>*> of_matrix;
    for (const auto& run : runs) of_matrix.push_back(&run[i]);
    tolerances.push_back(tolerances_of(exact[i], of_matrix));
  }
  return tolerances;
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

void diagnose_output(CheckContext& check, const Layers& right) {
  const Case& kase = check.kase();
  const Training<double> training(kase, 0);
  const Layers first = training.initial();
  if (keeps_own_only(check, right, first)) return check.diagnose("not_broadcast");
  const Layers found = layers_of_rank(check.result(), "matrix", 0);
  std::int64_t norms = 0;
  for (int rank = 0; rank < check.ranks(); ++rank) norms += num_calls(check, rank, "add_squares");
  if (!all_finite(found) && norms == 0) return check.diagnose("not_normalized");
  const auto moved = constant_ratio(combine(found, -1, first), combine(right, -1, first));
  if (near(moved, -1)) return check.diagnose("moved_uphill");
  if (check.ranks() > 1 && near(moved, 1.0 / check.ranks())) return check.diagnose("averaged");
  const std::pair<const char*, Rule> mistakes[] = {
      {"gradient_not_reduced", {.gradient = Gradient::of_owner}},
      {"reduced_to_another", {.gradient = Gradient::of_all_on_rank_0}},
      {"shards_orthogonalized", {.divided = Divided::by_rows}},
      {"shards_orthogonalized", {.divided = Divided::by_columns}},
      {"momentum_forgotten", {.momentum = Momentum::forgotten}},
      {"momentum_of_updates", {.momentum = Momentum::of_updates}},
      {"momentum_overwritten", {.momentum = Momentum::orthogonalized}},
      {"momentum_overwritten", {.momentum = Momentum::normalized}},
      {"nesterov_momentum", {.momentum = Momentum::nesterov}},
      {"scaled_by_shape", {.scaled_by_shape = true}},
      {"wrong_number_of_rounds", {.rounds = kMuonRounds - 1}},
      {"wrong_number_of_rounds", {.rounds = kMuonRounds + 1}},
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

/// f(matrix) of each of them.
Costs of_each(const Case& kase, auto f) {
  Costs numbers;
  for (const MuonMatrix& matrix : muon_matrices(kase)) numbers.push_back(f(matrix));
  return numbers;
}

Costs costs(const Case& kase) {
  return of_each(kase, [](const MuonMatrix& matrix) { return matrix.flops(); });
}

std::int64_t sum_of_bytes(const Case& kase) {
  return sum_of(of_each(kase, [](const MuonMatrix& matrix) { return matrix.bytes(); }));
}

void diagnose_deal(CheckContext& check) {
  const Deal owner = owners(check);
  const int ranks = check.ranks();
  if (std::all_of(owner.begin(), owner.end(), [&](int each) { return each == owner.front(); })) {
    return check.diagnose("all_on_one");
  }
  bool in_turn = true;
  for (std::size_t i = 0; i < owner.size(); ++i) in_turn = in_turn && owner[i] == static_cast<int>(i) % ranks;
  if (in_turn || std::is_sorted(owner.begin(), owner.end())) return check.diagnose("dealt_by_number");
  if (owner == dealt_to_least(costs(check.kase()), given_order(owner.size()), ranks)) {
    return check.diagnose("dealt_in_given_order");
  }
  const Costs sizes = of_each(check.kase(), [](const MuonMatrix& matrix) { return matrix.size(); });
  if (busiest(sizes, owner, ranks) <= busiest(sizes, dealt_to_least(sizes, costliest_first(sizes), ranks), ranks)) {
    check.diagnose("dealt_by_size");
  }
}

/// `all` operations of all ranks are more than needed.
void diagnose_products(CheckContext& check, Flops all) {
  const Case& kase = check.kase();
  const auto is = [&](auto f) { return all == Flops(kase.steps * sum_of(of_each(kase, f))); };
  if (check.ranks() > 1 && all == Flops(check.ranks() * kase.steps * sum_of(costs(kase)))) {
    return check.diagnose("everybody_computes");
  }
  if (is([](const MuonMatrix& matrix) { return matrix.flops_with(matrix.rows); }) ||
      is([](const MuonMatrix& matrix) { return matrix.flops_with(matrix.cols); })) {
    return check.diagnose("larger_side");
  }
  const auto three_products = [](const MuonMatrix& matrix) { return kMuonRounds * 6 * matrix.size() * matrix.small(); };
  if (is(three_products)) check.diagnose("third_product_with_x");
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
  const Formula<Nanos> all = in_all_steps(kase, step);
  return called(all.text() + ", and 3 %", Formula<Nanos>(Nanos(all.value().value() * 103 / 100)));
}

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
  const Layers right = Training<double>(check.kase(), 0).run({}, {});
  if (!check.equal_layers("matrix", right, tolerances_by_matrix(check.kase(), right))) diagnose_output(check, right);
}

SHARDLINGS_CHECK(communication) {
  const Case& kase = check.kase();
  const Formula<Count> n = named("N", Count(kase.ranks)), matrices = named("matrices", std::ssize(muon_matrices(kase)));
  const Formula<Bytes> gradients = named("gradients", Bytes(sum_of_bytes(kase)));
  Bytes sent;
  std::int64_t reduced = 0;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    sent += check.counters(rank).bytes_sent();
    reduced += check.counters(rank).calls(Collective::all_reduce);
  }
  const Place where = check.place_of_last(0, EventKind::collective);
  if (!check.at_most("sent by all ranks", sent, in_all_steps(kase, 2 * (folded(n - 1) * gradients)), where)) {
    check.detail("collectives called: " + names_of_collectives(check, 0));
    return check.diagnose(reduced > 0 ? "all_reduced" : "too_much_sent");
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
  const Flops best = in_all_steps(kase, named("best deal", Flops(busiest_of_best_deal(cost, kase.ranks)))).value();
  const Formula<Flops> budget = called("4/3 x the best deal", Formula<Flops>(Flops(best.value() * 4 / 3)));
  if (!check.at_most("products of " + check.name_of(rank_of_most), most, budget, where)) diagnose_deal(check);
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
  const std::vector<MuonMatrix> matrices = muon_matrices(kase);
  const Deal owner = owners(check);
  std::int64_t work = 0;
  for (const MuonMatrix& matrix : matrices) {
    work = std::max(work, 2 * matrix.bytes() + 2 * kBytesOfF32 * matrix.small() * matrix.small());
  }
  const Bytes all(sum_of_bytes(kase));
  for (int rank = 0; rank < check.ranks(); ++rank) {
    Bytes momentum;
    for (std::size_t i = 0; i < owner.size(); ++i) momentum += Bytes(owner[i] == rank ? matrices[i].bytes() : 0);
    const Formula<Bytes> budget = named("weights", all) + in_all_steps(kase, named("gradients", all)) +
                                  named("own momentum", momentum) + named("at work", Bytes(work));
    if (check.peak_at_most(rank, budget)) continue;
    const Bytes kept = check.counters(rank).live_by_kind[static_cast<std::size_t>(Kind::optimizer)];
    return check.diagnose(kept > momentum ? "momentum_everywhere" : "work_kept");
  }
}

SHARDLINGS_PREDICTIONS("3 ranks") {
  const Case& kase = predict.kase();
  const Costs cost = costs(kase);
  const MuonMatrix first = muon_matrices(kase).front();
  const Formula<Count> n = named("N", Count(kase.ranks));
  const Formula<Bytes> gradients = named("gradients", Bytes(sum_of_bytes(kase)));
  const Formula<Flops> all = named("all matrices", Flops(sum_of(cost)));
  const auto busiest_if = [&](const Costs& weight) {
    const Deal owner = dealt_to_least(weight, costliest_first(weight), kase.ranks);
    return named("busiest rank", Flops(busiest(cost, owner, kase.ranks)));
  };
  predict
      .number("first", "How many floating-point operations in products does it take to orthogonalize matrix 0?",
              named("5 (4 k k n + 2 k k k)", Flops(first.flops())))
      .unlike(named("squares of the larger side", Flops(first.flops_with(first.large()))),
              "(x xT) x is x (xT x): one of the two squares is smaller.")
      .unlike(named("one round", Flops(first.flops() / kMuonRounds)), "There are five rounds.");
  predict
      .number("busiest", "How many of them has the busiest rank, if the matrices are dealt as well as possible?",
              named("best deal", Flops(busiest_of_best_deal(cost, kase.ranks))))
      .unlike(busiest_if(of_each(kase, [](const MuonMatrix& matrix) { return matrix.size(); })),
              "Twice as many elements are not twice as many operations.")
      .unlike(all, "That is on one rank.");
  predict.number("sent", "How many bytes do all ranks together send in the step?", 2 * (folded(n - 1) * gradients))
      .unlike(3 * (folded(n - 1) * gradients), "One rank needs the mean: an all-reduce gives it to all of them.")
      .unlike(folded(n - 1) * gradients, "The gradients go there, and something has to come back.");
}
