#include "shardlings/rank.h"

#include "api/access.h"

namespace shardlings {
namespace {

Tensor allocate(detail::Port* port, Shape shape, Kind kind, DType dtype, bool zeros, bool on_host, Location at) {
  detail::Call call;
  call.verb = detail::Verb::allocate;
  call.at = at;
  call.tensor[0].shape = shape;
  call.tensor[0].dtype = dtype;
  call.number[0] = static_cast<std::int64_t>(kind);
  call.number[1] = zeros ? 1 : 0;
  call.number[2] = on_host ? 1 : 0;
  return detail::Access::adopt(port, port->call(call).tensor[0]);
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
  detail::Call call;
  call.verb = detail::Verb::read_scalar;
  call.at = at;
  call.num_tensors = 1;
  call.tensor[0] = detail::Access::ref(scalar);
  return port_->call(call).scalar;
}

}  // namespace shardlings
