#include "front/memory/handlers.h"

#include "api/arguments.h"

namespace shardlings::front {

using detail::Call;
using detail::Reply;
namespace unpacked = detail::unpacked;

Reply handle::allocate(RankMemory& memory, const Call& call) {
  const unpacked::allocate given(call);
  const Operand made = memory.allocate(call.tensor[0].shape, call.tensor[0].dtype, given.kind,
                                       given.on_host ? Memory::host : Memory::device, memory.rank().place(call));
  if (given.zeros) memory.fill(made, 0);
  Reply reply;
  reply.tensor[0] = made.ref;
  return reply;
}

Reply handle::mark_layer(RankMemory& memory, const Call& call) {
  const unpacked::mark_layer given(call);
  const Operand marked = memory.find(call, {.index = given.tensor.index});
  if (marked) memory.storages().at(marked.ref.storage).label.layer = given.layer;
  return {};
}

Reply handle::drop(RankMemory& memory, const Call& call) {
  memory.free(call.tensor[0], memory.rank().place(call));
  return {};
}

}  // namespace shardlings::front
