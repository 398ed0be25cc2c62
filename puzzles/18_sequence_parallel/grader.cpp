// Judges sequence parallelism: numbers of one device, a t-th of everything that is kept, whole tensors one at a time.

#include "grading/judge/grader.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "base/parts.h"
#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/sequence_mlp.h"
#include "grading/formulas/sharding.h"
#include "grading/formulas/tensor_parallel.h"
#include "grading/judge/least_of_products.h"
#include "grading/judge/most_of_products.h"
#include "grading/judge/predictions.h"
#include "grading/reference/part_reference.h"
#include "model/operation_flops.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::EventKind;

namespace {

using Run = reference::PartRun<double>;

/// A gradient, by the name under which it is published. Of those that are not divided every rank has the whole.
struct Gradient {
  const char* name;
  const char* entry;
  bool divided;
};

constexpr Gradient kGradients[] = {
    {"gradient of up.weight", "fc.weight", true},     {"gradient of up.bias", "fc.bias", true},
    {"gradient of down.weight", "fc2.weight", true},  {"gradient of down.bias", "fc2.bias", false},
    {"gradient of norm.weight", "ln2.weight", false}, {"gradient of norm.bias", "ln2.bias", false}};

PartInputs inputs_of(const Case& kase) {
  const SequenceMlp mlp(kase);
  PartInputs inputs;
  inputs.weights = weights_of(kase, 1);
  for (const Gradient& each : kGradients) inputs.tensors.push_back(mlp.entry(each.entry));
  inputs.x = normals_of(kase, 0, mlp.micros * mlp.elements());
  inputs.grad_output = normals_of(kase, 1, mlp.micros * mlp.elements());
  return inputs;
}

/// What stands between norm and residual.
template <class Real>
std::unique_ptr<reference::Part<Real>> products_of(const SequenceMlp& mlp) {
  const auto at = [&](const char* name) { return mlp.entry(name).begin; };
  reference::Parts<Real> parts;
  parts.push_back(reference::make_linear<Real>(mlp.width, mlp.middle, at("fc.weight"), at("fc.bias")));
  parts.push_back(reference::make_gelu<Real>());
  parts.push_back(reference::make_linear<Real>(mlp.middle, mlp.width, at("fc2.weight"), at("fc2.bias")));
  return reference::make_sequence<Real>(std::move(parts));
}

template <class Real>
std::unique_ptr<reference::Part<Real>> norm_of(const SequenceMlp& mlp) {
  return reference::make_norm<Real>(mlp.width, mlp.entry("ln2.weight").begin, mlp.entry("ln2.bias").begin);
}

auto maker_of(const SequenceMlp& mlp) {
  return [mlp]<class Real>() {
    reference::Parts<Real> parts;
    parts.push_back(norm_of<Real>(mlp));
    parts.push_back(products_of<Real>(mlp));
    return reference::make_residual<Real>(reference::make_sequence<Real>(std::move(parts)));
  };
}

Run run(const SequenceMlp& mlp, const PartInputs& inputs) {
  return reference::run_part<double>(*maker_of(mlp).operator()<double>(), inputs, 0);
}

/// With the rank's part of the middle alone.
Run run_of_part(const SequenceMlp& mlp, PartInputs inputs, int rank) {
  inputs.weights = with_part_of(mlp, std::move(inputs.weights), rank);
  return run(mlp, inputs);
}

/// Only these rows, of inputs and gradients.
PartInputs with_rows(const SequenceMlp& mlp, const PartInputs& inputs, auto wanted) {
  PartInputs some = inputs;
  some.x.clear();
  some.grad_output.clear();
  for (Count row = 0; row < mlp.micros * mlp.tokens; ++row) {
    if (!wanted(row)) continue;
    const auto append = [&](std::vector<float>& to, const std::vector<float>& from) {
      to.insert(to.end(), from.begin() + row * mlp.width, from.begin() + (row + 1) * mlp.width);
    };
    append(some.x, inputs.x);
    append(some.grad_output, inputs.grad_output);
  }
  return some;
}

/// Of an array of the run, what the ranks hold if nobody adds terms up.
std::vector<double> own_terms(const SequenceMlp& mlp, const PartInputs& inputs, reference::Array<double> Run::*array) {
  std::vector<std::vector<double>> of_rank;
  for (int rank = 0; rank < mlp.ranks; ++rank) of_rank.push_back(run_of_part(mlp, inputs, rank).*array);
  return with_own_terms(mlp, of_rank);
}

/// The gradients of the parts if each rank sums over its own positions only.
std::vector<double> grads_of_own_positions(const SequenceMlp& mlp, const PartInputs& inputs) {
  std::vector<double> mixed(inputs.weights.size());
  for (int rank = 0; rank < mlp.ranks; ++rank) {
    const Run own = run(mlp, with_rows(mlp, inputs, [&](Count row) { return mlp.owner(row) == rank; }));
    const std::vector<float> part = with_part_of(mlp, inputs.weights, rank);  // not zero where it is this rank's
    for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] = part[i] != 0 ? own.grads[i] : mixed[i];
  }
  return mixed;
}

