#include <optional>

#include "front/ops/op.h"

namespace shardlings::front {

using detail::Call;
using detail::Reply;

namespace {

std::optional<float> scripted_number(const OpContext& of, const Operand& from) {
  return of.rank.scripted_read(from.ref.offset, of.memory.storages().at(from.ref.storage).count);
}

}  // namespace

Reply handle::read_scalar(OpContext& of, const Call& call) {
  const unpacked::read_scalar given(call);
  const Operand from = of.memory.find(call, {.index = given.scalar.index});
  if (from.size() != 1) of.rank.invalid(call, "read: only a single element can be read by the host");
  Reply reply;
  if (of.rank.device().computes()) {
    reply.scalar = of.memory.download(from)[0];
  } else if (const auto scripted = scripted_number(of, from)) {
    reply.scalar = *scripted;
  } else {
    of.rank.invalid(call,
                    "read: a simulation computes no numbers, so there is none to read, and what the program does "
                    "after it cannot be known. Only code whose calls do not depend on numbers can be simulated");
  }
  if (from.memory == Memory::device) {
    of.rank.counters().sent_to_host += from.bytes();
    ++of.rank.counters().host_reads;
  }
  of.meter.charge("read", call, {}, from.label);
  return reply;
}

}  // namespace shardlings::front
