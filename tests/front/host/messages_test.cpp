// What is said to programs that mix the two memories up.
#include <gtest/gtest.h>

#include "front/host/on_host.h"

namespace shardlings::test {
namespace {

void expect_invalid(const std::function<void(Rank&)>& body, const char* part) {
  const auto report = world::run(world_with_host(), body);
  ASSERT_TRUE(report.failure) << "expected: " << part;
  EXPECT_EQ(report.failure->kind, front::FailureKind::invalid_argument);
  EXPECT_EQ(report.failure->file, "messages_test.cpp");
  EXPECT_NE(report.failure->message.find(part), std::string::npos) << report.failure->message;
}

TEST(HostMessages, TheDeviceComputesOnItsOwnMemory) {
  const char* sentence = "argument 1 is in the host's memory, which only copy, copy_async, adam and adam_async can use";
  expect_invalid([](Rank& rank) { scale(rank.host_zeros(4, Kind::other), 2); }, sentence);
  expect_invalid([](Rank& rank) { clone(rank.host_zeros(4, Kind::other)); }, sentence);
  expect_invalid(
      [](Rank& rank) {
        Tensor t = rank.host_zeros(4, Kind::other);
        rank.world().all_reduce(t, ReduceOp::sum);
      },
      sentence);
}

TEST(HostMessages, TheHostComputesOnItsOwnMemory) {
  const auto program = [](int wrong) {
    return [wrong](Rank& rank) {
      OnHost state(rank, 4);
      const Tensor elsewhere = rank.zeros(4, Kind::other);
      adam(state.w, wrong == 0 ? ConstView(elsewhere) : ConstView(state.grad), state.m, state.v, {},
           wrong == 1 ? ConstView(elsewhere) : ConstView());
    };
  };
  expect_invalid(program(0), "adam: grad is in the device's memory, but the first argument is in the host's");
  expect_invalid(program(1), "adam: factor is in the device's memory, but the first argument is in the host's");
}

TEST(HostMessages, OnlyTheHostWorksBesideTheProgram) {
  expect_invalid(
      [](Rank& rank) {
        Tensor a = rank.zeros(4, Kind::other), b = rank.zeros(4, Kind::other);
        copy_async(a, b).wait();
      },
      "copy_async: both tensors are in the device's memory");
  expect_invalid(
      [](Rank& rank) {
        Tensor w = rank.zeros(4, Kind::other), g = rank.zeros(4, Kind::other);
        Tensor m = rank.zeros(4, Kind::other), v = rank.zeros(4, Kind::other);
        adam_async(w, g, m, v, {}).wait();
      },
      "adam_async: w is in the device's memory");
}

TEST(HostMessages, CopiesAgreeInSizeAndType) {
  expect_invalid([](Rank& rank) { copy(rank.host_zeros(4, Kind::other), rank.zeros(5, Kind::other)); },
                 "copy: 5 elements of f32 cannot become 4 of f32");
  expect_invalid(
      [](Rank& rank) { copy_async(rank.host_zeros(4, Kind::other), rank.zeros(4, Kind::other, DType::bf16)).wait(); },
      "copy_async: 4 elements of bf16 cannot become 4 of f32");
  expect_invalid([](Rank& rank) { copy(rank.host_zeros(4, Kind::other), ConstView()); }, "copy: from is empty");
  expect_invalid(
      [](Rank& rank) {
        Tensor host = rank.host_zeros(4, Kind::other);
        copy(host.part({0, 3}), host.part({1, 4}));
      },
      "overlap");
}

}  // namespace
}  // namespace shardlings::test
