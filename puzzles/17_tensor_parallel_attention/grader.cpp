// Judges a GPT divided over ranks: numbers of one device, sums of activations on the wire and nothing else.

#include "grading/judge/grader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/parts.h"
#include "case/data.h"
#include "grading/formulas/divided_head.h"
#include "grading/formulas/tensor_parallel.h"
#include "grading/reference/part_reference.h"

using namespace shardlings;
using namespace shardlings::grader;
using front::Collective;
using front::EventKind;

namespace {

/// The case's extents. Parts are those of the rank that has most.
struct Gpt {
  explicit Gpt(const Case& kase)
      : structure(model::make_structure(kase.model)),
        ranks(kase.ranks),
        blocks(kase.model.layers),
        heads(kase.model.heads),
        batch(kase.batch),
        sequence(kase.model.sequence),
        tokens(sequence * batch),
        width(kase.model.hidden),
        vocabulary(kase.model.outputs) {}
  Count part(Count n) const { return part_of(n, ranks, 0).size(); }
  Count width_part() const { return part(heads) * (width / heads); }
  Count middle_part() const { return part(4 * width); }
  const model::LayerStructure& last() const { return structure.layers.back(); }
  int last_number() const { return static_cast<int>(structure.layers.size()) - 1; }

  model::ModelStructure structure;
  int ranks;
  Count blocks, heads, batch, sequence, tokens, width, vocabulary;
};

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

std::vector<double> weights_in_double(const Case& kase, int layer) {
  const std::vector<float> weights = weights_of(kase, layer);
  return {weights.begin(), weights.end()};
}

/// What embed must return: no position is in it yet.
std::vector<double> embedded(const Case& kase, Count shift_of_rank(const Gpt&, int)) {
  const Gpt gpt(kase);
  const std::vector<double> table = weights_in_double(kase, 0);
  const MicroData data = micro_of(kase, 0, 0);
  std::vector<double> rows(static_cast<std::size_t>(gpt.tokens * gpt.width));
  for (Count token = 0; token < gpt.tokens; ++token) {
    const Count id = data.ids[static_cast<std::size_t>(token)];
    for (int rank = 0; rank < gpt.ranks; ++rank) {
      const Range mine = part_of(gpt.vocabulary, gpt.ranks, rank);
      const Count row = id - shift_of_rank(gpt, rank);
      if (row < 0 || row >= mine.size()) continue;
      for (Count k = 0; k < gpt.width; ++k) {
        rows[static_cast<std::size_t>(token * gpt.width + k)] +=
            table[static_cast<std::size_t>((mine.begin + row) * gpt.width + k)];
      }
    }
  }
  return rows;
}

Count begin_of_rank(const Gpt& gpt, int rank) {
  return part_of(gpt.vocabulary, gpt.ranks, rank).begin;
}

/// Every rank takes ids for rows of its own part.
Count no_shift(const Gpt&, int) {
  return 0;
}

/// What attention of the first block returns, before the residual, if the width is that of `heads` heads.
PartReference attention_of(const Case& kase, Count heads) {
  const Gpt gpt(kase);
  PartInputs inputs;
  for (int layer = 0; layer < 2; ++layer) {
    const std::vector<float> weights = weights_of(kase, layer);
    inputs.weights.insert(inputs.weights.end(), weights.begin(), weights.end());
  }
  inputs.grad_output.resize(static_cast<std::size_t>(gpt.tokens * gpt.width));
  const model::LayerStructure &table = gpt.structure.layers[0], &block = gpt.structure.layers[1];
  const auto at = [&](const char* name) { return block.range.begin + model::entry_of(block, name).range.begin; };
  const MicroData data = micro_of(kase, 0, 0);
  return part_reference(inputs, [&]<class Real>() {
    reference::Parts<Real> parts;
    parts.push_back(reference::make_embedding<Real>(data.ids, gpt.batch, gpt.width,
                                                    model::entry_of(table, "token").range.begin,
                                                    model::entry_of(table, "position").range.begin));
    parts.push_back(reference::make_norm<Real>(gpt.width, at("ln1.weight"), at("ln1.bias")));
    parts.push_back(reference::make_linear<Real>(gpt.width, 3 * gpt.width, at("query.weight"), at("query.bias")));
    parts.push_back(reference::make_attention<Real>(gpt.batch, gpt.width, static_cast<int>(heads)));
    parts.push_back(reference::make_linear<Real>(gpt.width, gpt.width, at("proj.weight"), at("proj.bias")));
    return reference::make_sequence<Real>(std::move(parts));
  });
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
  const Gpt gpt(check.kase());
  const std::vector<Range> rows = chosen_rows(check, 0);
  return rows.size() == 3 && rows[0].size() < gpt.width_part() && rows[1].begin == rows[0].begin + gpt.width &&
         rows[2].begin == rows[1].begin + gpt.width;
}

/// Names a wrong choice of rows, if that is what it is.
bool diagnose_rows(CheckContext& check) {
  const Gpt gpt(check.kase());
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
  const Gpt gpt(kase);
  if (diagnose_rows(check)) return;
  const std::string name = "attention of block 1";
  const Layers found = by_rank(check, name);
  const Count all_on_each = gpt.heads * gpt.ranks;  // heads that cut a rank's part into as many as the whole has
  if (gpt.ranks > 1 && gpt.width % all_on_each == 0 && !found.empty() &&
      alike(found[0], attention_of(kase, all_on_each).output)) {
    return check.diagnose("heads_of_all");
  }
  const std::vector<double> bias =
      slice(weights_in_double(kase, 1), model::entry_of(gpt.structure.layers[1], "proj.bias").range);
  diagnose_sum(check, name, right, bias, "output_partial");
}

DividedHead head_on(const Case& kase, std::vector<double> x) {
  const Gpt gpt(kase);
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
  const HeadMistake mistakes[] = {
      {.diagnosis = "max_not_reduced", .own_top = true},        {.diagnosis = "sum_not_reduced", .own_sum = true},
      {.diagnosis = "target_not_reduced", .own_hit = true},     {.diagnosis = "ids_not_shifted", .unshifted = true},
      {.diagnosis = "target_looked_up_late", .late_hit = true}, {.diagnosis = "averaged", .sum_factor = 1 / t},
      {.diagnosis = "reduced_twice", .sum_factor = t}};
  for (const HeadMistake& mistake : mistakes) {
    bool explains = true;
    for (int rank = 0; rank < check.ranks(); ++rank) {
      const double expected = head->loss(mistake, rank);
      explains = explains && std::abs(found[static_cast<std::size_t>(rank)][0] - expected) <= 1e-4 * std::abs(expected);
    }
    if (explains) return check.diagnose(mistake.diagnosis);
  }
  if (near(found[0][0] / right, static_cast<double>(Gpt(check.kase()).tokens))) check.diagnose("loss_not_divided");
}

void diagnose_head_gradient(CheckContext& check, const std::vector<double>& found, const std::vector<double>& right) {
  const std::optional<double> ratio = constant_ratio({found}, {right});
  if (ratio == 0) return check.diagnose("gradient_missing");
  if (near(ratio, 1.0 / check.ranks())) return check.diagnose("averaged");
  if (near(ratio, static_cast<double>(Gpt(check.kase()).tokens))) return check.diagnose("loss_not_divided");
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
  const Gpt gpt(kase);
  const auto factor = static_cast<double>(kase.integer("enlarged"));
  const std::vector<float> x = normals_of(kase, 0, gpt.tokens * gpt.width);
  const double right = head_on(kase, scaled({{x.begin(), x.end()}}, factor)[0]).loss({"right"}, 0);
  if (check.equal_scalar("loss of large logits", right, factor * check.reference().loss_tolerance)) return;
  const Layers found = by_rank(check, "loss of large logits");
  if (!found.empty() && !std::isfinite(found[0][0])) check.diagnose("largest_not_subtracted");
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
  if (near(ratio, check.ranks())) check.diagnose(name == "proj.bias" ? "bias_gradient_reduced" : "reduced_twice");
  if (near(ratio, 1.0 / check.ranks())) check.diagnose("averaged");
}

/// All weights of a rank: large ones in parts, vectors of h whole.
Count weights_of_rank(const Gpt& gpt) {
  const Count block = gpt.width_part() * (4 * gpt.width + 3) + gpt.middle_part() * (2 * gpt.width + 1) + 6 * gpt.width;
  return 2 * gpt.part(gpt.vocabulary) * gpt.width + gpt.sequence * gpt.width + gpt.blocks * block + 2 * gpt.width;
}

/// Bytes of what a block keeps from forward to backward, its input included.
std::int64_t kept_bytes(const Gpt& gpt) {
  const Count statistics = 4 * gpt.tokens;
  const Count probabilities = gpt.batch * gpt.part(gpt.heads) * gpt.sequence * gpt.sequence;
  return kBytesOfF32 * (4 * gpt.tokens * gpt.width + 4 * gpt.tokens * gpt.width_part() +
                        2 * gpt.tokens * gpt.middle_part() + statistics + probabilities);
}

/// Live bytes while the head's logits are made: what is there already, and what comes on top.
struct Peak {
  Formula<Bytes> before, at_head;
};

Peak peak_of(const Gpt& gpt) {
  const std::int64_t x = kBytesOfF32 * gpt.tokens * gpt.width, row = kBytesOfF32 * gpt.tokens;
  return {.before = 2 * named("weights", Bytes(kBytesOfF32 * weights_of_rank(gpt))) +
                    named("batch and loss", Bytes(2 * row + kBytesOfF32)) +
                    named("kept by blocks", Bytes(gpt.blocks * kept_bytes(gpt))) +
                    named("x, normed x", Bytes(2 * x + 2 * row)),
          .at_head =
              named("logits/t", Bytes(row * gpt.part(gpt.vocabulary))) + named("grad_x, 3 rows", Bytes(x + 3 * row))};
}

void diagnose_memory(CheckContext& check, int rank) {
  if (diagnose_rows(check)) return;
  const Peak peak = peak_of(Gpt(check.kase()));
  const std::vector<front::Event> events = check.events(rank, EventKind::operation);
  const auto is_norm = [&](const front::Event& event) {
    return check.trace(rank).names.at(event.name) == "layer_norm";
  };
  const auto last = std::find_if(events.rbegin(), events.rend(), is_norm);
  if (last == events.rend()) return;
  check.diagnose(last->live_after > peak.before.value() ? "kept_too_much" : "logits_copied");
}

Formula<Bytes> wire_bytes(const Gpt& gpt, int rank) {
  const Count large = gpt.tokens * gpt.width;
  const Formula<Count> share = share_of_others(named("t", gpt.ranks));
  const Formula<Count> reduces = folded(4 * named("L", gpt.blocks) + 2);
  const auto sent = [&](const char* name, Count count) {
    return named(name, Bytes(all_reduce_bytes(count, gpt.ranks, rank)));
  };
  return simplest(2 * share *
                      (reduces * named("4 s b h", Bytes(kBytesOfF32 * large)) +
                       3 * named("4 s b", Bytes(kBytesOfF32 * gpt.tokens))),
                  reduces * sent("an all-reduce of s b h", large) + 3 * sent("one of s b", gpt.tokens));
}

void diagnose_bytes(CheckContext& check) {
  const Gpt gpt(check.kase());
  const front::Counters& counters = check.counters(0);
  const std::int64_t activations = all_reduce_bytes(gpt.tokens * gpt.width, gpt.ranks, 0);
  for (const Collective kind : {Collective::all_gather, Collective::all_reduce, Collective::broadcast}) {
    if (largest_sent(check, 0, kind) > activations) return check.diagnose("logits_on_the_wire");
  }
  if (counters.calls(Collective::all_reduce) > 4 * gpt.blocks + 5) check.diagnose("reduced_too_often");
}

}  // namespace

