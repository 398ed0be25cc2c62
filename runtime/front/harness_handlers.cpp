// What a harness sets a rank up with, and how the judge gets to see something of it.
#include <fmt/format.h>

#include <utility>
#include <variant>

#include "api/arguments.h"
#include "base/extents.h"
#include "base/text.h"
#include "front/handlers.h"

namespace shardlings::front {

using detail::Call;
using detail::Reply;
namespace unpacked = detail::unpacked;

Reply handle::load(RankFront& front, const Call& call) {
  const unpacked::load given(call);
  const auto lent = front.doors().lent(given.values);
  const auto* values = std::get_if<Doors::Values>(&lent);
  const detail::Ref& like = call.tensor[0];
  const Location at = front.rank().place(call);
  const Operand made = front.memory().allocate(like.shape, like.dtype, given.kind, Memory::device, at);
  const bool computes = front.rank().device().computes();  // else nobody makes values, of gigabytes perhaps
  if (values == nullptr || (computes && values->size() != static_cast<std::size_t>(made.bytes().value()))) {
    front.memory().free(made.ref, at);
    front.rank().invalid(call, fmt::format("load: {} bytes are lent for {}", values != nullptr ? values->size() : 0,
                                           to_text(made.bytes())));
  }
  if (computes && made.size() > 0) front.rank().device().upload(made.data, values->data(), made.bytes());
  Reply reply;
  reply.tensor[0] = made.ref;
  return reply;
}

Reply handle::store_give(RankFront& front, const Call& call) {
  const unpacked::store_give given(call);
  const auto lent = front.doors().lent(given.values);
  const auto* values = std::get_if<Doors::Values>(&lent);
  const detail::Ref& like = call.tensor[0];
  const bool computes = front.rank().device().computes();
  const Count count = is_possible(like.shape) ? like.shape.size() : -1;
  const bool fits = values != nullptr && like.dtype == DType::f32 && count >= 0 &&
                    (!computes || values->size() == static_cast<std::size_t>(count) * sizeof(float));
  if (!fits) front.rank().invalid(call, "store.give: the values are not those of such a tensor of f32");
  front.store().give(front.store().name_in(call, given.first, given.second), count,
                     computes ? values->data() : nullptr);
  return {};
}

Reply handle::add_model(RankFront& front, const Call& call) {
  const unpacked::add_model given(call);
  const auto lent = front.doors().lent(given.structure);
  const auto* structure = std::get_if<std::shared_ptr<const model::ModelStructure>>(&lent);
  if (structure == nullptr || !*structure) front.rank().invalid(call, "add_model: no structure is lent to it");
  Reply reply;
  const Group tp = given.divided ? front.groups().handle_of(front.port(), call) : Group();
  reply.model = front.models().models.add({*structure, tp, 0});
  return reply;
}

// What is wrong has been found on the caller's side, and only the sentence comes here.
Reply handle::refuse(RankFront& front, const Call& call) {
  const char* sentence = front.rank().texts().text(unpacked::refuse(call).sentence);
  // Where the program has told too many texts, this one found no room either.
  throw InvalidArgument(*sentence != '\0' ? sentence : "too many different names and texts", front.rank().place(call));
}

Reply handle::publish(RankFront& front, const Call& call) {
  if (!front.rank().device().computes()) return {};
  const unpacked::publish given(call);
  Published published;
  published.name = front.rank().texts().text(given.name);
  published.place = {given.rows, given.cols, {given.row_range, given.col_range}};
  const Operand found = front.memory().find(call, {.index = given.view.index});
  published.missing = !found;
  published.values = front.memory().download(found);
  front.publish(std::move(published));
  return {};
}

Reply handle::script_read(RankFront& front, const Call& call) {
  front.rank().script_read(unpacked::script_read(call).value);
  return {};
}

Reply handle::begin_measuring(RankFront& front, const Call& call) {
  front.begin_measuring(front.rank().place(call));
  return {};
}

Reply handle::end_measuring(RankFront& front, const Call&) {
  front.rank().calls().end_run();
  front.end_measuring();
  return {};
}

}  // namespace shardlings::front
