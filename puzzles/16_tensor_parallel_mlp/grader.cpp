// Judges a tensor-parallel perceptron: numbers of one device, two all-reduces of (s, b, h), a part of weights and work.

#include "grading/judge/grader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parts.h"
#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
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

/// The case's extents, and where the weights lie if both layers are one flat tensor.
struct Mlp {
  explicit Mlp(const Case& kase)
      : structure(model::make_structure(kase.model)),
        ranks(kase.ranks),
        tokens(kase.model.sequence * kase.batch),
        width(kase.model.hidden),
        middle(structure.layers[0].out) {}
  /// Of the rank that has most, if parts are as equal as they can be.
  Count part() const { return part_of(middle, ranks, 0).size(); }
  Range entry(int layer, const char* name) const {
    const model::LayerStructure& owner = structure.layers[static_cast<std::size_t>(layer)];
    const Range inside = model::entry_of(owner, name).range;
    return {owner.range.begin + inside.begin, owner.range.begin + inside.end};
  }

  model::ModelStructure structure;
  int ranks;
  Count tokens, width, middle;  // s b, h, f
};

/// A weight or bias, by the name under which its gradient is published.
struct Gradient {
  const char* name;
  int layer;
  const char* entry;
};

constexpr Gradient kGradients[] = {{"gradient of up.weight", 0, "weight"},
                                   {"gradient of up.bias", 0, "bias"},
                                   {"gradient of down.weight", 1, "weight"},
                                   {"gradient of down.bias", 1, "bias"}};

PartInputs inputs_of(const Case& kase) {
  const Mlp mlp(kase);
  PartInputs inputs;
  for (int layer = 0; layer < 2; ++layer) {
    const std::vector<float> weights = weights_of(kase, layer);
    inputs.weights.insert(inputs.weights.end(), weights.begin(), weights.end());
  }
  for (const Gradient& each : kGradients) inputs.tensors.push_back(mlp.entry(each.layer, each.entry));
  inputs.x = normals_of(kase, 0, mlp.tokens * mlp.width);
  inputs.grad_output = normals_of(kase, 1, mlp.tokens * mlp.width);
  return inputs;
}

PartReference reference_of(const Case& kase) {
  const Mlp mlp(kase);
  return part_reference(inputs_of(kase), [&]<class Real>() {
    const auto at = [&](int layer, const char* name) { return mlp.entry(layer, name).begin; };
    reference::Parts<Real> parts;
    parts.push_back(reference::make_linear<Real>(mlp.width, mlp.middle, at(0, "weight"), at(0, "bias")));
    parts.push_back(reference::make_gelu<Real>());
    parts.push_back(reference::make_linear<Real>(mlp.middle, mlp.width, at(1, "weight"), at(1, "bias")));
    return reference::make_sequence<Real>(std::move(parts));
  });
}

/// grad_x if the slope of the GELU is taken at its output.
std::vector<double> grad_x_with_gelu_of_output(const Case& kase) {
  const Mlp mlp(kase);
  const PartInputs inputs = inputs_of(kase);
  const std::vector<double> weights(inputs.weights.begin(), inputs.weights.end());
  const auto at = [&](int layer, const char* name) { return mlp.entry(layer, name).begin; };
  const auto up = reference::make_linear<double>(mlp.width, mlp.middle, at(0, "weight"), at(0, "bias"));
  const auto down = reference::make_linear<double>(mlp.middle, mlp.width, at(1, "weight"), at(1, "bias"));
  const auto gelu = reference::make_gelu<double>(), of_output = reference::make_gelu<double>();
  const std::vector<double> z = up->forward(weights, {inputs.x.begin(), inputs.x.end()});
  const std::vector<double> a = gelu->forward(weights, z);
  of_output->forward(weights, a);
  down->forward(weights, a);
  std::vector<double> unused(weights.size());
  const std::vector<double> grad_y(inputs.grad_output.begin(), inputs.grad_output.end());
  const std::vector<double> grad_a = down->backward(weights, grad_y, unused);
  return up->backward(weights, of_output->backward(weights, grad_a, unused), unused);
}

std::vector<double> bias_of_down(const Case& kase) {
  const std::vector<float> weights = inputs_of(kase).weights;
  return slice({weights.begin(), weights.end()}, Mlp(kase).entry(1, "bias"));
}

/// Range `which` of a rank's choice: up's rows 0, up's columns 1, down's rows 2, down's columns 3.
Range chosen(const CheckContext& check, int rank, std::size_t which) {
  const Output* parts = check.output("parts");
  if (parts == nullptr) return {};
  const std::size_t at = static_cast<std::size_t>(rank) * 8 + 2 * which;
  return {static_cast<Count>(parts->values.at(at)), static_cast<Count>(parts->values.at(at + 1))};
}