/// A gradient that all ranks have added up after the backward pass of each micro-batch, earlier ones included.
std::vector<double> reduced_every_time(const SequenceMlp& mlp, const PartInputs& inputs) {
  std::vector<double> sum(inputs.weights.size());
  for (int micro = 0; micro < mlp.micros; ++micro) {
    const Run one = run(mlp, with_rows(mlp, inputs, [&](Count row) { return row / mlp.tokens == micro; }));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = sum[i] * mlp.ranks + one.grads[i];
  }
  return sum;
}

std::vector<double> in_double(const std::vector<float>& numbers) {
  return {numbers.begin(), numbers.end()};
}

/// What is right, with what does not go through the sum put apart and the rest taken `factor` times.
std::vector<double> sum_times(const std::vector<double>& right, const std::vector<double>& apart, double factor) {
  return combine({apart}, factor, combine({right}, -1, {apart}))[0];
}

void diagnose_y(CheckContext& check, const std::vector<double>& right) {
  const SequenceMlp mlp(check.kase());
  const PartInputs inputs = inputs_of(check.kase());
  const Layers found = by_rank(check, "y");
  if (found.empty() || mlp.ranks == 1) return;
  const double t = mlp.ranks;
  const std::vector<double> bias = slice(in_double(inputs.weights), mlp.entry("fc2.bias")), x = in_double(inputs.x);
  const std::vector<double> apart = plus_row(x, 1, bias);
  diagnose_as(check, found[0],
              {{"bias_on_every_rank", plus_row(right, t - 1, bias)},
               {"bias_missing", plus_row(right, -1, bias)},
               {"residual_missing", combine({right}, -1, {x})[0]},
               {"averaged", sum_times(right, apart, 1 / t)},
               {"reduced_twice", sum_times(right, apart, t)},
               {"output_partial", own_terms(mlp, inputs, &Run::output)}});
}

/// grad_x if layer_norm_backward gets the norm's output in the place of its input.
std::vector<double> grad_x_with_norm_of_output(const SequenceMlp& mlp, const PartInputs& inputs) {
  const std::vector<double> weights = in_double(inputs.weights), x = in_double(inputs.x);
  const std::vector<double> weight = slice(weights, mlp.entry("ln2.weight")),
                            bias = slice(weights, mlp.entry("ln2.bias"));
  const auto norm = norm_of<double>(mlp), products = products_of<double>(mlp);
  products->forward(weights, norm->forward(weights, x));
  std::vector<double> unused(weights.size());
  const std::vector<double> residual = in_double(inputs.grad_output);
  const std::vector<double> grad = products->backward(weights, residual, unused);
  return combine({norm_backward_at_output(x, weight, bias, grad)}, 1, {residual})[0];
}

