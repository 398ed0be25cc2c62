#include <bit>
#include <vector>

#include "front/handlers.h"

namespace shardlings::front {
namespace {

using detail::Call;
using detail::Reply;

Operand allocated(RankFront& front, const Call& call) {
  return front.memory().allocate(call.tensor[0].shape, call.tensor[0].dtype, static_cast<Kind>(call.number[0]),
                                 static_cast<Memory>(call.number[2]), call.at);
}

Reply allocate(RankFront& front, const Call& call) {
  const Operand made = allocated(front, call);
  const bool zeros = call.number[1] != 0;
  if (zeros) front.memory().fill(made, 0);
  Reply reply;
  reply.tensor[0] = made.ref;
  return reply;
}

Reply load(RankFront& front, const Call& call) {
  const Operand made = allocated(front, call);
  if (made.size() > 0) front.device().upload(made.data, call.host, made.bytes());
  Reply reply;
  reply.tensor[0] = made.ref;
  return reply;
}

Reply mark_layer(RankFront& front, const Call& call) {
  const Operand marked = front.memory().find(call, {.index = 0});
  if (marked) front.storages().at(marked.ref.storage).label.layer = static_cast<std::int32_t>(call.number[0]);
  return {};
}

Reply drop(RankFront& front, const Call& call) {
  front.free(call.tensor[0], call.at);
  return {};
}

std::vector<float> download(RankFront& front, const Operand& from) {
  std::vector<float> values(static_cast<std::size_t>(from.size()));
  if (values.empty()) return values;
  if (from.dtype() == DType::f32) {
    front.device().download(values.data(), from.data, from.bytes());
  } else if (from.dtype() == DType::i32) {
    std::vector<std::int32_t> raw(values.size());
    front.device().download(raw.data(), from.data, from.bytes());
    for (std::size_t i = 0; i < raw.size(); ++i) values[i] = static_cast<float>(raw[i]);
  } else {
    std::vector<std::uint16_t> raw(values.size());
    front.device().download(raw.data(), from.data, from.bytes());
    for (std::size_t i = 0; i < raw.size(); ++i) {
      values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(raw[i]) << 16);
    }
  }
  return values;
}

Reply read_scalar(RankFront& front, const Call& call) {
  const Operand from = front.memory().find(call, {.index = 0});
  if (from.size() != 1) front.invalid(call, "read: only a single element can be read by the host");
  if (from.memory == Memory::device) {
    front.counters().sent_to_host += from.bytes();
    ++front.counters().host_reads;
  }
  front.charge("read", call, {}, from.label);
  Reply reply;
  reply.scalar = download(front, from)[0];
  return reply;
}

Reply publish(RankFront& front, const Call& call) {
  Published published;
  published.name = call.text;
  published.rows = call.number[0];
  published.cols = call.number[1];
  published.row_range = {call.number[2], call.number[3]};
  published.col_range = {call.number[4], call.number[5]};
  published.values = download(front, front.memory().find(call, {.index = 0}));
  front.published().push_back(std::move(published));
  return {};
}

Reply begin_measuring(RankFront& front, const Call& call) {
  front.begin_measuring(call.at);
  return {};
}

Reply end_measuring(RankFront& front, const Call&) {
  front.end_measuring();
  return {};
}

}  // namespace

void add_memory_handlers(HandlerTable& table) {
  const auto set = [&](detail::Verb verb, Handler handler) { table[static_cast<std::size_t>(verb)] = handler; };
  set(detail::Verb::allocate, allocate);
  set(detail::Verb::load, load);
  set(detail::Verb::mark_layer, mark_layer);
  set(detail::Verb::drop, drop);
  set(detail::Verb::read_scalar, read_scalar);
  set(detail::Verb::publish, publish);
  set(detail::Verb::begin_measuring, begin_measuring);
  set(detail::Verb::end_measuring, end_measuring);
}

}  // namespace shardlings::front
