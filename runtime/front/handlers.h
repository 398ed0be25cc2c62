/// \file
/// Who handles which verb: for each row of the table (api/verbs.def) a function, or a method of a part, of the same
/// name. Each is declared in the folder that has it, and takes what that folder has; that none is missing, the compiler
/// says.
#pragma once

#include "front/rank_front.h"

namespace shardlings::front {

using Handler = detail::Reply (*)(RankFront&, const detail::Call&);

/// The handler of a verb, which must be one of the table.
Handler handler_of(detail::Verb verb);

/// What concerns the rank as a whole: a call that was wrong before it came here, and what only a harness may ask for.
namespace handle {
detail::Reply refuse(RankFront& front, const detail::Call& call);
detail::Reply load(RankFront& front, const detail::Call& call);
detail::Reply store_give(RankFront& front, const detail::Call& call);
detail::Reply add_model(RankFront& front, const detail::Call& call);
detail::Reply publish(RankFront& front, const detail::Call& call);
detail::Reply script_read(RankFront& front, const detail::Call& call);
detail::Reply begin_measuring(RankFront& front, const detail::Call& call);
detail::Reply end_measuring(RankFront& front, const detail::Call& call);
}  // namespace handle

}  // namespace shardlings::front
