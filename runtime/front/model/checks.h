/// \file
/// Whether the arguments of a model's calls fit its layers; the sentences that say why not.
#pragma once

#include <string>

#include "api/rank_model.h"
#include "front/model/rank_models.h"

namespace shardlings::front {

/// "forward of layer 2", for messages.
std::string call_text(const detail::Call& call, Count layer);
/// The layer of that number; throws InvalidArgument if the model has no such layer.
const model::LayerStructure& checked_layer(RankModels& of, const detail::Call& call, Count layer);
/// A layer of a model and its number, for messages.
struct LayerOf {
  const model::LayerStructure& structure;
  Count number = 0;
};
/// All throw InvalidArgument if the argument does not fit.
void check_weights(RankModels& of, const detail::Call& call, LayerOf layer, const Operand& weights, const char* what);
void check_input(RankModels& of, const detail::Call& call, LayerOf layer, const Operand& x);
/// Weights and activations are of one type.
void check_types(RankModels& of, const detail::Call& call, LayerOf layer, const Operand& weights, const Operand& x);
/// The gradient of a layer's output is of the type of its weights.
void check_grad_type(RankModels& of, const detail::Call& call, Count layer, const Operand& weights,
                     const Operand& grad);
/// Gradients of weights of that type can be added to it.
void check_sum_type(RankModels& of, const detail::Call& call, Count layer, DType weights, const Operand& grad_weights);
void check_grad(RankModels& of, const detail::Call& call, LayerOf layer, const Operand& x, const Operand& grad);
void check_loss(RankModels& of, const detail::Call& call, const Operand& logits, const Operand& targets,
                const Operand& loss);
/// All arguments of an update are equally long parts of a layer.
void check_update(RankModels& of, const detail::Call& call, Count layer);

/// The model of that number; throws InvalidArgument if nobody has made it known to this rank.
const detail::RankModel& model_of(RankModels& of, const detail::Call& call);
/// The shape of a layer's output for input x.
Shape output_shape(const model::LayerStructure& layer, const Shape& x);

}  // namespace shardlings::front
