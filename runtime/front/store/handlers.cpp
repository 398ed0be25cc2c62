#include "front/store/handlers.h"

namespace shardlings::front {

using detail::Call;
using detail::Reply;

Reply handle::store_write(RankStore& store, const Call& call) {
  return store.write(call);
}
Reply handle::store_read(RankStore& store, const Call& call) {
  return store.read(call);
}
Reply handle::store_size(RankStore& store, const Call& call) {
  return store.size(call);
}
Reply handle::store_write_number(RankStore& store, const Call& call) {
  return store.write_number(call);
}
Reply handle::store_read_number(RankStore& store, const Call& call) {
  return store.read_number(call);
}
Reply handle::store_publish(RankStore& store, const Call& call) {
  return store.publish(call);
}

}  // namespace shardlings::front
