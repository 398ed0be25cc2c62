// All-to-all of rows, as many as each two ranks have agreed on: values, bytes, and what is said where they have not.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "contract/on_every_world.h"
#include "support/host.h"

namespace shardlings::contract {
namespace {

using front::RunReport;
using support::load;
using support::publish;
using support::published;
using testing::AllOf;
using testing::HasSubstr;

class Rows : public OnEveryWorld {};

constexpr Count kCols = 3;

/// How many rows go from one rank to another: some of them none, and no two ranks agree on a common number.
Count rows_between(int from, int to, int ranks) {
  return (5 * from + 3 * to + from * to) % (ranks + 2);
}

std::vector<Count> sends_of(int rank, int ranks) {
  std::vector<Count> sends;
  for (int to = 0; to < ranks; ++to) sends.push_back(rows_between(rank, to, ranks));
  return sends;
}

std::vector<Count> receives_of(int rank, int ranks) {
  std::vector<Count> receives;
  for (int from = 0; from < ranks; ++from) receives.push_back(rows_between(from, rank, ranks));
  return receives;
}

Count sum(const std::vector<Count>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), Count{0});
}

/// Sender, receiver and place can be read off each element. All are exact in bf16.
std::vector<float> message(int from, int to, int ranks) {
  std::vector<float> elements;
  for (Count i = 0; i < rows_between(from, to, ranks) * kCols; ++i) {
    elements.push_back(static_cast<float>((3 * from + to) % 8 * 32 + i % 32));
  }
  return elements;
}

std::vector<float> joined(const std::vector<std::vector<float>>& messages) {
  std::vector<float> all;
  for (const auto& one : messages) all.insert(all.end(), one.begin(), one.end());
  return all;
}

std::vector<float> input_of(int rank, int ranks) {
  std::vector<std::vector<float>> messages;
  for (int to = 0; to < ranks; ++to) messages.push_back(message(rank, to, ranks));
  return joined(messages);
}

std::vector<float> output_of(int rank, int ranks) {
  std::vector<std::vector<float>> messages;
  for (int from = 0; from < ranks; ++from) messages.push_back(message(from, rank, ranks));
  return joined(messages);
}

void exchange(Rank& rank, Group& group, DType dtype) {
  const int me = group.rank(), ranks = group.size();
  const std::vector<Count> sends = sends_of(me, ranks), receives = receives_of(me, ranks);
  const Tensor in = load(rank, input_of(me, ranks), {sum(sends), kCols}, dtype);
  Tensor out = rank.empty({sum(receives), kCols}, Kind::buffer, dtype);
  group.all_to_all_rows(in, sends, out, receives);
  publish(rank, "out", out);
}

TEST_P(Rows, GoWhereTheyBelong) {
  for (int ranks = least(1); ranks <= most(6); ++ranks) {
    for (const DType dtype : {DType::f32, DType::bf16, DType::i32}) {
      const RunReport report = run(ranks, [&](Rank& rank) { exchange(rank, rank.world(), dtype); });
      for (int r = 0; r < ranks; ++r) EXPECT_EQ(published(report, r, "out"), output_of(r, ranks)) << ranks;
    }
  }
}

TEST_P(Rows, GoWithinAGroup) {
  if (!supports(4)) GTEST_SKIP() << lacks(4);
  const RunReport report = run(4, [](Rank& rank) {
    Group group = rank.world().split(rank.id() % 2, -rank.id(), "half");  // in the other order
    exchange(rank, group, DType::f32);
  });
  for (int r = 0; r < 4; ++r) EXPECT_EQ(published(report, r, "out"), output_of(r < 2 ? 1 : 0, 2));
}

TEST_P(Rows, CountWhatIsSentToOthers) {
  const int ranks = most(4);
  const RunReport report = run(ranks, [&](Rank& rank) { exchange(rank, rank.world(), DType::f32); });
  for (int r = 0; r < ranks; ++r) {
    const Count rows = sum(sends_of(r, ranks)) - rows_between(r, r, ranks);
    EXPECT_EQ(report.ranks[static_cast<std::size_t>(r)].counters.bytes_sent().value(), rows * kCols * 4);
  }
}

