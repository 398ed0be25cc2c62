/// \file
/// The models of one rank, and what their calls need: they are composed of public operations on the rank's own port.
#pragma once

#include "api/call.h"
#include "front/memory/rank_memory.h"
#include "front/model/model_table.h"
#include "front/model/recipe.h"
#include "front/model/saved_table.h"
#include "front/rank/collectives.h"
#include "front/rank/meter.h"

namespace shardlings::front {

struct RankModels {
  RankContext& rank;
  Meter& meter;
  RankMemory& memory;
  Collectives& collectives;
  detail::Port& port;
  Recipes* recipes = nullptr;  ///< nullptr: every call is made of its operations
  ModelTable models;
  SavedTable saved;
};

}  // namespace shardlings::front
