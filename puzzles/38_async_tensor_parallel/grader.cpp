// Judges a perceptron that is gathered, computed and scattered in chunks: numbers of one device, the bytes of one
// gather and one scatter, what is alive at once, and a time that hides all chunks but one, with a good number of them.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/parts.h"
#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/sequence_mlp.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/standstill.h"
#include "grading/formulas/tensor_parallel.h"
#include "grading/judge/least_of_products.h"
#include "grading/judge/most_of_products.h"
#include "grading/judge/predictions.h"
#include "grading/reference/part_reference.h"
#include "model/operation_flops.h"
#include "reckonings.h"
#include "signs.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::Event;
using front::EventKind;

namespace {

/// What a number of chunks costs on the case's machine. All pieces count as long as the longest.
struct Plan {
  explicit Plan(const Case& of) : kase(of), mlp(of), positions(of.model.sequence / of.ranks) {}

  const Case& kase;
  SequenceMlp mlp;  ///< of rank 0, which has most of the middle
  Count positions;  ///< of a rank

  Formula<Count> t() const { return named("t", Count(mlp.ranks)); }
  Formula<Bytes> whole() const { return named("4 s b h", Bytes(kBytesOfF32 * mlp.elements())); }
  /// Positions of a rank in the longest of q pieces, and tokens of all ranks in them.
  Count longest(Count q) const { return (positions + q - 1) / q; }
  Count tokens(Count q) const { return longest(q) * mlp.ranks * mlp.batch; }

  /// Of a gather or a scatter of such a chunk.
  Nanos move(Count q) const {
    const front::LinkSpeed& link = kase.cluster.links.front();
    const double bytes = static_cast<double>(kBytesOfF32 * longest(q) * mlp.batch * mlp.width);
    return (mlp.ranks - 1) * (link.latency + Nanos(std::llround(bytes / link.bytes_per_second * 1e9)));
  }
  /// Of its operations.
  Nanos work(Count q) const {
    const auto operation = [&](Count flops) {
      const front::Roofline& roof = kase.cluster.roofline;
      return roof.launch + Nanos(std::llround(static_cast<double>(flops) / roof.flops_per_second * 1e9));
    };
    const Count middle = tokens(q) * mlp.part();
    return 2 * operation(2 * mlp.width * middle) + operation(model::kGeluFlops * middle);
  }
  Formula<Nanos> time(Count q) const {
    const Formula<Nanos> gather = named("gather", move(q)), scatter = named("scatter", move(q)),
                         chunk = named("chunk", work(q));
    return gather + chunk + scatter + folded(named("q", q) - 1) * max(chunk, gather + scatter);
  }
  /// With one chunk there is nothing to hide.
  Formula<Nanos> time_in_one_piece() const {
    return named("gather", move(1)) + named("chunk", work(1)) + named("scatter", move(1));
  }
  Count best_chunks() const {
    Count best = 1;
    for (Count q = 2; q <= positions; ++q) {
      if (time(q).value() < time(best).value()) best = q;
    }
    return best;
  }

