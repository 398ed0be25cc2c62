#include "front/model/plan.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace shardlings::detail {
namespace {

/// Puts entries one behind the other.
class Layout {
 public:
  explicit Layout(LayerPlan& layer) : layer_(layer) {}

  Layout& matrix(const char* name, Count rows, Count cols, Split split) {
    layer_.entries.push_back({name, {end_, end_ + rows * cols}, rows, cols, split});
    end_ += rows * cols;
    return *this;
  }
  Layout& vector(const char* name, Count size, Split split = Split::whole) { return matrix(name, size, 1, split); }
  Count size() const { return end_; }

 private:
  LayerPlan& layer_;
  Count end_ = 0;
};

void add_layer(ModelPlan& plan, LayerPlan::Type type, Count in, Count out, auto fill) {
  LayerPlan layer;
  layer.type = type;
  layer.in = in;
  layer.out = out;
  Layout layout(layer);
  fill(layout);
  layer.range = {plan.total, plan.total + layout.size()};
  if (type == LayerPlan::Type::block) layer.heads = plan.spec.heads;
  plan.total = layer.range.end;
  plan.layers.push_back(std::move(layer));
}

void add_mlp(ModelPlan& plan) {
  const ModelSpec& spec = plan.spec;
  Count in = spec.hidden;
  for (int l = 0; l < spec.layers; ++l) {
    const bool last = l + 1 == spec.layers;
    const Count inner = spec.widths.empty() || last ? spec.hidden : spec.widths[static_cast<std::size_t>(l)];
    const Count out = last ? spec.outputs : inner;
    const bool by_rows = l % 2 == 0;
    add_layer(plan, last ? LayerPlan::Type::linear : LayerPlan::Type::linear_gelu, in, out, [&](Layout& at) {
      at.matrix("weight", out, in, by_rows ? Split::rows : Split::cols);
      at.vector("bias", out, by_rows ? Split::rows : Split::whole);
    });
    in = out;
  }
}

void lay_out_block(Layout& at, Count h) {
  at.vector("ln1.weight", h).vector("ln1.bias", h);
  at.matrix("query.weight", h, h, Split::rows).matrix("key.weight", h, h, Split::rows);
  at.matrix("value.weight", h, h, Split::rows);
  at.vector("query.bias", h, Split::rows).vector("key.bias", h, Split::rows).vector("value.bias", h, Split::rows);
  at.matrix("proj.weight", h, h, Split::cols).vector("proj.bias", h);
  at.vector("ln2.weight", h).vector("ln2.bias", h);
  at.matrix("fc.weight", 4 * h, h, Split::rows).vector("fc.bias", 4 * h, Split::rows);
  at.matrix("fc2.weight", h, 4 * h, Split::cols).vector("fc2.bias", h);
}

void add_gpt(ModelPlan& plan) {
  const ModelSpec& spec = plan.spec;
  const Count h = spec.hidden;
  add_layer(plan, LayerPlan::Type::embedding, spec.outputs, h, [&](Layout& at) {
    at.matrix("token", spec.outputs, h, Split::rows).matrix("position", spec.sequence, h, Split::whole);
  });
  for (int l = 0; l < spec.layers; ++l) {
    add_layer(plan, LayerPlan::Type::block, h, h, [&](Layout& at) { lay_out_block(at, h); });
  }
  add_layer(plan, LayerPlan::Type::head, h, spec.outputs, [&](Layout& at) {
    at.vector("norm.weight", h).vector("norm.bias", h).matrix("weight", spec.outputs, h, Split::rows);
  });
}

void check_widths(const ModelSpec& spec) {
  if (spec.widths.empty()) return;
  if (spec.family != ModelSpec::Family::mlp) throw std::invalid_argument("only an mlp has widths");
  if (static_cast<int>(spec.widths.size()) != spec.layers - 1) {
    throw std::invalid_argument("a model of " + std::to_string(spec.layers) + " layers has " +
                                std::to_string(spec.layers - 1) + " widths (the last layer's is `outputs`), not " +
                                std::to_string(spec.widths.size()));
  }
  if (std::any_of(spec.widths.begin(), spec.widths.end(), [](Count width) { return width < 1; })) {
    throw std::invalid_argument("a width must be at least 1");
  }
}

}  // namespace

ModelPlan make_plan(const ModelSpec& spec) {
  check_widths(spec);
  if (spec.layers < 1 || spec.hidden < 1 || spec.outputs < 1 || spec.sequence < 1) {
    throw std::invalid_argument("a model needs at least 1 layer, hidden size, output and position");
  }
  const bool gpt = spec.family == ModelSpec::Family::gpt;
  if (gpt && (spec.heads < 1 || spec.hidden % spec.heads != 0)) {
    throw std::invalid_argument("the hidden size " + std::to_string(spec.hidden) + " cannot be divided into " +
                                std::to_string(spec.heads) + " heads");
  }
  ModelPlan plan;
  plan.spec = spec;
  gpt ? add_gpt(plan) : add_mlp(plan);
  return plan;
}

const Entry& entry_of(const LayerPlan& layer, std::string_view name) {
  for (const Entry& entry : layer.entries) {
    if (name == entry.name) return entry;
  }
  throw std::out_of_range("no entry " + std::string(name));
}

}  // namespace shardlings::detail
