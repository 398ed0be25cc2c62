#include "front/handlers.h"

#include <fmt/format.h>

#include <variant>

#include "api/arguments.h"
#include "base/text.h"
#include "front/doors.h"

namespace shardlings::front {

using detail::Call;
using detail::Reply;
namespace unpacked = detail::unpacked;

namespace {

Operand allocated(RankFront& front, const Call& call, Kind kind, Memory memory) {
  return front.memory().allocate(call.tensor[0].shape, call.tensor[0].dtype, kind, memory, front.place(call));
}

Reply reply_with(const Operand& made) {
  Reply reply;
  reply.tensor[0] = made.ref;
  return reply;
}

}  // namespace

Reply handle::allocate(RankFront& front, const Call& call) {
  const unpacked::allocate given(call);
  const Operand made = allocated(front, call, given.kind, given.on_host ? Memory::host : Memory::device);
  if (given.zeros) front.memory().fill(made, 0);
  return reply_with(made);
}

Reply handle::load(RankFront& front, const Call& call) {
  const unpacked::load given(call);
  const auto lent = front.doors().lent(given.values);
  const auto* values = std::get_if<Doors::Values>(&lent);
  const Operand made = allocated(front, call, given.kind, Memory::device);
  if (values == nullptr || values->size() != static_cast<std::size_t>(made.bytes().value())) {
    front.free(made.ref, front.place(call));
    front.invalid(call, fmt::format("load: {} bytes are lent for {}", values != nullptr ? values->size() : 0,
                                    to_text(made.bytes())));
  }
  if (made.size() > 0) front.device().upload(made.data, values->data(), made.bytes());
  return reply_with(made);
}

Reply handle::mark_layer(RankFront& front, const Call& call) {
  const unpacked::mark_layer given(call);
  const Operand marked = front.memory().find(call, {.index = given.tensor.index});
  if (marked) front.storages().at(marked.ref.storage).label.layer = given.layer;
  return {};
}

Reply handle::drop(RankFront& front, const Call& call) {
  front.free(call.tensor[0], front.place(call));
  return {};
}

Reply handle::read_scalar(RankFront& front, const Call& call) {
  const unpacked::read_scalar given(call);
  const Operand from = front.memory().find(call, {.index = given.scalar.index});
  if (from.size() != 1) front.invalid(call, "read: only a single element can be read by the host");
  if (from.memory == Memory::device) {
    front.counters().sent_to_host += from.bytes();
    ++front.counters().host_reads;
  }
  front.charge("read", call, {}, from.label);
  Reply reply;
  reply.scalar = front.memory().download(from)[0];
  return reply;
}

Reply handle::publish(RankFront& front, const Call& call) {
  const unpacked::publish given(call);
  Published published;
  published.name = front.texts().text(given.name);
  published.rows = given.rows;
  published.cols = given.cols;
  published.row_range = given.row_range;
  published.col_range = given.col_range;
  published.values = front.memory().download(front.memory().find(call, {.index = given.view.index}));
  front.published().push_back(std::move(published));
  return {};
}

Reply handle::begin_measuring(RankFront& front, const Call& call) {
  front.begin_measuring(front.place(call));
  return {};
}

Reply handle::end_measuring(RankFront& front, const Call&) {
  front.end_measuring();
  return {};
}

}  // namespace shardlings::front