bool whole_weights_everywhere(const CheckContext& check) {
  const Mlp mlp(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (chosen(check, rank, 0).size() != mlp.middle || chosen(check, rank, 1).size() != mlp.width) return false;
  }
  return check.ranks() > 1;
}

bool up_divided_by_columns(const CheckContext& check) {
  return chosen(check, 0, 1).size() < Mlp(check.kase()).width;
}

/// Of the middle, what a rank has chosen, and no more than an equal share: which rank has a longer part is its own
/// matter.
Count part_of_rank(const CheckContext& check, int rank) {
  return std::min(Mlp(check.kase()).part(), chosen(check, rank, 0).size());
}

/// On how many ranks each column of the middle is.
std::vector<int> owners_of_middle(const CheckContext& check) {
  std::vector<int> owners(static_cast<std::size_t>(Mlp(check.kase()).middle));
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Range rows = chosen(check, rank, 0);
    for (Count i = rows.begin; i < rows.end; ++i) ++owners[static_cast<std::size_t>(i)];
  }
  return owners;
}

/// Names a wrong choice of parts, if that is what it is.
bool diagnose_parts(CheckContext& check) {
  if (whole_weights_everywhere(check)) {
    check.diagnose("whole_weights");
  } else if (up_divided_by_columns(check)) {
    check.diagnose("gelu_of_partial_sums");
  } else {
    const std::vector<int> owners = owners_of_middle(check);
    const bool has_gaps = std::find(owners.begin(), owners.end(), 0) != owners.end();
    const bool overlaps = std::any_of(owners.begin(), owners.end(), [](int count) { return count > 1; });
    if (has_gaps) check.diagnose("part_missing");
    if (!has_gaps && overlaps) check.diagnose("part_twice");
    return has_gaps || overlaps;
  }
  return true;
}

/// All ranks' parts of a gradient, added up, as every rank holds them that has all-reduced its own.
std::vector<double> parts_added_up(const Mlp& mlp, const std::vector<double>& right, const Gradient& gradient) {
  const bool by_rows = gradient.layer == 0;
  const auto cols = static_cast<std::size_t>(right.size()) / static_cast<std::size_t>(by_rows ? mlp.middle : mlp.width);
  const auto part = static_cast<std::size_t>(mlp.part());
  std::vector<double> sum(right.size());
  for (std::size_t i = 0; i < right.size(); ++i) {
    const std::size_t row = i / cols, col = i % cols, place = by_rows ? row : col;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(mlp.ranks); ++rank) {
      const std::size_t other = place % part + rank * part;
      sum[i] += right[by_rows ? other * cols + col : row * cols + other];
    }
  }
  return sum;
}

/// Some ranks have all of it, and the others nothing.
bool on_some_ranks_only(const Layers& found, const std::vector<double>& right) {
  std::size_t whole = 0, none = 0;
  for (const std::vector<double>& each : found) {
    whole += alike(each, right) ? 1 : 0;
    none += constant_ratio({each}, {right}) == 0 ? 1 : 0;
  }
  return whole > 0 && none > 0 && whole + none == found.size();
}

void diagnose_gradient(CheckContext& check, const Gradient& gradient, const std::vector<double>& right) {
  if (diagnose_parts(check)) return;
  const Layers found = by_rank(check, gradient.name);
  if (found.empty() || found[0].size() != right.size()) return;
  const Mlp mlp(check.kase());
  const std::optional<double> ratio = constant_ratio({found[0]}, {right});
  const bool whole_on_every_rank = gradient.layer == 1 && gradient.entry == std::string("bias");
  if (whole_on_every_rank && on_some_ranks_only(found, right)) return check.diagnose("bias_gradient_on_some_ranks");
  if (ratio == 0) return check.diagnose("gradient_missing");
  if (whole_on_every_rank && near(ratio, check.ranks())) return check.diagnose("bias_gradient_reduced");
  if (whole_on_every_rank || mlp.middle % mlp.ranks != 0) return;
  if (alike(found[0], parts_added_up(mlp, right, gradient))) check.diagnose("weight_gradient_reduced");
}

Formula<Bytes> wire_bytes(const Mlp& mlp, int rank) {
  const Count elements = mlp.tokens * mlp.width;
  const Formula<Count> share = share_of_others(named("t", mlp.ranks)), reduces = named("2 all-reduces", 2);
  return simplest(reduces * (2 * share * named("4 s b h", Bytes(kBytesOfF32 * elements))),
                  reduces * named("what one sends", Bytes(all_reduce_bytes(elements, mlp.ranks, rank))));
}

