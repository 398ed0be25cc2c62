// Bandwidth of the kernels that are bound by memory, beside a plain copy on the same GPU in the same run. Bytes are
// those that a kernel must read and write at least once.
#include <fmt/format.h>

#include "back/kernels/kernel_ids.h"
#include "base/dtype.h"
#include "bench/gpu/bench.h"

namespace shardlings::bench {
namespace {

using back::Device;
using back::Kernel;
using back::KernelId;

/// A kernel and how many elements' worth of memory it touches.
struct Subject {
  const char* name;
  Kernel kernel;
  double touched;  ///< bytes
};

/// Buffers of equal size, zero.
class Memory {
 public:
  Memory(Device& device, int buffers, Bytes size) : device_(device), size_(size) {
    for (int i = 0; i < buffers; ++i) {
      all_.push_back(device.allocate(size));
      Kernel zero;
      zero.id = KernelId::fill;
      zero.out[0] = all_.back();
      zero.n[0] = size.value() / 4;
      device.launch(zero);
    }
  }
  ~Memory() {
    for (void* memory : all_) device_.release(memory, size_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* operator[](std::size_t i) const { return all_[i]; }

 private:
  Device& device_;
  Bytes size_;
  std::vector<void*> all_;
};

Kernel kernel_of(KernelId id, DType dtype, std::initializer_list<void*> out, std::initializer_list<const void*> in,
                 std::initializer_list<Count> n, std::initializer_list<float> f = {}) {
  Kernel kernel;
  kernel.id = id;
  kernel.dtype = dtype;
  std::copy(out.begin(), out.end(), kernel.out);
  std::copy(in.begin(), in.end(), kernel.in);
  std::copy(n.begin(), n.end(), kernel.n);
  std::copy(f.begin(), f.end(), kernel.f);
  return kernel;
}

std::vector<Subject> subjects(const Memory& m, Count rows, Count cols, DType dtype) {
  const Count n = rows * cols;
  const auto size = static_cast<double>(bytes_of(n, dtype).value());
  std::vector<Subject> list = {
      {"copy", kernel_of(KernelId::copy, dtype, {m[0]}, {m[1]}, {bytes_of(n, dtype).value()}), 2 * size},
      {"add", kernel_of(KernelId::add, dtype, {m[0]}, {m[1]}, {n}), 3 * size},
      {"scale", kernel_of(KernelId::scale, dtype, {m[0]}, {}, {n}, {1}), 2 * size},
      {"gelu", kernel_of(KernelId::gelu, dtype, {m[0]}, {m[1]}, {n}), 2 * size},
      {"gelu_backward", kernel_of(KernelId::gelu_backward, dtype, {m[0]}, {m[1], m[2]}, {n}), 3 * size},
      {"add_bias", kernel_of(KernelId::add_bias, dtype, {m[0]}, {m[1]}, {rows, cols}), 2 * size},
      {"softmax", kernel_of(KernelId::softmax, dtype, {m[0]}, {m[1]}, {rows, cols}), 2 * size},
      {"layer_norm", kernel_of(KernelId::layer_norm, dtype, {m[0], m[3]}, {m[1], m[2], m[2]}, {rows, cols}, {1e-5F}),
       2 * size},
      {"reduce of 4", kernel_of(KernelId::reduce, dtype, {m[0]}, {m[0], m[1], m[2], m[3]}, {n, 4, 0, 4, 0, 0}),
       5 * size},
  };
  if (dtype != DType::f32) return list;
  list.push_back({"cast to bf16",
                  kernel_of(KernelId::cast, dtype, {m[0]}, {m[1]}, {n, static_cast<Count>(DType::bf16)}), 1.5 * size});
  list.push_back({"adam",
                  kernel_of(KernelId::adam, dtype, {m[0], m[1], m[2]}, {m[3]}, {n, 1}, {1e-3F, 0.9F, 0.99F, 1e-8F, 0}),
                  7 * size});
  return list;
}

void kernels(const Place& place) {
  constexpr double kGiga = 1e9;
  const auto device = place.make_device();
  const Count rows = place.size(32768, 8), cols = place.size(4096, 64);
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const Memory memory(*device, 4, bytes_of(rows * cols, DType::f32));
    double copy = 0;
    for (const Subject& subject : subjects(memory, rows, cols, dtype)) {
      const double seconds =
          seconds_of([&] { device->synchronize(); }, [&] { device->launch(subject.kernel); }, place.is_trial);
      const double bandwidth = subject.touched / seconds / kGiga;
      if (copy == 0) copy = bandwidth;
      print(fmt::format("{} {} ({}, {})", subject.name, name_of(dtype), rows, cols), bandwidth, "GB/s", copy, "copy");
    }
  }
}

}  // namespace
}  // namespace shardlings::bench

int main(int argc, char** argv) {
  return shardlings::bench::run(argc, argv, 1, shardlings::bench::kernels);
}