void diagnose_grad_x(CheckContext& check, const std::vector<double>& right) {
  const SequenceMlp mlp(check.kase());
  const PartInputs inputs = inputs_of(check.kase());
  const Layers found = by_rank(check, "grad_x");
  if (found.empty()) return;
  const double t = mlp.ranks;
  const std::vector<double> residual = in_double(inputs.grad_output);
  if (diagnose_as(check, found[0],
                  {{"residual_missing", combine({right}, -1, {residual})[0]},
                   {"norm_of_output", grad_x_with_norm_of_output(mlp, inputs)}}) ||
      mlp.ranks == 1) {
    return;
  }
  diagnose_as(check, found[0],
              {{"averaged", sum_times(right, residual, 1 / t)},
               {"reduced_twice", sum_times(right, residual, t)},
               {"input_gradient_partial", own_terms(mlp, inputs, &Run::grad_input)}});
}

/// All ranks' parts, added up on each of them.
std::vector<double> parts_added_up(const std::vector<double>& right, int ranks) {
  const std::size_t part = right.size() / static_cast<std::size_t>(ranks);
  std::vector<double> sum(right.size());
  for (std::size_t i = 0; i < sum.size(); ++i) {
    for (std::size_t at = i % part; at < right.size(); at += part) sum[i] += right[at];
  }
  return sum;
}

void diagnose_gradient(CheckContext& check, const Gradient& gradient, const std::vector<double>& right) {
  const SequenceMlp mlp(check.kase());
  const PartInputs inputs = inputs_of(check.kase());
  const Range range = mlp.entry(gradient.entry);
  const Layers found = by_rank(check, gradient.name);
  if (found.empty() || found[0].size() != right.size()) return;
  if (constant_ratio({found[0]}, {right}) == 0) return check.diagnose("gradient_missing");
  if (gradient.divided) {
    diagnose_as(check, found[0],
                {{"gradient_of_own_positions", slice(grads_of_own_positions(mlp, inputs), range)},
                 {"part_reduced", parts_added_up(right, mlp.ranks)}});
    return;
  }
  const std::vector<double> every_time = slice(reduced_every_time(mlp, inputs), range);
  if (mlp.micros > 1 &&
      diagnose_as(check, found[0],
                  {{"reduced_every_time", every_time}, {"reduced_every_time", scaled({every_time}, mlp.ranks)[0]}})) {
    return;
  }
  const bool is_bias = gradient.entry == std::string("fc2.bias");
  const bool summed_once = check.counters(0).calls(Collective::all_reduce) <= 3;
  if (is_bias && mlp.ranks > 1 && summed_once && near(constant_ratio({found[0]}, {right}), mlp.ranks)) {
    return check.diagnose("bias_summed_again");
  }
  diagnose_sum(check, gradient.name, right, is_bias ? "bias_gradient_partial" : "norm_gradient_partial");
}

/// The least that is alive between the last sum of forward and the first gather of backward, not counting what that
/// gathers into: what forward has left. Nothing if forward has not gathered once for each micro-batch.
std::optional<Bytes> left_by_forward(const CheckContext& check, const SequenceMlp& mlp) {
  const auto micros = static_cast<std::size_t>(mlp.micros);
  const auto gathers = collectives(check, mlp.rank, Collective::all_gather);
  const auto scatters = collectives(check, mlp.rank, Collective::reduce_scatter);
  if (gathers.size() <= micros || scatters.size() < micros) return std::nullopt;
  const front::Event &last = scatters[micros - 1], &first = gathers[micros];
  Bytes least = first.live_after - Bytes(kBytesOfF32 * mlp.elements());
  for (const front::Event& event : check.events(mlp.rank, EventKind::operation)) {
    if (event.order > last.order && event.order < first.order) least = std::min(least, event.live_after);
  }
  return least;
}

/// What stays of a micro-batch is there at the same line of the next one's forward. The peak has room for temporaries,
/// in which it could hide.
bool keeps_what_is_needed(CheckContext& check, const SequenceMlp& mlp, const Formula<Bytes>& kept) {
  const auto scatters = collectives(check, mlp.rank, Collective::reduce_scatter);
  if (mlp.micros < 2 || scatters.size() < static_cast<std::size_t>(mlp.micros)) return true;
  return check.at_most("kept for a micro-batch on " + check.name_of(mlp.rank),
                       scatters[1].live_after - scatters[0].live_after, kept, place_of(scatters[0]));
}