  /// There before the run begins, on rank 0, which has most.
  Formula<Bytes> given() const {
    return named("weights", Bytes(2 * kBytesOfF32 * mlp.width * mlp.part())) +
           named("x and y", Bytes(2 * kBytesOfF32 * positions * mlp.batch * mlp.width));
  }
  Formula<Bytes> budget(Count q) const {
    const Formula<Bytes> chunk = named("chunk of (s, b, h)", Bytes(kBytesOfF32 * tokens(q) * mlp.width));
    const Formula<Bytes> middle = named("z of a chunk", Bytes(kBytesOfF32 * tokens(q) * mlp.part()));
    return given() + 4 * chunk + 2 * middle;
  }
};

/// In how many chunks the run was made.
Count chunks_of(const CheckContext& check) {
  const Output* output = check.output("chunks");
  return output == nullptr || output->values.empty() ? 1 : static_cast<Count>(output->values.front());
}

bool is_given(const Case& kase) {
  return kase.integer("chunks") > 0;
}

// ---- Numbers ----

/// The two matrices of a block's weights one behind the other, each with a bias that is zero, which the judge's layers
/// want to have.
PartInputs inputs_of(const Plan& plan, const std::vector<float>& block) {
  PartInputs inputs;
  const auto append = [&](const char* entry, Count outputs) {
    const Range range = plan.mlp.entry(entry);
    inputs.weights.insert(inputs.weights.end(), block.begin() + range.begin, block.begin() + range.end);
    inputs.weights.resize(inputs.weights.size() + static_cast<std::size_t>(outputs));
  };
  append("fc.weight", plan.mlp.middle);
  append("fc2.weight", plan.mlp.width);
  inputs.x = normals_of(plan.kase, 0, plan.mlp.elements());
  inputs.grad_output.resize(inputs.x.size());  // only forward is asked for
  return inputs;
}

PartReference reference_of(const Plan& plan, const std::vector<float>& block, bool with_gelu = true) {
  const PartInputs inputs = inputs_of(plan, block);
  const Count width = plan.mlp.width, middle = plan.mlp.middle, size = width * middle;
  return part_reference(inputs, [&]<class Real>() {
    reference::Parts<Real> parts;
    parts.push_back(reference::make_linear<Real>(width, middle, 0, size));
    if (with_gelu) parts.push_back(reference::make_gelu<Real>());
    parts.push_back(reference::make_linear<Real>(middle, width, size + middle, 2 * size + middle));
    return reference::make_sequence<Real>(std::move(parts));
  });
}

/// Each rank's positions as its own part of the middle makes them.
std::vector<double> own_terms(const Plan& plan) {
  std::vector<std::vector<double>> of_rank;
  for (int rank = 0; rank < plan.mlp.ranks; ++rank) {
    of_rank.push_back(reference_of(plan, with_part_of(plan.mlp, weights_of(plan.kase, 1), rank)).output);
  }
  return with_own_terms(plan.mlp, of_rank);
}

/// Chunks that are stretches of the whole sequence: of each of them a rank has got an equal part, in the order of
/// ranks.
std::vector<double> stretches_scattered(const Plan& plan, const std::vector<double>& right, Count q) {
  std::vector<double> y;
  if (plan.positions % q != 0) return y;
  const Count part = plan.positions / q * plan.mlp.batch * plan.mlp.width;
  for (Count rank = 0; rank < plan.mlp.ranks; ++rank) {
    for (Count chunk = 0; chunk < q; ++chunk) {
      const auto from = right.begin() + (chunk * plan.mlp.ranks + rank) * part;
      y.insert(y.end(), from, from + part);
    }
  }
  return y;
}

void diagnose_output(CheckContext& check, const Plan& plan, const std::vector<double>& right) {
  const Layers replicas = by_rank(check, "y");
  if (replicas.empty()) return;
  const std::vector<double>& found = replicas.front();
  if (lacks_rows(found, right)) return check.diagnose("rows_missing");
  diagnose_as(check, found, {{"gelu_left_out", reference_of(plan, weights_of(plan.kase, 1), false).output}});
  if (plan.mlp.ranks == 1) return;
  diagnose_as(check, found,
              {{"averaged", scaled({right}, 1.0 / plan.mlp.ranks)[0]},
               {"reduced_twice", scaled({right}, plan.mlp.ranks)[0]},
               {"other_positions", stretches_scattered(plan, right, chunks_of(check))},
               {"output_partial", own_terms(plan)}});
}

// ---- Traces ----

std::vector<Event> operations(const CheckContext& check, int rank) {
  return check.events(rank, EventKind::operation);
}

void diagnose_bytes(CheckContext& check, const Plan& plan, int rank) {
  const Bytes once((plan.mlp.ranks - 1) * kBytesOfF32 * plan.mlp.elements() / plan.mlp.ranks);
  // Summands of all positions, and nothing scattered: what else is all-reduced leaves the scatters where they are.
  const std::vector<Event> sums = collectives(check, rank, Collective::all_reduce), computed = operations(check, rank);
  if (!sums.empty() && !computed.empty() && sums.front().order > computed.front().order &&
      check.counters(rank).bytes_sent(Collective::all_reduce) == 2 * once &&
      check.counters(rank).calls(Collective::reduce_scatter) == 0) {
    return check.diagnose("all_reduced");
  }
  if (check.counters(rank).bytes_sent(Collective::all_gather) > once) check.diagnose("gathered_too_often");
}

/// Collectives of the rank that move something: one of empty tensors is no chunk's, of which each has a position.
Count moving_collectives(const CheckContext& check, int rank) {
  const std::vector<Event> gathers = collectives(check, rank, Collective::all_gather),
                           scatters = collectives(check, rank, Collective::reduce_scatter);
  const auto is_empty = [](const Event& event) { return event.bytes == Bytes(0); };
  return num_collectives(check, rank) - std::ranges::count_if(gathers, is_empty) -
         std::ranges::count_if(scatters, is_empty);
}

void diagnose_calls(CheckContext& check, int rank, Count q) {
  if (moving_collectives(check, rank) > 2 * q) return check.diagnose("in_pieces");
  if (collectives(check, rank, Collective::all_gather).size() == 1) return check.diagnose("gathered_at_once");
  if (collectives(check, rank, Collective::reduce_scatter).size() == 1) return check.diagnose("scattered_at_once");
  check.diagnose("fewer_chunks");
}

void diagnose_memory(CheckContext& check, const Plan& plan) {
  constexpr std::size_t kAtOnce = 2;  // chunks that may be there beside the one at work, from the third one on
  const auto q = static_cast<std::size_t>(chunks_of(check));
  const std::vector<Event> gathers = collectives(check, 0, Collective::all_gather), computed = operations(check, 0);
  if (computed.empty()) return;
  if (gathers.size() == 1 && q > 1) return check.diagnose("gathered_at_once");
  const auto early = std::count_if(gathers.begin(), gathers.end(),
                                   [&](const Event& gather) { return gather.order < computed.front().order; });
  if (early > 2) return check.diagnose("gathered_too_early");
  const Bytes whole = plan.whole().value();
  if (q > kAtOnce && !gathers.empty() && gathers.front().live_after >= plan.given().value() + whole) {
    return check.diagnose("room_for_all");
  }
  // The third chunk finds everything in use that may be; from then on nothing more is alive at the same line. The last
  // chunk has no next one, so two before it are compared.
  constexpr std::size_t kEarlier = 3, kLater = 4;  // numbers from 0 on
  if (q <= kLater || plan.positions % chunks_of(check) != 0 || computed.size() != q * kOperations) return;
  const auto alive_behind = [&](std::size_t chunk) { return computed[(chunk + 1) * kOperations - 1].live_after; };
  if (alive_behind(kLater) > alive_behind(kEarlier)) {
    check.diagnose("chunks_kept");
  }
}

/// A chunk is longer than it needs to be, where each is gathered by one call.
bool has_long_chunk(const CheckContext& check, const Plan& plan) {
  const Count q = chunks_of(check);
  const std::vector<Event> gathers = collectives(check, 0, Collective::all_gather);
  if (std::ssize(gathers) != q) return false;
  const Bytes longest(kBytesOfF32 * (plan.mlp.ranks - 1) * plan.longest(q) * plan.mlp.batch * plan.mlp.width);
  return std::ranges::any_of(gathers, [&](const Event& gather) { return gather.bytes > longest; });
}

/// The number is the learner's, and the run is as fast as it can be in so many chunks: no line of it is at fault.
bool is_choice_alone(const CheckContext& check, const Plan& plan) {
  return !is_given(plan.kase) && !has_long_chunk(check, plan) &&
         check.end_time(check.slowest_rank()) <= plan.time(chunks_of(check)).value();
}

void diagnose_time(CheckContext& check, const Plan& plan) {
  const Count q = chunks_of(check);
  if (is_choice_alone(check, plan)) {
    return check.diagnose(q < plan.best_chunks() ? "too_few_chunks" : "too_many_chunks");
  }
  const std::vector<Event> gathers = collectives(check, 0, Collective::all_gather), computed = operations(check, 0),
                           scatters = collectives(check, 0, Collective::reduce_scatter);
  if (q == 1 || gathers.empty() || scatters.empty()) return;
  if (gathers.size() == 1) return check.diagnose("gathered_at_once");
  if (scatters.size() == 1) return check.diagnose("scattered_at_once");
  const bool gathers_hidden = overlaps(gathers, computed), scatters_hidden = overlaps(scatters, computed);
  if (!gathers_hidden && !scatters_hidden) return check.diagnose("nothing_hidden");
  if (!gathers_hidden) return check.diagnose("gathered_when_needed");
  if (!scatters_hidden) return check.diagnose("scatter_waited_for");
  if (has_long_chunk(check, plan)) return check.diagnose("unequal_chunks");
  if (starts_gathers_late(gathers, computed)) check.diagnose("gathered_late");
}

// ---- Choices ----

/// A cause is named if it explains every answer.
void diagnose_choices(CheckContext& check, const std::vector<Machine>& machines, const std::vector<double>& chosen) {
  for (const Habit& habit : kHabits) {
    const bool explains =
        std::equal(machines.begin(), machines.end(), chosen.begin(), chosen.end(),
                   [&](const Machine& machine, double q) { return static_cast<double>(habit.choose(machine)) == q; });
    if (explains) return check.diagnose(habit.diagnosis);
  }
}

/// Whether q chunks are near enough to the best number for a machine.
bool judge_choice(CheckContext& check, const Machine& machine, Count q) {
  const Reckoning kindest = kindest_reckoning(machine, q);
  const Count best = least(machine, kindest);
  const auto time_in = [&](Count chunks) { return Nanos(std::llround(kindest(machine, chunks))); };
  const auto in_time = [](Nanos time) { return amount_text(time.value(), Unit::ns, ""); };
  const auto in_words = [](Count chunks) { return amount_text(chunks, Unit::count, "chunks"); };
  const Formula<Nanos> budget = and_percent(named("in " + in_words(best), time_in(best)), 3);
  if (time_in(q) <= budget.value()) return check.at_most("time in " + in_words(q), time_in(q), budget);
  check.fail(fmt::format("a number with which a run takes at most {}: it takes {} in {}, the best number, and 3 % more "
                         "are allowed",
                         in_time(budget.value()), in_time(time_in(best)), in_words(best)),
             fmt::format("{}: {}", in_words(q), in_time(time_in(q))));
  check.detail("the machine is one of those that are drawn, not that of the case:");
  check.detail(fmt::format("{} is {}", call_for(machine), q));
  return false;
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Plan plan(check.kase());
  const PartReference right = reference_of(plan, weights_of(plan.kase, 1));
  if (!check.equal("y", right.output, right.output_tolerance)) diagnose_output(check, plan, right.output);
}

SHARDLINGS_CHECK(communication) {
  const Plan plan(check.kase());
  const Formula<Count> q = named("q", chunks_of(check));
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Place where = check.place_of_last(rank, EventKind::collective);
    bool held = check.at_most("sent by " + check.name_of(rank), check.counters(rank).bytes_sent(),
                              share_of_others(plan.t()) * (2 * plan.whole()), where);
    if (!held) return diagnose_bytes(check, plan, rank);
    if (plan.mlp.ranks == 1) continue;
    held = check.exactly("collectives of " + check.name_of(rank), moving_collectives(check, rank),
                         q * (named("gather", Count(1)) + named("scatter", Count(1))), "calls", where);
    if (held) continue;
    check.detail("collectives called: " + names_of_collectives(check, rank));
    return diagnose_calls(check, rank, q.value());
  }
}

