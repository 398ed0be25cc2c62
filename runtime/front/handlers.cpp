#include "front/handlers.h"

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

// Tells which part a handler takes.
template <class Part>
using PartHandler = Reply (*)(Part&, const Call&);

Reply ask(RankFront& front, const Call& call, PartHandler<RankFront> handler) {
  return handler(front, call);
}
Reply ask(RankFront& front, const Call& call, PartHandler<RankMemory> handler) {
  return handler(front.memory(), call);
}
Reply ask(RankFront& front, const Call& call, PartHandler<PendingTable> handler) {
  return handler(front.pending(), call);
}
Reply ask(RankFront& front, const Call& call, PartHandler<RankGroups> handler) {
  return handler(front.groups(), call);
}
Reply ask(RankFront& front, const Call& call, PartHandler<RankStore> handler) {
  return handler(front.store(), call);
}
Reply ask(RankFront& front, const Call& call, PartHandler<OpContext> handler) {
  return handler(front.ops(), call);
}
Reply ask(RankFront& front, const Call& call, PartHandler<RankModels> handler) {
  return handler(front.models(), call);
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
