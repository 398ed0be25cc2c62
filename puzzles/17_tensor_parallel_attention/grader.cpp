// Judges a GPT divided over ranks: numbers of one device, sums of activations on the wire and nothing else.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/parts.h"
#include "case/data.h"
#include "grading/formulas/beyond_plan.h"
#include "grading/formulas/divided_gpt.h"
#include "grading/formulas/divided_head.h"
#include "grading/formulas/tensor_parallel.h"
#include "grading/judge/predictions.h"
#include "grading/reference/part_reference.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::EventKind;

namespace {

/// From the entry `first` to the entry `last` of a layer, which lie one behind the other.
Range entries(const model::LayerStructure& layer, const char* first, const char* last) {
  return {model::entry_of(layer, first).range.begin, model::entry_of(layer, last).range.end};
}

/// A gradient as it is published, and its place in the layer's flat gradient.
struct Named {
  std::string name;
  Range range;
};

/// In the order in which backward makes them. Queries, keys and values are one weight and one bias.
std::vector<Named> gradients_of(const model::LayerStructure& layer) {
  using Type = model::LayerStructure::Type;
  const auto one = [&](const char* entry) { return Named{entry, model::entry_of(layer, entry).range}; };
  if (layer.type == Type::embedding) return {one("position"), one("token")};
  if (layer.type == Type::head) {
    return {{"head.weight", model::entry_of(layer, "weight").range}, one("norm.weight"), one("norm.bias")};
  }
  std::vector<Named> named;
  for (const char* entry :
       {"fc2.weight", "fc2.bias", "fc.weight", "fc.bias", "ln2.weight", "ln2.bias", "proj.weight", "proj.bias"}) {
    named.push_back(one(entry));
  }
  named.push_back({"qkv.weight", entries(layer, "query.weight", "value.weight")});
  named.push_back({"qkv.bias", entries(layer, "query.bias", "value.bias")});
  for (const char* entry : {"ln1.weight", "ln1.bias"}) named.push_back(one(entry));
  return named;
}

/// Only the larger numbers of all ranks' rows, where all but one have zeros.
std::vector<double> largest_of_rows(std::vector<double> rows) {
  for (double& value : rows) value = std::max(value, 0.0);
  return rows;
}

/// Rows of qkv that a rank holds, as far as they were published.
std::vector<Range> chosen_rows(const CheckContext& check, int rank) {
  const Output* output = check.output("rows of qkv");
  if (output == nullptr) return {};
  constexpr std::size_t kNumbers = 7;
  const float* numbers = output->values.data() + static_cast<std::size_t>(rank) * kNumbers;
  std::vector<Range> rows;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, static_cast<std::size_t>(numbers[0])); ++i) {
    rows.push_back({static_cast<Count>(numbers[1 + 2 * i]), static_cast<Count>(numbers[2 + 2 * i])});
  }
  return rows;
}

/// Rank 0 holds the rows of one head behind those of another, each with queries, keys and values.
bool rows_by_head(const CheckContext& check) {
  const DividedGpt gpt(check.kase());
  const std::vector<Range> rows = chosen_rows(check, 0);
  return rows.size() == 3 && rows[0].size() < gpt.width_part() && rows[1].begin == rows[0].begin + gpt.width &&
         rows[2].begin == rows[1].begin + gpt.width;
}

/// Names a wrong choice of rows, if that is what it is.
bool diagnose_rows(CheckContext& check) {
  const DividedGpt gpt(check.kase());
  if (rows_by_head(check)) check.diagnose("qkv_by_head");
  if (rows_by_head(check) || gpt.ranks == 1) return rows_by_head(check);
  bool contiguous = true, whole = true;
  for (int rank = 0; rank < gpt.ranks; ++rank) {
    const std::vector<Range> rows = chosen_rows(check, rank);
    if (rows.empty()) return false;
    Count count = rows.front().size();
    for (std::size_t i = 1; i < rows.size(); ++i) {
      count += rows[i].size();
      contiguous = contiguous && rows[i].begin == rows[i - 1].end;
    }
    whole = whole && count == 3 * gpt.width;
  }
  if (whole) check.diagnose("all_heads_everywhere");
  if (!whole && contiguous) check.diagnose("qkv_contiguous");
  return whole || contiguous;
}

