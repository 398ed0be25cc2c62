// Moving, filling and converting.
#include "back/kernels/cuda/map.h"
#include "back/kernels/cuda/table.h"
#include "base/dtype.h"
#include "base/float8.h"

namespace shardlings::back::cuda {
namespace {

bool overlap(const void* a, const void* b, Count size) {
  const auto first = reinterpret_cast<std::uintptr_t>(a);
  const auto second = reinterpret_cast<std::uintptr_t>(b);
  const auto bytes = static_cast<std::uintptr_t>(size);
  return first < second + bytes && second < first + bytes;
}

void move(const LaneContext& lane, void* to, const void* from, Count size) {
  check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(size), cudaMemcpyDefault, lane.stream), "cudaMemcpyAsync");
}

void copy(const Kernel& k, const LaneContext& lane) {
  const Count size = k.n[0];
  if (size == 0 || k.out[0] == k.in[0]) return;
  if (!overlap(k.out[0], k.in[0], size)) return move(lane, k.out[0], k.in[0], size);
  const Scratch room(lane, size);
  move(lane, room.as<void>(), k.in[0], size);
  move(lane, k.out[0], room.as<void>(), size);
}

/// Units: of a row; strides in units.
template <class Unit>
__global__ void copy_rows_kernel(Unit* y, const Unit* x, Count rows, Count units, Count stride_y, Count stride_x) {
  const Count step = static_cast<Count>(gridDim.x) * blockDim.x;
  for (Count i = static_cast<Count>(blockIdx.x) * blockDim.x + threadIdx.x; i < rows * units; i += step) {
    const Count row = i / units;
    const Count at = i % units;
    y[row * stride_y + at] = x[row * stride_x + at];
  }
}

template <class Unit>
bool copy_rows_in(const Kernel& k, const LaneContext& lane) {
  constexpr auto kSize = static_cast<Count>(sizeof(Unit));
  const bool fits = aligned<1>(out<Unit>(k, 0)) && aligned<1>(in<Unit>(k, 0)) && k.n[1] % kSize == 0 &&
                    k.n[2] % kSize == 0 && k.n[3] % kSize == 0;
  if (!fits) return false;
  enqueue(lane, grid_for(k.n[0] * (k.n[1] / kSize)), copy_rows_kernel<Unit>, out<Unit>(k, 0), in<Unit>(k, 0), k.n[0],
          k.n[1] / kSize, k.n[2] / kSize, k.n[3] / kSize);
  return true;
}

void copy_rows(const Kernel& k, const LaneContext& lane) {
  if (k.n[0] == 0 || k.n[1] == 0) return;
  if (copy_rows_in<Pack<float, 4>>(k, lane)) return;
  if (copy_rows_in<std::uint32_t>(k, lane)) return;
  if (copy_rows_in<std::uint16_t>(k, lane)) return;
  copy_rows_in<std::uint8_t>(k, lane);
}

template <class T>
struct Value {
  T value;
  __device__ T operator()() const { return value; }
};

void fill(const Kernel& k, const LaneContext& lane) {
  if (is_one_byte(k.dtype)) {
    const std::uint8_t code = k.dtype == DType::e4m3 ? e4m3_of_float(k.f[0]) : e8m0_of_float(k.f[0]);
    return map(lane, k.n[0], Value<std::uint8_t>{code}, out<std::uint8_t>(k, 0));
  }
  if (k.dtype == DType::i32) {
    return map(lane, k.n[0], Value<std::int32_t>{static_cast<std::int32_t>(k.f[0])}, out<std::int32_t>(k, 0));
  }
  by_float(k.dtype, [&](auto type) { map(lane, k.n[0], Value<float>{k.f[0]}, out<decltype(type)>(k, 0)); });
}

struct Same {
  __device__ float operator()(float x) const { return x; }
};

struct FromInt {
  __device__ float operator()(std::int32_t x) const { return static_cast<float>(x); }
};

/// Towards zero; what does not fit becomes the nearest that does, NaN becomes 0.
struct ToInt {
  __device__ std::int32_t operator()(float x) const {
    constexpr float kLimit = 2147483648.0F;
    if (x >= kLimit) return INT32_MAX;
    if (x <= -kLimit) return INT32_MIN;
    return x == x ? static_cast<std::int32_t>(x) : 0;
  }
};

void cast(const Kernel& k, const LaneContext& lane) {
  const Count n = k.n[0];
  const auto to = static_cast<DType>(k.n[1]);
  if (to == k.dtype) {
    Kernel same = k;
    same.n[0] = n * size_of(to);
    return copy(same, lane);
  }
  if (k.dtype == DType::i32) {
    return by_float(to, [&](auto type) { map(lane, n, FromInt{}, out<decltype(type)>(k, 0), in<std::int32_t>(k, 0)); });
  }
  if (to == DType::i32) {
    return by_float(k.dtype,
                    [&](auto type) { map(lane, n, ToInt{}, out<std::int32_t>(k, 0), in<decltype(type)>(k, 0)); });
  }
  if (to == DType::bf16) {
    map(lane, n, Same{}, out<Bf16>(k, 0), in<float>(k, 0));
  } else {
    map(lane, n, Same{}, out<float>(k, 0), in<Bf16>(k, 0));
  }
}

}  // namespace

void add_copy_kernels(KernelTable& table) {
  table[KernelId::copy] = copy;
  table[KernelId::copy_rows] = copy_rows;
  table[KernelId::fill] = fill;
  table[KernelId::cast] = cast;
}

}  // namespace shardlings::back::cuda
