#include "front/handlers.h"
#include "front/work/work_table.h"

namespace shardlings::front {
namespace {

using detail::Call;
using detail::Reply;
using detail::Verb;

template <Reply (WorkTable::*method)(const Call&)>
Reply works(RankFront& front, const Call& call) {
  return (front.works().*method)(call);
}

}  // namespace

// All have the id of a Work; keep: tensor[0] is handed over to it.
void add_work_handlers(HandlerTable& table) {
  const auto set = [&](Verb verb, Handler handler) { table[static_cast<std::size_t>(verb)] = handler; };
  set(Verb::wait, works<&WorkTable::wait>);
  set(Verb::keep, works<&WorkTable::keep>);
  set(Verb::drop_work, works<&WorkTable::drop>);
}

}  // namespace shardlings::front