void diagnose_attention(CheckContext& check, const std::vector<double>& right) {
  const Case& kase = check.kase();
  const DividedGpt gpt(kase);
  if (diagnose_rows(check)) return;
  const std::string name = "attention of block 1";
  const Layers found = by_rank(check, name);
  if (gpt.ranks > 1 && !found.empty()) {
    const auto cut = [&](auto heads_of) { return alike(found[0], attention_cut(kase, heads_of)); };
    if (cut([&](Count) { return gpt.heads; })) return check.diagnose("heads_of_all");
    if (cut([&](Count) { return gpt.heads / gpt.ranks; })) return check.diagnose("heads_rounded_down");
  }
  const std::vector<double> bias =
      slice(weights_in_double(kase, 1), model::entry_of(gpt.structure.layers[1], "proj.bias").range);
  diagnose_sum_and_bias(check, name, right, bias, "output_partial");
}

DividedHead head_on(const Case& kase, std::vector<double> x) {
  const DividedGpt gpt(kase);
  const Range range = model::entry_of(gpt.last(), "weight").range;
  return {std::move(x), slice(weights_in_double(kase, gpt.last_number()), range), micro_of(kase, 0, 0).targets,
          gpt.width, gpt.ranks};
}

/// The head at work on what it was given; nothing if that was not published.
std::optional<DividedHead> head_of(const CheckContext& check) {
  const Layers inputs = by_rank(check, "input of the head");
  if (inputs.empty()) return std::nullopt;
  return head_on(check.kase(), inputs.front());
}

void diagnose_loss(CheckContext& check, double right) {
  const Layers found = by_rank(check, "loss");
  const std::optional<DividedHead> head = head_of(check);
  if (found.empty() || !head) return;
  const double t = check.ranks();
  const HeadMistake mistakes[] = {{.diagnosis = "max_not_reduced", .own_top = true},
                                  {.diagnosis = "sum_not_reduced", .own_sum = true},
                                  {.diagnosis = "target_not_reduced", .own_hit = true},
                                  {.diagnosis = "ids_not_shifted", .begin = TakenBegin::none},
                                  {.diagnosis = "parts_of_one_length", .begin = TakenBegin::own_length_times_rank},
                                  {.diagnosis = "parts_of_one_length", .begin = TakenBegin::shortest_times_rank},
                                  {.diagnosis = "target_looked_up_late", .late_hit = true},
                                  {.diagnosis = "averaged", .sum_factor = 1 / t},
                                  {.diagnosis = "reduced_twice", .sum_factor = t}};
  for (const HeadMistake& mistake : mistakes) {
    bool explains = t > 1;
    for (int rank = 0; rank < check.ranks(); ++rank) {
      const double expected = head->loss(mistake, rank);
      explains = explains && std::abs(found[static_cast<std::size_t>(rank)][0] - expected) <= 1e-4 * std::abs(expected);
    }
    if (explains) return check.diagnose(mistake.diagnosis);
  }
  const double ratio = found[0][0] / right;
  if (near(ratio, static_cast<double>(DividedGpt(check.kase()).tokens))) return check.diagnose("loss_not_divided");
  if (t > 1 && near(ratio, 1 / t)) return check.diagnose("averaged");
  if (t > 1 && near(ratio, t)) check.diagnose("reduced_twice");
}

