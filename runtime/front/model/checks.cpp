#include "front/model/checks.h"

#include <fmt/format.h>

#include "api/arguments.h"
#include "base/dtype.h"
#include "base/extents.h"
#include "base/text.h"

namespace shardlings::front {

using detail::Call;
using model::LayerStructure;
using Type = LayerStructure::Type;

const detail::RankModel& model_of(RankModels& of, const Call& call) {
  if (const detail::RankModel* model = of.models.find(call.model)) return *model;
  of.rank.invalid(call, fmt::format("{}: this Model is not known to the rank", name_of(call.verb)));
}

std::string call_text(const Call& call, Count layer) {
  return fmt::format("{} of layer {}", name_of(call.verb), layer);
}

const LayerStructure& checked_layer(RankModels& of, const Call& call, Count layer) {
  const auto& layers = model_of(of, call).structure->layers;
  const auto count = static_cast<Count>(layers.size());
  if (layer < 0 || layer >= count) {
    of.rank.invalid(call, fmt::format("{}: there is no such layer; the model has layers 0 to {}",
                                      call_text(call, layer), count - 1));
  }
  return layers[static_cast<std::size_t>(layer)];
}

void check_weights(RankModels& of, const Call& call, LayerOf layer, const Operand& weights, const char* what) {
  const Count size = layer.structure.range.size();
  if (weights.size() == size) return;
  of.rank.invalid(call, fmt::format("{}: the {} have {} elements, but the layer has {} weights: model.size({})",
                                    call_text(call, layer.number), what, weights.size(), size, layer.number));
}

void check_types(RankModels& of, const Call& call, LayerOf layer, const Operand& weights, const Operand& x) {
  const bool ids = layer.structure.type == Type::embedding;
  if (is_float(weights.dtype()) && (ids || weights.dtype() == x.dtype())) return;
  of.rank.invalid(call, fmt::format("{}: the weights are {}, and x is {}; both must be f32, or both bf16 (see cast)",
                                    call_text(call, layer.number), name_of(weights.dtype()), name_of(x.dtype())));
}

void check_grad_type(RankModels& of, const Call& call, Count layer, const Operand& weights, const Operand& grad) {
  if (grad.dtype() == weights.dtype()) return;
  of.rank.invalid(call, fmt::format("{}: the gradient is {}, but the layer's output was {}, as its weights are",
                                    call_text(call, layer), name_of(grad.dtype()), name_of(weights.dtype())));
}

void check_sum_type(RankModels& of, const Call& call, Count layer, DType weights, const Operand& grad_weights) {
  if (grad_weights.dtype() == DType::f32 || grad_weights.dtype() == weights) return;
  of.rank.invalid(call,
                  fmt::format("{}: gradients of {} weights cannot be added to {}, only to f32 or to their own type",
                              call_text(call, layer), name_of(weights), name_of(grad_weights.dtype())));
}

void check_input(RankModels& of, const Call& call, LayerOf layer, const Operand& x) {
  const LayerStructure& structure = layer.structure;
  const auto wrong = [&](const std::string& expected) {
    of.rank.invalid(call, fmt::format("{}: x has shape {} of {}, expected {}", call_text(call, layer.number),
                                      to_text(x.shape()), name_of(x.dtype()), expected));
  };
  if (structure.type == Type::embedding) {
    const bool is_ids = x.dtype() == DType::i32 && x.shape().rank() == 2;
    if (structure.llama) {  // any position can be turned into queries and keys
      if (!is_ids) wrong("token ids (s, b) of i32");
      return;
    }
    const Count longest = entry_of(structure, "position").rows;
    if (!is_ids || x.shape()[0] > longest) {
      wrong(fmt::format("token ids (s, b) of i32 with s at most {}", longest));
    }
    return;
  }
  const bool fits = x.shape().rank() >= 2 && x.cols() == structure.in && is_float(x.dtype());
  if (!fits || (structure.type == Type::block && x.shape().rank() != 3)) {
    wrong(fmt::format("(s, b, {}) of f32 or bf16: {}", structure.in,
                      layer.number == 0 ? std::string("the inputs of the batch")
                                        : fmt::format("what forward of layer {} returned", layer.number - 1)));
  }
}

void check_grad(RankModels& of, const Call& call, LayerOf layer, const Operand& x, const Operand& grad) {
  const Shape expected = output_shape(layer.structure, x.shape());
  if (grad && grad.shape() == expected) return;
  if (!grad) {
    of.rank.invalid(call, fmt::format("{}: the gradient of the layer's output is an empty tensor (moved from?); it has "
                                      "the shape {}",
                                      call_text(call, layer.number), to_text(expected)));
  }
  of.rank.invalid(call, fmt::format("{}: the gradient has shape {}, but the layer's output has {} for this x",
                                    call_text(call, layer.number), to_text(grad.shape()), to_text(expected)));
}

void check_loss(RankModels& of, const Call& call, const Operand& logits, const Operand& targets, const Operand& loss) {
  if (!targets) of.rank.invalid(call, "loss: there are no targets: the view is empty, as where the batch has none");
  const Count width = model_of(of, call).structure->layers.back().out;
  if (!logits || logits.cols() != width || logits.shape().rank() < 2) {
    of.rank.invalid(call, fmt::format("loss: the logits have shape {}, expected (s, b, {}): what forward of the last "
                                      "layer returned",
                                      to_text(logits.shape()), width));
  }
  if (targets.size() != logits.rows()) {
    of.rank.invalid(call, fmt::format("loss: {} targets for {} rows of logits; they belong to the same micro-batch",
                                      targets.size(), logits.rows()));
  }
  if (logits.label.micro >= 0 && targets.label.micro >= 0 && logits.label.micro != targets.label.micro) {
    of.rank.invalid(call, fmt::format("loss: the logits are of micro-batch {}, but the targets of micro-batch {}",
                                      logits.label.micro, targets.label.micro));
  }
  const Count tokens = detail::unpacked::layer_loss(call).tokens;
  if (tokens < 1) {
    of.rank.invalid(call, fmt::format("loss: tokens_of_step is {}; it is what the loss is divided by: "
                                      "batch.tokens_of_step()",
                                      tokens));
  }
  if (loss.size() < 1) of.rank.invalid(call, "loss: the view that the loss is added to is empty");
}

void check_update(RankModels& of, const Call& call, Count layer) {
  const Count size = checked_layer(of, call, layer).range.size();
  const Count updated = call.tensor[0].shape.size();
  if (updated > size) {
    of.rank.invalid(call, fmt::format("{}: {} weights, but the layer has {}", call_text(call, layer), updated, size));
  }
  static constexpr const char* kNames[] = {"weights", "gradient", "first moment m", "second moment v"};
  const bool adam = model_of(of, call).structure->spec.optimizer == model::ModelSpec::Optimizer::adam;
  for (int i = 1; i < (adam ? 4 : 2); ++i) {
    const Count found = call.tensor[i].shape.size();
    if (found == updated) continue;
    of.rank.invalid(call, fmt::format("{}: {} weights, but the {} has {} elements; all must be the same range",
                                      call_text(call, layer), updated, kNames[i], found));
  }
}

Shape output_shape(const LayerStructure& layer, const Shape& x) {
  return layer.type == Type::embedding ? with_more_cols(x, layer.out) : with_cols(x, layer.out);
}

}  // namespace shardlings::front