/// What is needed of a rank: two all-reduces of (s, b, h).
std::vector<Call> needed_calls(const Mlp& mlp, int rank) {
  const Call sum{Collective::all_reduce, Bytes(all_reduce_bytes(mlp.tokens * mlp.width, mlp.ranks, rank))};
  return {sum, sum};
}

/// Of a rank that has so much of the middle.
Formula<Bytes> peak_bytes(const Mlp& mlp, Count part) {
  const Bytes x(kBytesOfF32 * mlp.tokens * mlp.width);
  const Bytes own(kBytesOfF32 * (part * (2 * mlp.width + 1) + mlp.width));
  const Formula<Bytes> given = named("x", x) + named("y", x) + named("grad_y", x);
  const Formula<Bytes> z = named("z", Bytes(kBytesOfF32 * mlp.tokens * part));
  return 2 * named("part of the weights", own) + given + max(4 * z, 3 * z + named("grad_x", x));
}

void diagnose_calls(CheckContext& check, int rank) {
  const Mlp mlp(check.kase());
  if (whole_weights_everywhere(check)) return check.diagnose("whole_weights");
  const front::Counters& counters = check.counters(rank);
  const std::int64_t sums = counters.calls(Collective::all_reduce);
  if (largest_sent(check, rank, Collective::all_reduce) == all_reduce_bytes(mlp.tokens * mlp.middle, mlp.ranks, rank) &&
      mlp.middle != mlp.width) {
    return check.diagnose("middle_reduced");
  }
  if (counters.calls(Collective::all_gather) > 0 && counters.calls(Collective::reduce_scatter) == 0) {
    return check.diagnose("gathered");
  }
  if (sums < 2) return check.diagnose("sum_without_all_reduce");
  if (sums == 2) return;
  const bool in_pieces = difference_of_calls(check, rank, needed_calls(mlp, rank)).is_in_pieces();
  check.diagnose(in_pieces ? "sum_in_pieces" : "reduced_too_often");
}

/// The two sums that are needed come when their summands are there: behind the two products of forward, and behind
/// those that make grad_z and grad_x. The first call of as large a sum that comes at another time; else nowhere.
Place place_of_surplus_sum(const CheckContext& check, int rank) {
  constexpr int kOfForward = 2, kOfInputGradient = 2;
  const Bytes sum = needed_calls(Mlp(check.kase()), rank).front().sent;
  int products = 0, next = kOfForward;  // how many there are, and how many the next needed sum waits for
  for (const front::Event& event : check.trace(rank).events) {
    const std::string& name = check.trace(rank).names.at(event.name);
    if (event.kind == EventKind::operation && name.starts_with("matmul")) ++products;
    if (event.kind != EventKind::collective || name != "all_reduce" || event.bytes != sum) continue;
    if (products < next) return place_of(event);
    next = next == kOfForward ? kOfForward + kOfInputGradient : std::numeric_limits<int>::max();
  }
  return {};
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Mlp mlp(check.kase());
  const PartReference right = reference_of(check.kase());
  if (!check.equal("y", right.output, right.output_tolerance)) {
    if (!diagnose_parts(check))
      diagnose_sum_and_bias(check, "y", right.output, bias_of_down(check.kase()), "output_partial");
    return;
  }
  if (!check.equal("grad_x", right.grad_input, right.grad_input_tolerance)) {
    const Layers found = by_rank(check, "grad_x");
    if (!found.empty() && alike(found[0], grad_x_with_gelu_of_output(check.kase()))) check.diagnose("gelu_of_output");
    diagnose_sum(check, "grad_x", right.grad_input, "input_gradient_partial");
    return;
  }
  for (const Gradient& each : kGradients) {
    const Range range = mlp.entry(each.layer, each.entry);
    const std::vector<double> expected = slice(right.grads, range);
    if (check.equal(each.name, expected, slice(right.grads_tolerance, range))) continue;
    return diagnose_gradient(check, each, expected);
  }
}

SHARDLINGS_CHECK(communication) {
  const Mlp mlp(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Place surplus = place_of_surplus_sum(check, rank);
    const Place where = surplus.line > 0 ? surplus : place_of_unexpected(check, rank, needed_calls(mlp, rank));
    const std::int64_t calls = check.counters(rank).calls(Collective::all_reduce);
    const Formula<Count> reduces = named("one in forward", 1) + named("one in backward", 1);
    const bool held =
        check.exactly("sent by " + check.name_of(rank), check.counters(rank).bytes_sent(), wire_bytes(mlp, rank),
                      where) &&
        (mlp.ranks == 1 || check.exactly("all-reduces of " + check.name_of(rank), calls, reduces, "calls", where));
    if (!held) return diagnose_calls(check, rank);
  }
}