TEST(RowsMisuse, ADisagreementIsAMismatchOfTwoRanks) {
  const auto program = [](Rank& rank, Count expected) {
    const int other = 1 - rank.id();
    std::vector<Count> sends(2), receives(2);
    sends[static_cast<std::size_t>(other)] = 3;
    receives[static_cast<std::size_t>(other)] = rank.id() == 1 ? expected : 3;
    const Tensor in = rank.zeros({3, kCols}, Kind::other);
    Tensor out = rank.zeros({sum(receives), kCols}, Kind::other);
    rank.world().all_to_all_rows(in, sends, out, receives);
  };
  for (const Count expected : {Count{2}, Count{0}}) {
    const RunReport report = world::run(support::options_for(2), [&](Rank& rank) { program(rank, expected); });
    ASSERT_TRUE(report.failure);
    EXPECT_EQ(report.failure->kind, front::FailureKind::mismatch) << report.failure->message;
    EXPECT_THAT(report.failure->message,
                AllOf(HasSubstr("rank 0: all_to_all_rows, 3 rows of 3 f32 to rank 1 at rows_test.cpp:"),
                      HasSubstr(fmt::format("rank 1: all_to_all_rows, {} rows of 3 f32 from rank 0 at rows_test.cpp:",
                                            expected))));
  }
}

TEST(RowsMisuse, WhatCannotBeOnOneRankIsRefusedThere) {
  struct Attempt {
    std::vector<Count> sends, receives;
    const char* sentence;
  };
  const std::vector<Attempt> attempts = {
      {{4}, {2, 2}, "`sends` has 1 numbers; the group has 2 ranks"},
      {{2, 2}, {4, 0, 0}, "`receives` has 3 numbers; the group has 2 ranks"},
      {{-1, 5}, {2, 2}, "`sends` says -1 rows for rank 0; `in` has 4 rows, of which 4 are left"},
      {{2, 3}, {2, 2}, "`sends` says 3 rows for rank 1; `in` has 4 rows, of which 2 are left"},
      {{2, 1}, {2, 2}, "`in` has 4 rows, but the numbers of `sends` add up to 3"},
      {{2, 2}, {1, 2}, "`out` has 4 rows, but the numbers of `receives` add up to 3"},
  };
  for (const Attempt& attempt : attempts) {
    const RunReport report = world::run(support::options_for(2), [&](Rank& rank) {
      const Tensor in = rank.zeros({4, kCols}, Kind::other);
      Tensor out = rank.zeros({4, kCols}, Kind::other);
      rank.world().all_to_all_rows(in, attempt.sends, out, attempt.receives);
    });
    ASSERT_TRUE(report.failure);
    EXPECT_EQ(report.failure->kind, front::FailureKind::invalid_argument);
    EXPECT_THAT(report.failure->message, HasSubstr(attempt.sentence));
  }
}

TEST(RowsMisuse, ARankKeepsAsManyAsItHasForItself) {
  const RunReport report = world::run(support::options_for(1), [](Rank& rank) {
    const Tensor in = rank.zeros({4, kCols}, Kind::other);
    Tensor out = rank.zeros({3, kCols}, Kind::other);
    rank.world().all_to_all_rows(in, {4}, out, {3});
  });
  ASSERT_TRUE(report.failure);
  EXPECT_THAT(report.failure->message, HasSubstr("sends 4 rows to itself and receives 3 from itself"));
}

TEST(RowsMisuse, BothTensorsHaveTheSameType) {
  const RunReport report = world::run(support::options_for(2), [](Rank& rank) {
    const Tensor in = rank.zeros({2, kCols}, Kind::other);
    Tensor out = rank.zeros({2, kCols}, Kind::other, DType::bf16);
    rank.world().all_to_all_rows(in, {1, 1}, out, {1, 1});
  });
  ASSERT_TRUE(report.failure);
  EXPECT_EQ(report.failure->kind, front::FailureKind::invalid_argument);
  EXPECT_THAT(report.failure->message, HasSubstr("`in` is f32 and `out` is bf16"));
}

INSTANTIATE_TEST_SUITE_P(All, Rows, testing::ValuesIn(support::world_kinds()), name_of_world);

}  // namespace
}  // namespace shardlings::contract