SHARDLINGS_CHECK(output) {
  const Case& kase = check.kase();
  const std::vector<double> rows = embedded(kase, begin_of_rank);
  if (!check.equal("embedded", rows, 0.0)) {
    const Layers found = by_rank(check, "embedded");
    if (!found.empty() && alike(found[0], embedded(kase, no_shift))) return check.diagnose("ids_not_shifted");
    diagnose_sum(check, "embedded", rows, {}, "embedding_partial");
    return;
  }
  const Gpt gpt(kase);
  const PartReference attention = attention_of(kase, gpt.heads);
  if (!check.equal("attention of block 1", attention.output, attention.output_tolerance)) {
    return diagnose_attention(check, attention.output);
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
  check_large_logits(check);
}

SHARDLINGS_CHECK(communication) {
  const Gpt gpt(check.kase());
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (!check.exactly("sent by " + check.name_of(rank), check.counters(rank).bytes_sent(), wire_bytes(gpt, rank),
                       check.place_of_last(rank, EventKind::collective))) {
      return diagnose_bytes(check);
    }
  }
}

SHARDLINGS_CHECK(memory) {
  const Peak peak = peak_of(Gpt(check.kase()));
  if (!check.peaks_at_most(peak.before + peak.at_head)) diagnose_memory(check, check.worst_rank());
}

SHARDLINGS_CHECK(work) {
  const Gpt gpt(check.kase());
  const Count block = 4 * gpt.width_part() * gpt.width + 2 * gpt.middle_part() * gpt.width;
  const Count matrices = gpt.blocks * block + gpt.part(gpt.vocabulary) * gpt.width;
  for (int rank = 0; rank < check.ranks(); ++rank) {
    if (check.at_most("matrix products of " + check.name_of(rank), product_flops(check, rank),
                      named("3 products", 3) * named("s b", gpt.tokens) * named("matrices/t", matrices) *
                          Formula<Flops>(Flops(2)))) {
      continue;
    }
    if (!diagnose_rows(check)) check.diagnose("computed_twice");
    return;
  }
}