SHARDLINGS_CHECK(memory) {
  const Mlp mlp(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Count part = part_of_rank(check, rank);
    const Bytes weights(2 * kBytesOfF32 * (part * (2 * mlp.width + 1) + mlp.width));
    if (check.peak_at_most(rank, peak_bytes(mlp, part))) continue;
    if (whole_weights_everywhere(check)) return check.diagnose("whole_weights");
    if (check.counters(rank).calls(Collective::all_gather) > 0) return check.diagnose("gathered");
    const front::KindBytes& kinds = check.counters(rank).peak_by_kind;
    const Bytes states =
        kinds[static_cast<std::size_t>(Kind::parameter)] + kinds[static_cast<std::size_t>(Kind::gradient)];
    if (states <= weights && !up_divided_by_columns(check)) check.diagnose("temporary_kept");
    return;
  }
}

SHARDLINGS_CHECK(work) {
  const Mlp mlp(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const Count part = part_of_rank(check, rank);
    const Formula<Count> each = named("s b", mlp.tokens) * named("h", mlp.width) * named("f/t", part);
    if (check.at_most("matrix products of " + check.name_of(rank), product_flops(check, rank),
                      named("6 products", 6) * each * Formula<Flops>(Flops(2)), place_of_product(check, rank, 6))) {
      continue;
    }
    if (up_divided_by_columns(check)) return;  // the communication says what is wrong
    if (whole_weights_everywhere(check)) return check.diagnose("whole_weights");
    if (num_products(check, rank) > 6) check.diagnose("computed_twice");
    return;
  }
}

/// However the middle is divided.
SHARDLINGS_LEAST_OF_PRODUCTS(check) {
  const Mlp mlp(check.kase());
  const Formula<Count> each = named("s b", mlp.tokens) * named("h", mlp.width) * named("f", mlp.middle);
  return named("6 products", 6) * each * Formula<Flops>(Flops(2));
}

/// The GELU may be made once more in backward instead of being kept. Whose part of the middle is too large is told so
/// by the checks of memory and work.
SHARDLINGS_MOST_OF_PRODUCTS(check, rank) {
  const Count middle = Mlp(check.kase()).tokens * chosen(check, rank, 0).size();
  return {{Product::gelu, Flops((2 * model::kGeluFlops + model::kGeluBackwardFlops) * middle)}};
}

SHARDLINGS_PREDICTIONS("4 ranks") {
  const Case& kase = predict.kase();
  const Mlp mlp(kase);
  const Formula<Bytes> x = named("4 s b h", Bytes(kBytesOfF32 * mlp.tokens * mlp.width));
  const Formula<Bytes> z = named("z", Bytes(kBytesOfF32 * mlp.tokens * mlp.part()));
  const Formula<Bytes> peak = peak_bytes(mlp, mlp.part());
  predict.sent("sent", 0, "How many bytes does each rank send, forward and backward together?", wire_bytes(mlp, 0))
      .unlike(wire_bytes(mlp, 0) / 2, "That is forward alone: backward sums grad_x.")
      .unlike(4 * x, "Of t parts a rank sends t-1 in each of the two rounds of an all-reduce: it keeps one.")
      .unlike(wire_bytes(mlp, 0) + wire_bytes(mlp, 0) / 2,
              "Nothing is summed between the two products: the columns of one are the rows of the other.");
  predict
      .peak("peak", 0,
            "How many bytes of device memory are alive on a rank at the worst moment, if nothing is computed again?",
            peak)
      .unlike(peak - z,
              "While grad_z is made there are four tensors of the middle: z, a, the gradient of a, and grad_z itself. "
              "Nobody reads a any more, but it belongs to the caller, so backward cannot free it.")
      .unlike(peak - x, "x, y and grad_y are all there, whole.");
}

SHARDLINGS_PREDICTIONS_AFTER("4 ranks") {
  const auto ranks = [](double all_reduces) {
    return named("t", Count(std::llround(1 + 12.0 / all_reduces * 8192 * 450e9 / 990e12)));
  };
  predict.answer(1)
      .count(
          "t",
          "h = 8192, f = 4h, bf16, 990 TFLOP/s and 450 GB/s: at which t do products and messages of a layer take the "
          "same time, forward and backward together? (The nearest whole number.)",
          ranks(2), "ranks")
      .unlike(ranks(2) - 1, "That is t - 1, the parts that a rank sends.")
      .unlike(ranks(1), "There are two all-reduces, one in forward and one in backward.")
      .unlike(ranks(4), "Two all-reduces of 2 (t-1)/t of (s, b, h) each, in bf16: 8 (t-1)/t s b h bytes.");
}