SHARDLINGS_CHECK(memory) {
  const Plan plan(check.kase());
  if (!nothing_on_host(check)) return;
  if (!check.peaks_at_most(plan.budget(chunks_of(check)))) diagnose_memory(check, plan);
}

SHARDLINGS_CHECK(time) {
  const Plan plan(check.kase());
  const Formula<Nanos> budget =
      is_given(plan.kase) ? plan.time(chunks_of(check)) : and_percent(plan.time(plan.best_chunks()), 3, "best q: ");
  const int rank = check.slowest_rank();
  const bool is_choice = is_choice_alone(check, plan);
  const Standstill longest = longest_standstill(check, rank, Nanos(0), check.end_time(rank));
  const Place where = is_choice ? Place{} : longest.place;
  if (check.at_most("virtual time of " + check.name_of(rank), check.end_time(rank), budget, where)) return;
  const std::string in_chunks = "in " + amount_text(chunks_of(check), Unit::count, "chunks");
  check.detail(is_choice ? in_chunks + ", and as fast as that can be: another number would be faster" : in_chunks);
  diagnose_time(check, plan);
}

SHARDLINGS_CHECK(choice) {
  const std::vector<Machine> machines = drawn_machines(check.kase().seed);
  const Output* output = check.output("choices");
  if (output == nullptr || output->values.size() != machines.size()) return;
  const std::vector<double> chosen(output->values.begin(), output->values.end());
  for (std::size_t i = 0; i < machines.size(); ++i) {
    if (chosen[i] >= 1 && chosen[i] <= static_cast<double>(machines[i].positions)) continue;
    check.fail(fmt::format("{}: a number from 1 to {}", call_for(machines[i]), machines[i].positions),
               fmt::format("{:g}", chosen[i]));
    return check.diagnose("no_such_number");
  }
  // Of all machines the one for which the number is worst.
  std::size_t worst = 0;
  const auto excess = [&](std::size_t i) { return excess_of(machines[i], static_cast<Count>(chosen[i])); };
  for (std::size_t i = 1; i < machines.size(); ++i) worst = excess(i) > excess(worst) ? i : worst;
  if (!judge_choice(check, machines[worst], static_cast<Count>(chosen[worst]))) {
    diagnose_choices(check, machines, chosen);
  }
}

