// The host's memory: counted apart from the device's, limited apart, and holding what was put there.
#include <gtest/gtest.h>

#include <stdexcept>

#include "front/host/on_host.h"

namespace shardlings::test {
namespace {

using front::Counters;

std::int64_t of_kind(const front::KindBytes& bytes, Kind kind) {
  return bytes[static_cast<std::size_t>(kind)].value();
}

TEST(HostMemory, IsCountedApartFromTheDevices) {
  const Counters counters = counters_of(world::run(world_with_host(), [](Rank& rank) {
    Tensor weights = rank.zeros(10, Kind::parameter);
    Tensor m = rank.host_zeros(100, Kind::optimizer);
    { Tensor more = rank.host_empty({4, 5}, Kind::buffer, DType::bf16); }
    m = {};
    Tensor last = rank.host_zeros(3, Kind::other);
    Tensor none = rank.host_zeros(0, Kind::other);
  }));
  EXPECT_EQ(counters.peak.value(), 40);
  EXPECT_EQ(counters.host.peak.value(), 400 + 40);
  EXPECT_EQ(of_kind(counters.host.peak_by_kind, Kind::optimizer), 400);
  EXPECT_EQ(of_kind(counters.host.peak_by_kind, Kind::buffer), 40);
  EXPECT_EQ(counters.host.peak_file, "memory_test.cpp");
  EXPECT_EQ(counters.live.value() + counters.host.live.value(), 0);
}

TEST(HostMemory, HasACurveOfItsOwn) {
  const auto report = world::run(world_with_host(), [](Rank& rank) {
    Tensor a = rank.host_zeros(10, Kind::optimizer);
    compute(rank, 1);
    a = {};
  });
  ASSERT_FALSE(report.failure);
  const auto& curve = report.ranks[0].trace.host_memory;
  ASSERT_EQ(curve.size(), 2U);
  EXPECT_EQ(of_kind(curve[0].live, Kind::optimizer), 40);
  EXPECT_EQ(curve[1].time.value(), kMs);
  EXPECT_EQ(of_kind(curve[1].live, Kind::optimizer), 0);
}

TEST(HostMemory, HasACapacityOfItsOwn) {
  auto options = world_with_host();
  options.capacity = Bytes(10);
  options.host_capacity = Bytes(1000);
  const auto report = world::run(options, [](Rank& rank) {
    Tensor fits = rank.host_zeros(200, Kind::optimizer);
    Tensor device = rank.zeros(1, Kind::other);
    Tensor does_not = rank.host_zeros(51, Kind::gradient);
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::out_of_memory);
  for (const char* part : {"out of host memory on rank 0", "204 B more (gradient)", "800 B of 1000 B", "optimizer"}) {
    EXPECT_NE(report.failure->message.find(part), std::string::npos) << part << "\n" << report.failure->message;
  }
  EXPECT_EQ(report.failure->message.find("other"), std::string::npos) << "the device's tensors do not fill the host";
}

TEST(HostMemory, FreshMemoryIsNaNWhereAsked) {
  auto options = world_with_host();
  options.poison_empty = true;
  const auto report = world::run(options, [](Rank& rank) {
    const float value = rank.read(rank.host_empty(1, Kind::other));
    if (value == value) throw std::runtime_error("a number");
    if (rank.read(rank.host_zeros(1, Kind::other)) != 0) throw std::runtime_error("not zero");
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
  EXPECT_EQ(report.ranks[0].counters.host_reads, 0) << "nothing left the device";
}

TEST(HostMemory, KeepsWhatWasCopiedThereAndBack) {
  const auto report = world::run(world_with_host(), [](Rank& rank) {
    Tensor a = rank.empty(9, Kind::other);
    random_normal(a, 1, 0, 1);
    Tensor host = rank.host_empty(9, Kind::other), back = rank.empty(9, Kind::other);
    copy(host, a);
    copy(back.part({3, 9}), host.part({3, 9}));
    for (Count i = 3; i < 9; ++i) {
      if (rank.read(back.part({i, i + 1})) != rank.read(a.part({i, i + 1}))) throw std::runtime_error("changed");
    }
  });
  EXPECT_FALSE(report.failure) << report.failure->message;
}

}  // namespace
}  // namespace shardlings::test