void diagnose_head_gradient(CheckContext& check, const std::vector<double>& found, const std::vector<double>& right) {
  const std::optional<double> ratio = constant_ratio({found}, {right});
  if (ratio == 0) return check.diagnose("head_gradient_zero");
  if (check.ranks() > 1 && near(ratio, 1.0 / check.ranks())) return check.diagnose("averaged");
  if (near(ratio, static_cast<double>(DividedGpt(check.kase()).tokens))) return check.diagnose("loss_not_divided");
  const std::optional<DividedHead> head = head_of(check);
  if (!head) return;
  if (alike(found, head->weight_gradient(0, Denominator::sum))) return check.diagnose("target_not_subtracted");
  if (alike(found, head->weight_gradient(1, Denominator::own_sum))) return check.diagnose("sum_not_reduced");
  if (alike(found, head->weight_gradient(1, Denominator::nothing))) check.diagnose("not_normalised");
}

/// The loss of the head alone on logits so large that only the largest of all, subtracted, keeps them finite.
/// Products and exponents are those of the model's loss, but so many times as large: so is the tolerance.
void check_large_logits(CheckContext& check) {
  const Case& kase = check.kase();
  const DividedGpt gpt(kase);
  const auto factor = static_cast<double>(kase.integer("enlarged"));
  const std::vector<float> x = normals_of(kase, 0, gpt.tokens * gpt.width);
  const double right = 1 + head_on(kase, scaled({{x.begin(), x.end()}}, factor)[0]).loss({"right"}, 0);  // it adds
  if (check.equal_scalar("1 + loss of large logits", right, factor * check.reference().loss_tolerance)) return;
  const Layers found = by_rank(check, "1 + loss of large logits");
  if (found.empty()) return;
  if (!std::isfinite(found[0][0])) return check.diagnose("largest_not_subtracted");
  const double without = right - 1;  // what was there before is gone
  if (std::abs(found[0][0] - without) <= factor * check.reference().loss_tolerance) check.diagnose("loss_written_over");
}

bool ranks_differ(const CheckContext& check, const std::string& name) {
  const Layers replicas = by_rank(check, name);
  return !replicas.empty() && !alike(replicas.front(), replicas.back());
}

void diagnose_gradient(CheckContext& check, const std::string& name, const std::string& output,
                       const std::vector<double>& right) {
  if (diagnose_rows(check)) return;
  if (ranks_differ(check, "gradient behind the head")) return check.diagnose("head_gradient_partial");
  if (ranks_differ(check, "gradient behind attention")) return check.diagnose("input_gradient_partial");
  const Layers found = by_rank(check, output);
  if (found.empty() || found[0].size() != right.size()) return;
  if (name == "head.weight") return diagnose_head_gradient(check, found[0], right);
  const std::optional<double> ratio = constant_ratio({found[0]}, {right});
  if (ratio == 0) return check.diagnose("gradient_missing");
  if (check.ranks() == 1) return;
  if (near(ratio, check.ranks())) check.diagnose(name == "proj.bias" ? "bias_gradient_reduced" : "reduced_twice");
  if (near(ratio, 1.0 / check.ranks())) check.diagnose("averaged");
}

/// The rank's operations from the last norm forward to the first one backward: those of the head.
std::vector<front::Event> operations_of_head(const CheckContext& check, int rank) {
  const std::vector<front::Event> events = check.events(rank, EventKind::operation);
  const auto is = [&](const char* name) {
    return [&check, rank, name](const front::Event& event) { return check.trace(rank).names.at(event.name) == name; };
  };
  const auto last = std::find_if(events.rbegin(), events.rend(), is("layer_norm"));
  if (last == events.rend()) return {};
  return {last.base() - 1, std::find_if(last.base(), events.end(), is("layer_norm_backward"))};
}

/// What is alive when the last block has all that it keeps, and nothing of the head is there yet.
Bytes live_at_last_gelu(const CheckContext& check, int rank) {
  Bytes live;
  for (const front::Event& event : check.events(rank, EventKind::operation)) {
    if (check.trace(rank).names.at(event.name) == "gelu") live = event.live_after;
  }
  return live;
}

