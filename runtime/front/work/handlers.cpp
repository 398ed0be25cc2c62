#include "front/handlers.h"
#include "front/work/work_table.h"

namespace shardlings::front {

using detail::Call;
using detail::Reply;

Reply handle::wait(RankFront& front, const Call& call) {
  return front.works().wait(call);
}
Reply handle::keep(RankFront& front, const Call& call) {
  return front.works().keep(call);
}
Reply handle::drop_work(RankFront& front, const Call& call) {
  return front.works().drop(call);
}

}  // namespace shardlings::front