void diagnose_memory(CheckContext& check, const SequenceMlp& mlp) {
  const SequencePeak peak = sequence_peak(mlp);
  const std::optional<Bytes> left = left_by_forward(check, mlp);
  if (!left) return;
  const Bytes whole(kBytesOfF32 * mlp.elements()), mine = Bytes(whole.value() / mlp.ranks);
  const Bytes planned = peak.planned.value() - whole;
  if (*left > planned + mine) return check.diagnose("kept_too_much");  // y may still be there
  if (*left <= planned) check.diagnose("two_wholes");
}

Formula<Count> num_calls_of(const SequenceMlp& mlp) {
  return named("m", mlp.micros) * (named("gathers", 3) + named("scatters", 2)) + named("at the end", 3);
}

/// What is needed of a rank. For the numbers at the end fewer all-reduces than three may do: then it is those.
std::vector<Call> needed_calls(const CheckContext& check, const SequenceMlp& mlp) {
  const Call gather{Collective::all_gather, Bytes(all_gather_bytes(mlp.elements(), mlp.ranks, mlp.rank))};
  const Call scatter{Collective::reduce_scatter, Bytes(reduce_scatter_bytes(mlp.elements(), mlp.ranks, mlp.rank))};
  const Call reduce{Collective::all_reduce, Bytes(all_reduce_bytes(mlp.width, mlp.ranks, mlp.rank))};
  std::vector<Call> calls(3, reduce), at_once;
  for (const front::Event& event : collectives(check, mlp.rank, Collective::all_reduce)) {
    at_once.push_back({Collective::all_reduce, event.bytes});
  }
  const Bytes sent = check.counters(mlp.rank).bytes_sent(Collective::all_reduce);
  if (at_once.size() < 3 && sent + Bytes(2 * kBytesOfF32 * 3) >= 3 * reduce.sent) calls = at_once;
  calls.insert(calls.end(), static_cast<std::size_t>(3 * mlp.micros), gather);
  calls.insert(calls.end(), static_cast<std::size_t>(2 * mlp.micros), scatter);
  return calls;
}

void diagnose_calls(CheckContext& check, const SequenceMlp& mlp) {
  if (largest_sent(check, mlp.rank, Collective::all_reduce) >= all_reduce_bytes(mlp.elements(), mlp.ranks, mlp.rank)) {
    return check.diagnose("all_reduced");
  }
  const CallDifference difference = difference_of_calls(check, mlp.rank, needed_calls(check, mlp));
  if (difference.is_in_pieces()) {
    return check.diagnose(difference.lacks_only(Collective::all_reduce) ? "sum_in_pieces" : "called_in_pieces");
  }
  const Bytes gathers = 3 * mlp.micros * Bytes(all_gather_bytes(mlp.elements(), mlp.ranks, mlp.rank));
  if (check.counters(mlp.rank).bytes_sent(Collective::all_gather) > gathers) check.diagnose("gathered_too_often");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const SequenceMlp mlp(check.kase());
  const PartReference right = part_reference(inputs_of(check.kase()), maker_of(mlp));
  if (!check.equal("y", right.output, right.output_tolerance)) return diagnose_y(check, right.output);
  if (!check.equal("grad_x", right.grad_input, right.grad_input_tolerance)) {
    return diagnose_grad_x(check, right.grad_input);
  }
  for (const Gradient& each : kGradients) {
    const Range range = mlp.entry(each.entry);
    const std::vector<double> expected = slice(right.grads, range);
    if (check.equal(each.name, expected, slice(right.grads_tolerance, range))) continue;
    return diagnose_gradient(check, each, expected);
  }
}

SHARDLINGS_CHECK(memory) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const SequenceMlp mlp(check.kase(), rank);
    const SequencePeak peak = sequence_peak(mlp);
    if (!check.peak_at_most(rank, peak.planned + peak.room)) return diagnose_memory(check, mlp);
    if (!keeps_what_is_needed(check, mlp, peak.kept)) return check.diagnose("kept_too_much");
  }
  nothing_on_host(check);
}

