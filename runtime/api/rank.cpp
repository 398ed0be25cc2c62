#include "shardlings/rank.h"

#include "api/request.h"

namespace shardlings {

using detail::Request;
namespace args = detail::args;

namespace {

Tensor allocate(detail::Port* port, Shape shape, Kind kind, DType dtype, bool zeros, bool on_host, Location at) {
  return Request(port, args::allocate{.result = {shape, dtype}, .kind = kind, .zeros = zeros, .on_host = on_host}, at)
      .result();
}

}  // namespace

Tensor Rank::empty(Shape shape, Kind kind, DType dtype, Location at) {
  return allocate(port_, shape, kind, dtype, false, false, at);
}

Tensor Rank::zeros(Shape shape, Kind kind, DType dtype, Location at) {
  return allocate(port_, shape, kind, dtype, true, false, at);
}

Tensor Rank::host_empty(Shape shape, Kind kind, DType dtype, Location at) {
  return allocate(port_, shape, kind, dtype, false, true, at);
}

Tensor Rank::host_zeros(Shape shape, Kind kind, DType dtype, Location at) {
  return allocate(port_, shape, kind, dtype, true, true, at);
}

float Rank::read(ConstView scalar, Location at) {
  return Request(port_, args::read_scalar{.scalar = scalar}, at).send().scalar;
}

Store Rank::store() const {
  return detail::Access::store(port_);
}

Survivors Rank::survivors(Count says, Location at) {
  const detail::Reply made = Request(port_, args::survivors{.says = static_cast<std::uint64_t>(says)}, at).send();
  Survivors survivors;
  survivors.group = detail::Access::group(port_, made.group, made.group_rank, made.group_size);
  for (int r = 0; r < made.group_size; ++r) {
    const detail::Reply told = Request(port_, args::survivor{.group = made.group, .rank = r}, at).send();
    survivors.ranks.push_back(told.group_rank);
    survivors.said.push_back(static_cast<Count>(told.id));
  }
  return survivors;
}

}  // namespace shardlings
