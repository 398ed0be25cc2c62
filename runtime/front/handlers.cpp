#include "front/handlers.h"

#include <type_traits>

#include "front/group/handlers.h"
#include "front/memory/handlers.h"
#include "front/model/handlers.h"
#include "front/ops/handlers.h"
#include "front/pending/handlers.h"
#include "front/store/handlers.h"

namespace shardlings::front {

using detail::Call;
using detail::Reply;

namespace {

/// The part of the front that a handler takes.
template <class Part>
Part& part_of(RankFront& front) {
  if constexpr (std::is_same_v<Part, RankMemory>) return front.memory();
  if constexpr (std::is_same_v<Part, PendingTable>) return front.pending();
  if constexpr (std::is_same_v<Part, RankGroups>) return front.groups();
  if constexpr (std::is_same_v<Part, RankStore>) return front.store();
  if constexpr (std::is_same_v<Part, OpContext>) return front.ops();
  if constexpr (std::is_same_v<Part, RankModels>) return front.models();
  if constexpr (std::is_same_v<Part, RankFront>) return front;
}

template <class Part>
Reply ask(RankFront& front, const Call& call, Reply (*handler)(Part&, const Call&)) {
  return handler(part_of<Part>(front), call);
}
/// A part's method is a handler, too.
template <class Part, class Method>
Reply ask(RankFront& front, const Call& call, Method Part::*const* handler) {
  return (part_of<Part>(front).**handler)(call);
}

template <auto handler>
Reply dispatch(RankFront& front, const Call& call) {
  return ask(front, call, handler);
}

}  // namespace

Handler handler_of(detail::Verb verb) {
  static constexpr Handler kHandlers[] = {
#define VERB(verb, word, by, ...) dispatch<&handle::verb>,
#include "api/verbs.def"
  };
  return kHandlers[static_cast<std::size_t>(verb)];
}

}  // namespace shardlings::front