void diagnose_memory(CheckContext& check, int rank) {
  if (diagnose_rows(check)) return;
  const DividedGpt gpt(check.kase(), rank);
  const DividedPeak peak = divided_peak(gpt);
  if (!gpt.with_vocabulary) {
    if (live_at_last_gelu(check, rank) > peak.kept) check.diagnose("kept_too_much");
    return;
  }
  const std::vector<front::Event> head = operations_of_head(check, rank);
  if (head.empty()) return;
  if (head.front().live_after > peak.before.value()) return check.diagnose("kept_too_much");
  const Bytes most = peak.before.value() + peak.at_head.value();
  if (std::any_of(head.begin(), head.end(), [&](const front::Event& event) { return event.live_after > most; })) {
    check.diagnose("logits_copied");
  }
}

/// Where something is multiplied once more than needed.
Place place_of_surplus_work(const CheckContext& check, const DividedGpt& gpt) {
  if (num_calls(check, gpt.rank, "attention") > gpt.divided_blocks()) {
    return place_of_call(check, gpt.rank, "attention", gpt.divided_blocks());
  }
  return place_of_product(check, gpt.rank, divided_products(gpt));
}

/// So few bytes are no piece of anything: what is summed once more is a number, such as the loss.
bool sums_one_number(const CheckContext& check, int rank) {
  const auto events = check.events(rank, EventKind::collective);
  return std::any_of(events.begin(), events.end(), [](const front::Event& event) {
    return event.bytes > Bytes(0) && event.bytes <= Bytes(2 * kBytesOfF32);
  });
}

void diagnose_calls(CheckContext& check, const DividedGpt& gpt) {
  const std::int64_t logits = all_gather_bytes(gpt.tokens * gpt.vocabulary, gpt.ranks, gpt.rank);
  const std::int64_t activations = all_reduce_bytes(gpt.tokens * gpt.width, gpt.ranks, gpt.rank);
  for (const Collective kind : {Collective::all_gather, Collective::all_reduce, Collective::broadcast}) {
    if (gpt.with_vocabulary && largest_sent(check, gpt.rank, kind) > std::max(activations, logits - 1)) {
      return check.diagnose("logits_on_the_wire");
    }
  }
  if (num_collectives(check, gpt.rank) <= divided_sums(gpt).value()) return;
  if (check.counters(gpt.rank).calls(Collective::all_reduce) < divided_sums(gpt).value()) {
    return check.diagnose("sum_without_all_reduce");
  }
  const bool in_pieces =
      difference_of_calls(check, gpt.rank, divided_calls(gpt)).is_in_pieces() && !sums_one_number(check, gpt.rank);
  check.diagnose(in_pieces ? "sum_in_pieces" : "reduced_too_often");
}

/// What `embed` returns is right.
bool embeds(CheckContext& check) {
  const Case& kase = check.kase();
  const std::vector<double> rows = embedded_rows(kase, TakenBegin::right);
  if (check.equal("embedded", rows, 0.0)) return true;
  const Layers found = by_rank(check, "embedded");
  if (check.ranks() > 1 && !found.empty()) {
    const auto is = [&](const std::vector<double>& mistaken) { return alike(found[0], mistaken); };
    const char* cause = is(embedded_rows(kase, TakenBegin::none))                    ? "ids_not_shifted"
                        : is(embedded_rows(kase, TakenBegin::own_length_times_rank)) ? "parts_of_one_length"
                        : is(embedded_rows(kase, TakenBegin::shortest_times_rank))   ? "parts_of_one_length"
                        : is(largest_of_rows(rows))                                  ? "largest_taken"
                                                                                     : nullptr;
    if (cause != nullptr) {
      check.diagnose(cause);
      return false;
    }
  }
  diagnose_sum(check, "embedded", rows, "embedding_partial");
  return false;
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const DividedGpt gpt(check.kase());
  if (gpt.with_vocabulary && !embeds(check)) return;
  if (gpt.with_attention) {
    const PartReference attention = attention_of_block_1(check.kase());
    if (!check.equal("attention of block 1", attention.output, attention.output_tolerance)) {
      return diagnose_attention(check, attention.output);
    }
  }
  const Reference& expected = check.reference();
  if (!check.equal_scalar("loss", expected.loss, expected.loss_tolerance)) return diagnose_loss(check, expected.loss);
  for (std::size_t l = gpt.structure.layers.size(); l-- > 0;) {
    for (const Named& gradient : gradients_of(gpt.structure.layers[l])) {
      const std::string output = fmt::format("layer {}: gradient of {}", l, gradient.name);
      const std::vector<double> right = slice(expected.grads[l], gradient.range);
      if (check.equal(output, right, slice(expected.grads_tolerance[l], gradient.range))) continue;
      return diagnose_gradient(check, gradient.name, output, right);
    }
  }
  if (gpt.with_vocabulary) check_large_logits(check);
}