SHARDLINGS_CHECK(communication) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const SequenceMlp mlp(check.kase(), rank);
    const Place where = place_of_unexpected(check, rank, needed_calls(check, mlp));
    bool held = check.at_most("sent by " + check.name_of(rank), check.counters(rank).bytes_sent(),
                              sequence_wire_bytes(mlp), where);
    if (held && mlp.ranks > 1) {
      held = check.at_most("collectives of " + check.name_of(rank), num_collectives(check, rank), num_calls_of(mlp),
                           "calls", where);
    }
    if (held) continue;
    check.detail("collectives called: " + names_of_collectives(check, rank));
    return diagnose_calls(check, mlp);
  }
}

/// Of all ranks' parts of the middle.
SHARDLINGS_LEAST_OF_PRODUCTS(check) {
  const SequenceMlp mlp(check.kase());
  const Formula<Count> each = named("s b", mlp.tokens) * named("h", mlp.width) * named("f", mlp.middle);
  return named("m", Count(mlp.micros)) * named("6 products", 6) * each * Formula<Flops>(Flops(2));
}

/// Norm and GELU may be made once more in backward instead of being kept. Who normalizes all positions is told so by
/// the check of memory.
SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {
  const SequenceMlp mlp(check.kase(), rank);
  const Count norm = 2 * model::kNormFlops + model::kNormBackwardFlops;
  const Count gelu = 2 * model::kGeluFlops + model::kGeluBackwardFlops;
  return {{Product::layer_norm, Flops(mlp.micros * norm * mlp.elements())},
          {Product::gelu, Flops(mlp.micros * gelu * mlp.tokens * mlp.part())}};
}

SHARDLINGS_PREDICTIONS("3 ranks, 2 micro-batches") {
  const SequenceMlp mlp(predict.kase());
  const SequencePeak peak = sequence_peak(mlp);
  const Formula<Count> t = named("t", mlp.ranks), m = named("m", mlp.micros);
  const Formula<Bytes> x = named("4 s b h", Bytes(kBytesOfF32 * mlp.elements()));
  const Formula<Bytes> z = named("z", Bytes(kBytesOfF32 * mlp.tokens * mlp.part()));
  predict.sent("sent", 0, "How many bytes does each rank send in all?", sequence_wire_bytes(mlp))
      .unlike(m * (share_of_others(t) * (4 * x)),
              "Backward gathers once more: the weights' gradient needs the whole input that forward has not kept.")
      .unlike(share_of_others(t) * (5 * x), "That is one micro-batch.")
      .unlike(m * (5 * x), "Of t parts a rank sends t-1: it keeps one.");
  predict
      .peak(
          "peak", 0,
          "How many bytes of device memory are alive on rank 0 at the worst moment, if the gathered grad_y stays until "
          "grad_z is made, and what was kept of a micro-batch until its backward ends?",
          peak.planned + peak.room)
      .unlike(peak.planned, "While a backward is at work there are tensors of the middle that it makes.")
      .unlike(peak.planned + peak.room - x, "One whole (s, b, h) is there at a time.")
      .unlike(peak.planned - x + z,
              "That is the peak of a program that frees the gathered grad_y and the GELU's output where they were used "
              "last. It passes, but the question is about one that keeps both.")
      .unlike(peak.planned + peak.room + m * (x - x / t), "Of what is kept each rank has a t-th.");
}

SHARDLINGS_PREDICTIONS_AFTER("3 ranks, 2 micro-batches") {
  const Formula<Bytes> head = named("2 V h", Bytes(2 * std::int64_t{128'256} * 16'384));
  predict.answer(5)
      .number(
          "head",
          "Llama 3 405B has V = 128,256 and h = 16,384. How many bytes has the weight of the head, whole and in bf16?",
          head)
      .unlike(2 * head, "A number of bf16 has 2 bytes.")
      .unlike(head / 8, "Each rank would need all of it, not an eighth.");
}
