#include "front/pending/handlers.h"

namespace shardlings::front {

using detail::Call;
using detail::Reply;

Reply handle::wait(PendingTable& pending, const Call& call) {
  return pending.wait(call);
}
Reply handle::keep(PendingTable& pending, const Call& call) {
  return pending.keep(call);
}
Reply handle::drop_work(PendingTable& pending, const Call& call) {
  return pending.drop(call);
}

}  // namespace shardlings::front
