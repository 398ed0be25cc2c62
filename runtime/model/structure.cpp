#include "model/structure.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "base/parts.h"

namespace shardlings::model {
namespace {

/// Puts entries one behind the other.
class Layout {
 public:
  explicit Layout(LayerStructure& layer) : layer_(layer) {
    const std::size_t most = layer.type == LayerStructure::Type::block ? block_entries::fc2_bias + 1 : 3;
    layer.entries.reserve(most);
    layer.parts.reserve(most);
  }

  Layout& matrix(const char* name, Count rows, Count cols, Split split) {
    return part(name, {{0, rows}, {0, cols}}, split);
  }
  Layout& part(const char* name, Rectangle rectangle, Split split) {
    const Count rows = rectangle.rows.size(), cols = rectangle.cols.size();
    layer_.entries.push_back({name, {end_, end_ + rows * cols}, rows, cols, split});
    layer_.parts.push_back(rectangle);
    end_ += rows * cols;
    return *this;
  }
  Layout& vector(const char* name, Count size, Split split = Split::whole) { return matrix(name, size, 1, split); }
  Count size() const { return end_; }

 private:
  LayerStructure& layer_;
  Count end_ = 0;
};

int heads_of_keys(const ModelSpec& spec) {
  return spec.key_value_heads > 0 ? spec.key_value_heads : spec.heads;
}

Count width_of_middle(const ModelSpec& spec) {
  return spec.wide > 0 ? spec.wide : 4 * spec.hidden;
}

void add_layer(ModelStructure& structure, LayerStructure::Type type, Count in, Count out, auto fill) {
  LayerStructure layer;
  layer.type = type;
  layer.in = in;
  layer.out = out;
  Layout layout(layer);
  fill(layout);
  layer.range = {structure.total, structure.total + layout.size()};
  layer.llama = structure.spec.blocks == ModelSpec::Blocks::llama;
  if (type == LayerStructure::Type::block) {
    layer.heads = structure.spec.heads;
    layer.attended = structure.spec.hidden;
    layer.key_values = structure.spec.hidden / structure.spec.heads * heads_of_keys(structure.spec);
    layer.wide = width_of_middle(structure.spec);
  }
  if (structure.spec.family == ModelSpec::Family::gpt) layer.vocabulary = {0, structure.spec.outputs};
  structure.total = layer.range.end;
  structure.layers.push_back(std::move(layer));
}

void add_mlp(ModelStructure& structure) {
  const ModelSpec& spec = structure.spec;
  Count in = spec.hidden;
  for (int l = 0; l < spec.layers; ++l) {
    const bool last = l + 1 == spec.layers;
    const Count inner = spec.widths.empty() || last ? spec.hidden : spec.widths[static_cast<std::size_t>(l)];
    const Count out = last ? spec.outputs : inner;
    const bool by_rows = l % 2 == 0;
    add_layer(structure, last ? LayerStructure::Type::linear : LayerStructure::Type::linear_gelu, in, out,
              [&](Layout& at) {
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

void add_llama(ModelStructure& structure) {
  const ModelSpec& spec = structure.spec;
  const Count h = spec.hidden, keys = h / spec.heads * heads_of_keys(spec), wide = width_of_middle(spec);
  add_layer(structure, LayerStructure::Type::embedding, spec.outputs, h,
            [&](Layout& at) { at.matrix("token", spec.outputs, h, Split::rows); });
  for (int l = 0; l < spec.layers; ++l) {
    add_layer(structure, LayerStructure::Type::block, h, h, [&](Layout& at) {
      at.vector("ln1.weight", h).matrix("query.weight", h, h, Split::rows);
      at.matrix("key.weight", keys, h, Split::rows).matrix("value.weight", keys, h, Split::rows);
      at.matrix("proj.weight", h, h, Split::cols).vector("ln2.weight", h);
      at.matrix("gate.weight", wide, h, Split::rows).matrix("fc.weight", wide, h, Split::rows);
      at.matrix("fc2.weight", h, wide, Split::cols);
    });
  }
  add_layer(structure, LayerStructure::Type::head, h, spec.outputs,
            [&](Layout& at) { at.vector("norm.weight", h).matrix("weight", spec.outputs, h, Split::rows); });
}

void add_gpt(ModelStructure& structure) {
  const ModelSpec& spec = structure.spec;
  const Count h = spec.hidden;
  add_layer(structure, LayerStructure::Type::embedding, spec.outputs, h, [&](Layout& at) {
    at.matrix("token", spec.outputs, h, Split::rows).matrix("position", spec.sequence, h, Split::whole);
  });
  for (int l = 0; l < spec.layers; ++l) {
    add_layer(structure, LayerStructure::Type::block, h, h, [&](Layout& at) { lay_out_block(at, h); });
  }
  add_layer(structure, LayerStructure::Type::head, h, spec.outputs, [&](Layout& at) {
    at.vector("norm.weight", h).vector("norm.bias", h).matrix("weight", spec.outputs, h, Split::rows);
  });
}

Range scaled(Range range, Count unit) {
  return {range.begin * unit, range.end * unit};
}

/// What one part has of an extent that is divided.
Range dealt(const ModelSpec& spec, const LayerStructure& layer, Count extent, int parts, int part) {
  // In a block, what is as wide as h are heads, which nobody cuts; those that share keys and values stay together.
  Count unit = 1;
  if (layer.type == LayerStructure::Type::block) {
    if (extent == layer.attended) {
      unit = spec.hidden / heads_of_keys(spec);
    } else if (extent == layer.key_values) {
      unit = spec.hidden / spec.heads;
    }
  }
  return scaled(part_of(extent / unit, parts, part), unit);
}

LayerStructure part_of_layer(const ModelSpec& spec, const LayerStructure& whole, int parts, int part) {
  LayerStructure layer = whole;
  layer.entries.clear();
  layer.parts.clear();
  layer.attended = dealt(spec, whole, whole.attended, parts, part).size();
  layer.key_values = dealt(spec, whole, whole.key_values, parts, part).size();
  if (whole.heads > 0) layer.heads = static_cast<int>(layer.attended / (spec.hidden / spec.heads));
  layer.wide = dealt(spec, whole, whole.wide, parts, part).size();
  layer.vocabulary = part_of(spec.outputs, parts, part);
  if (whole.type == LayerStructure::Type::head) layer.out = layer.vocabulary.size();
  Layout layout(layer);
  for (const Entry& entry : whole.entries) {
    Rectangle rectangle{{0, entry.rows}, {0, entry.cols}};
    if (entry.split == Split::rows) rectangle.rows = dealt(spec, whole, entry.rows, parts, part);
    if (entry.split == Split::cols) rectangle.cols = dealt(spec, whole, entry.cols, parts, part);
    layout.part(entry.name, rectangle, entry.split);
  }
  layer.range = {0, layout.size()};
  return layer;
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

/// So large that no sum of its weights or of their bytes leaves 64 bits, whatever a file says; nobody has larger ones.
void check_sizes(const ModelSpec& spec) {
  constexpr int kMostLayers = 1 << 12;
  constexpr Count kMostOfASize = Count{1} << 22;
  std::vector<Count> sizes = spec.widths;
  sizes.insert(sizes.end(), {spec.hidden, spec.outputs, spec.sequence});
  if (spec.layers <= kMostLayers && *std::max_element(sizes.begin(), sizes.end()) <= kMostOfASize) return;
  throw std::invalid_argument("a model has at most " + std::to_string(kMostLayers) + " layers, and no size above " +
                              std::to_string(kMostOfASize));
}

void check_llama(const ModelSpec& spec) {
  if (spec.blocks == ModelSpec::Blocks::llama) {
    if (spec.family != ModelSpec::Family::gpt) throw std::invalid_argument("only a gpt can have the layers of Llama");
    if (spec.key_value_heads < 0 || spec.heads % heads_of_keys(spec) != 0) {
      throw std::invalid_argument(std::to_string(spec.heads) + " heads cannot share " +
                                  std::to_string(spec.key_value_heads) + " heads of keys and values evenly");
    }
  } else if (spec.key_value_heads != 0 || spec.wide != 0) {
    throw std::invalid_argument(
        "only the layers of Llama have fewer heads of keys and values, or a middle of any width");
  }
}

}  // namespace

ModelStructure make_structure(const ModelSpec& spec) {
  check_widths(spec);
  if (spec.layers < 1 || spec.hidden < 1 || spec.outputs < 1 || spec.sequence < 1) {
    throw std::invalid_argument("a model needs at least 1 layer, hidden size, output and position");
  }
  check_sizes(spec);
  const bool gpt = spec.family == ModelSpec::Family::gpt;
  if (gpt && (spec.heads < 1 || spec.hidden % spec.heads != 0)) {
    throw std::invalid_argument("the hidden size " + std::to_string(spec.hidden) + " cannot be divided into " +
                                std::to_string(spec.heads) + " heads");
  }
  if (spec.tied && !gpt) throw std::invalid_argument("only a gpt has weights that are tied");
  check_llama(spec);
  ModelStructure structure;
  structure.spec = spec;
  if (!gpt) {
    add_mlp(structure);
  } else {
    spec.blocks == ModelSpec::Blocks::llama ? add_llama(structure) : add_gpt(structure);
  }
  return structure;
}

ModelStructure make_part(const ModelSpec& spec, int parts, int part) {
  ModelStructure structure = make_structure(spec);
  if (parts == 1) return structure;
  if (spec.family != ModelSpec::Family::gpt) throw std::invalid_argument("only the layers of a gpt can be divided");
  if (parts > heads_of_keys(spec)) {
    throw std::invalid_argument(std::to_string(heads_of_keys(spec)) +
                                (heads_of_keys(spec) < spec.heads ? " heads of keys and values" : " heads") +
                                " cannot be divided over " + std::to_string(parts) + " ranks");
  }
  structure.total = 0;
  for (LayerStructure& layer : structure.layers) {
    layer = part_of_layer(spec, layer, parts, part);
    layer.range = {structure.total, structure.total + layer.range.size()};
    structure.total = layer.range.end;
  }
  return structure;
}

const Entry& entry_of(const LayerStructure& layer, std::string_view name) {
  for (const Entry& entry : layer.entries) {
    if (name == entry.name) return entry;
  }
  throw std::out_of_range("no entry " + std::string(name));
}

}  // namespace shardlings::model
