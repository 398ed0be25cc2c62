/// \file
/// The calls of a model: the verbs of the same names.
#pragma once

#include "api/call.h"
#include "front/model/rank_models.h"

namespace shardlings::front::handle {

detail::Reply layer_forward(RankModels& of, const detail::Call& call);
detail::Reply layer_backward(RankModels& of, const detail::Call& call);
detail::Reply layer_backward_input(RankModels& of, const detail::Call& call);
detail::Reply layer_backward_weights(RankModels& of, const detail::Call& call);
detail::Reply layer_loss(RankModels& of, const detail::Call& call);
detail::Reply layer_update(RankModels& of, const detail::Call& call);
detail::Reply drop_saved(RankModels& of, const detail::Call& call);

}  // namespace shardlings::front::handle
