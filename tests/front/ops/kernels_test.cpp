// What operations do not reach: the ordered reduction, the allocator, the approximation of exp.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "back/kernels/cpu/allocator.h"
#include "back/kernels/cpu/exp.h"
#include "back/kernels/kernel_ids.h"
#include "front/ops/on_rank.h"

namespace shardlings::ops_test {
namespace {

using back::Kernel;
using back::KernelId;

TEST(Exp, IsAccurate) {
  double worst = 0;
  for (float x = -86.5F; x < 88.7F; x += 0.00137F) {
    const double want = std::exp(static_cast<double>(x));
    worst = std::max(worst, std::abs(static_cast<double>(back::cpu::fast_exp(x)) - want) / want);
  }
  EXPECT_LT(worst, 2e-7);
}

TEST(Exp, HandlesTheEnds) {
  using back::cpu::fast_exp;
  EXPECT_EQ(fast_exp(0), 1);
  EXPECT_EQ(fast_exp(-INFINITY), 0);
  EXPECT_EQ(fast_exp(-1e30F), 0);
  EXPECT_EQ(fast_exp(INFINITY), INFINITY);
  EXPECT_EQ(fast_exp(89), INFINITY);
  EXPECT_TRUE(std::isnan(fast_exp(NAN)));
  EXPECT_NEAR(fast_exp(88.72F) / std::exp(88.72F), 1, 2e-7);
}

class Reduce : public testing::Test {
 protected:
  static constexpr Count kSize = 1500;  // more than a block

  /// in[j][i] on three "ranks".
  std::vector<Floats> inputs() {
    Source source(8);
    std::vector<Floats> result;
    for (int j = 0; j < 3; ++j) {
      const Doubles values = source.numbers(kSize);
      result.emplace_back(values.begin(), values.end());
    }
    return result;
  }
  Kernel kernel(ReduceOp op, DType dtype, Count inputs) const {
    Kernel k;
    k.id = KernelId::reduce;
    k.dtype = dtype;
    k.n[0] = kSize;
    k.n[1] = inputs;
    k.n[2] = static_cast<Count>(op);
    k.n[3] = 3;
    return k;
  }
  std::unique_ptr<back::Device> device_ = back::make_cpu_device();
};

TEST_F(Reduce, SumsInTheOrderOfTheInputs) {
  const std::vector<Floats> in = inputs();
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::mean, ReduceOp::max, ReduceOp::min}) {
    Floats got(kSize);
    Kernel k = kernel(op, DType::f32, 3);
    for (int j = 0; j < 3; ++j) k.in[j] = in[static_cast<std::size_t>(j)].data();
    k.out[0] = got.data();
    device_->launch(k);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const float sum = in[0][i] + in[1][i] + in[2][i];
      const float want = op == ReduceOp::sum    ? sum
                         : op == ReduceOp::mean ? sum / 3
                         : op == ReduceOp::max  ? std::max({in[0][i], in[1][i], in[2][i]})
                                                : std::min({in[0][i], in[1][i], in[2][i]});
      ASSERT_EQ(got[i], want) << i;
    }
  }
}

/// Through an f32 partial result, as for more inputs than a kernel takes: rounded and divided once.
TEST_F(Reduce, ContinuesFromAPartialResult) {
  std::vector<std::vector<std::uint16_t>> in;
  std::vector<Floats> exact;
  for (const Floats& values : inputs()) {
    in.emplace_back();
    exact.emplace_back();
    for (const float v : values) {
      in.back().push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(v) >> 16U));
      exact.back().push_back(std::bit_cast<float>(static_cast<std::uint32_t>(in.back().back()) << 16U));
    }
  }
  std::vector<std::uint16_t> whole(kSize), continued(kSize);
  Floats partial(kSize);
  Kernel k = kernel(ReduceOp::mean, DType::bf16, 3);
  for (std::size_t j = 0; j < 3; ++j) k.in[j] = in[j].data();
  k.out[0] = whole.data();
  device_->launch(k);

  Kernel first = kernel(ReduceOp::mean, DType::bf16, 2);
  first.in[0] = in[0].data();
  first.in[1] = in[1].data();
  first.n[5] = 1;
  first.out[0] = partial.data();
  device_->launch(first);
  Kernel second = kernel(ReduceOp::mean, DType::bf16, 2);
  second.in[0] = partial.data();
  second.in[1] = in[2].data();
  second.n[4] = 1;
  second.out[0] = continued.data();
  device_->launch(second);
  EXPECT_EQ(whole, continued);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const float want = (exact[0][i] + exact[1][i] + exact[2][i]) / 3;
    const auto got = std::bit_cast<float>(static_cast<std::uint32_t>(whole[i]) << 16U);
    ASSERT_NEAR(got, want, std::abs(want) / 256) << i;
  }
}

TEST_F(Reduce, IntegersInPlace) {
  std::vector<std::int32_t> a(kSize, 7), b(kSize, -20), c(kSize, 16777217);
  Kernel k = kernel(ReduceOp::sum, DType::i32, 3);
  k.in[0] = a.data();
  k.in[1] = b.data();
  k.in[2] = c.data();
  k.out[0] = b.data();  // as in an all-reduce in place
  device_->launch(k);
  EXPECT_EQ(b, std::vector<std::int32_t>(kSize, 7 - 20 + 16777217));
}

TEST(Allocator, HandsOutAlignedMemoryAndReusesIt) {
  back::cpu::CachingAllocator allocator;
  void* first = allocator.allocate(1000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0U);
  allocator.release(first, 1000);
  const std::size_t idle = allocator.idle();
  if (idle == 0) GTEST_SKIP() << "AddressSanitizer: the allocator keeps nothing. Needs a build without it";
  EXPECT_EQ(idle, 1024U);
  void* other = allocator.allocate(2000);
  EXPECT_NE(other, first) << "only exact sizes are reused";
  EXPECT_EQ(allocator.allocate(1020), first);
  EXPECT_EQ(allocator.idle(), 0U);
  allocator.release(first, 1020);
  allocator.release(other, 2000);
}

TEST(Allocator, FailsWithoutHarm) {
  back::cpu::CachingAllocator allocator;
  EXPECT_THROW(allocator.allocate(SIZE_MAX - 1), std::bad_alloc);
  void* empty = allocator.allocate(0);
  EXPECT_NE(empty, nullptr);
  allocator.release(empty, 0);
}

}  // namespace
}  // namespace shardlings::ops_test
