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

}  // namespace shardlings