/// Of all ranks' parts of the middle.
SHARDLINGS_LEAST_OF_PRODUCTS(check) {
  const SequenceMlp mlp(check.kase());
  const Formula<Count> each = named("s b", mlp.tokens) * named("h", mlp.width) * named("f", mlp.middle);
  return named("2 products", 2) * each * Formula<Flops>(Flops(2));
}

/// Of all tokens and a rank's part of the middle, once and half of it again.
SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {
  const SequenceMlp mlp(check.kase(), rank);
  return {{Product::gelu, Flops(model::kGeluFlops * mlp.tokens * mlp.part() * 3 / 2)}};
}

SHARDLINGS_PREDICTIONS("4 ranks") {
  const Plan plan(predict.kase());
  const Count best = plan.best_chunks();
  const double launches = static_cast<double>(plan.kase.cluster.roofline.launch.value());
  const double transfer =
      static_cast<double>((plan.move(1) - (plan.mlp.ranks - 1) * plan.kase.cluster.links.front().latency).value());
  const auto square_root = [&](double of) { return named("q", Count(std::llround(std::sqrt(of)))); };
  const Formula<Bytes> both = share_of_others(plan.t()) * (2 * plan.whole());
  predict.sent("sent", 0, "How many bytes does each rank send, in however many chunks?", both)
      .unlike(2 * plan.whole(), "Of t parts a rank sends t-1: it keeps one.")
      .unlike(share_of_others(plan.t()) * plan.whole(), "x is gathered, and y is scattered.");
  predict.count("chunks", "With how many chunks is the run fastest?", named("q", best), "chunks")
      .unlike(plan.t(), "That there are so many ranks has nothing to do with it.")
      .unlike(square_root(2 * transfer / launches), "A chunk has three operations, and each of them is launched.")
      .unlike(square_root(transfer / (kOperations * launches)),
              "The last scatter is waited for as the first gather is.");
  predict.end("time", "When does the run end, with so many chunks?", plan.time(best))
      .unlike(plan.time_in_one_piece(), "That is the whole in one piece.")
      .unlike(named("chunk", plan.work(1)), "The first gather and the last scatter hide behind nothing.");
  predict.number("whole", "When would it end in one piece?", plan.time_in_one_piece())
      .unlike(named("gather", plan.move(1)) + named("chunk", plan.work(1)), "The scatter comes behind the operations.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 ranks") {
  Case fast = predict.kase();
  for (front::LinkSpeed& link : fast.cluster.links) link.bytes_per_second *= 4;
  const Count best = Plan(fast).best_chunks(), before = Plan(predict.kase()).best_chunks();
  predict.answer(3)
      .count("chunks", "Links move four times as many bytes per second. With how many chunks is the run fastest now?",
             named("q", best), "chunks")
      .unlike(before, "That is with the links of the case. A shorter transfer needs fewer launches to hide behind.")
      .unlike(before / 4, "The best number goes by the square root of the transfer.");
}
