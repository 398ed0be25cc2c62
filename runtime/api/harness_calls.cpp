#include "api/harness_calls.h"

#include <stdexcept>

#include "api/request.h"

namespace shardlings::detail::harness {
namespace {

HarnessPort& of(Port* port) {
  HarnessPort* harness = port->harness();
  if (harness == nullptr) throw std::logic_error("this is a bug in shardlings: a harness is not on the runtime's side");
  return *harness;
}

HarnessPort& of(const Rank& rank) {
  return of(Access::port(rank));
}

}  // namespace

Tensor load(const Rank& rank, std::span<const std::byte> values, const Shape& shape, DType dtype, Kind kind,
            Location at) {
  HarnessPort& port = of(rank);
  const Reply reply =
      Request(args::load{.result = {shape, dtype}, .kind = kind, .values = port.lend(values)}, at).send_through(port);
  return Access::adopt(Access::port(rank), reply.tensor[0]);
}

bool computes(const Rank& rank) {
  return of(rank).computes();
}

void mark_layer(const Rank& rank, ConstView tensor, int layer) {
  Request(args::mark_layer{.tensor = tensor, .layer = layer}, kNoPlace).send_through(of(rank));
}

void give_item(const Rank& rank, const char* folder, const Item& item, std::span<const float> values) {
  HarnessPort& port = of(rank);
  const std::string name = std::string(folder) + "/" + item.what;
  Request(args::store_give{.item_of = {Shape(static_cast<Count>(values.size())), DType::f32},
                           .item = name.c_str(),
                           .first = item.first,
                           .second = item.second,
                           .values = port.lend(std::as_bytes(values))},
          kNoPlace)
      .send_through(port);
}

void script_read(const Rank& rank, float value) {
  Request(args::script_read{.value = value}, kNoPlace).send_through(of(rank));
}

void add_model(const Rank& rank, RankModel& model) {
  HarnessPort& port = of(rank);
  const bool divided = static_cast<bool>(model.tp);
  model.id =
      Request(
          args::add_model{.divided = divided, .over = Access::id(model.tp), .structure = port.lend(model.structure)},
          kNoPlace)
          .send_through(port)
          .model;
}

void begin_measuring(const Rank& rank) {
  Request(args::begin_measuring{}, kNoPlace).send_through(of(rank));
}

void end_measuring(const Rank& rank) {
  Request(args::end_measuring{}, kNoPlace).send_through(of(rank));
}

void publish(const Rank& rank, const std::string& name, ConstView view, const MatrixPart& place, Location at) {
  Request(args::publish{.view = view,
                        .rows = place.rows,
                        .cols = place.cols,
                        .row_range = place.part.rows,
                        .col_range = place.part.cols,
                        .name = name.c_str()},
          at)
      .send_through(of(rank));
}

std::vector<float> values_of(ConstView view) {
  return of(Access::port(view)).values_of(Access::ref(view));
}

Nanos now(const Rank& rank) {
  return of(rank).now();
}

Location last_place(const Rank& rank) {
  return of(rank).last_place();
}

}  // namespace shardlings::detail::harness
