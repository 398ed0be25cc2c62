/// \file
/// Who handles which verb: one function for each row of the table (api/verbs.def), of the same name. Which folder has
/// it is its own affair; that none is missing, the linker says.
#pragma once

#include "front/rank_front.h"

namespace shardlings::front {

namespace handle {
#define VERB(verb, word, by, ...) detail::Reply verb(RankFront& front, const detail::Call& call);
#include "api/verbs.def"
}  // namespace handle

/// The handler of a verb, which must be one of the table.
Handler handler_of(detail::Verb verb);

}  // namespace shardlings::front