SHARDLINGS_CHECK(communication) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const DividedGpt gpt(check.kase(), rank);
    const Place where = place_of_unexpected(check, rank, divided_calls(gpt));
    bool held = check.at_most("sent by " + check.name_of(rank), check.counters(rank).bytes_sent(),
                              divided_wire_bytes(gpt), where);
    if (held && gpt.ranks > 1) {
      held = check.at_most("collectives of " + check.name_of(rank), num_collectives(check, rank), divided_sums(gpt),
                           "calls", where);
    }
    if (!held) return diagnose_calls(check, gpt);
  }
}

SHARDLINGS_CHECK(memory) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const DividedPeak peak = divided_peak(DividedGpt(check.kase(), rank));
    if (!check.peak_at_most(rank, peak.before + peak.at_head)) return diagnose_memory(check, rank);
  }
  if (!DividedGpt(check.kase()).with_attention) return;
  if (!check.equal("elements left in kept", std::vector<double>(static_cast<std::size_t>(check.ranks())), 0.0)) {
    check.diagnose("kept_left");
  }
}

SHARDLINGS_CHECK(work) {
  for (int rank = 0; rank < check.ranks(); ++rank) {
    const DividedGpt gpt(check.kase(), rank);
    if (check.at_most("matrix products of " + check.name_of(rank), product_flops(check, rank), divided_flops(gpt),
                      place_of_surplus_work(check, gpt))) {
      continue;
    }
    if (diagnose_rows(check)) return;
    if (num_calls(check, rank, "attention") > gpt.divided_blocks()) return check.diagnose("attention_computed_twice");
    if (num_products(check, rank) > divided_products(gpt)) check.diagnose("computed_twice");
    return;
  }
}

SHARDLINGS_PREDICTIONS("4 ranks") {
  const DividedGpt gpt(predict.kase());
  const DividedPeak peak = divided_peak(gpt);
  const Formula<Bytes> logits = named("logits", Bytes(kBytesOfF32 * gpt.tokens * gpt.vocabulary));
  const Formula<Count> t = named("t", gpt.ranks);
  predict.sent("sent", 0, "How many bytes does each rank send, forward and backward together?", divided_wire_bytes(gpt))
      .unlike(divided_wire_bytes(gpt) + share_of_others(t) * logits,
              "The logits are gathered nowhere: three numbers for each position do in their place.")
      .unlike(divided_wire_bytes(gpt) / 2, "An all-reduce has two halves, and backward sums as well.");
  predict.number("logits", "How many bytes do the logits take on a rank?", logits / t)
      .unlike(logits, "Those are all of them. A rank has its part of the vocabulary.")
      .unlike(logits / t / 2, "They are f32: 4 bytes each.");
  predict
      .peak("peak", 0, "How many bytes of device memory are alive on a rank at the worst moment?",
            peak.before + peak.at_head)
      .unlike(peak.before + peak.at_head + logits / t,
              "The gradient takes the logits' memory: one tensor of that size is enough.")
      .unlike(peak.before, "The logits and the gradient of the head's input come on top.");
}
