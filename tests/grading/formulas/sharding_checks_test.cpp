#include "grading/formulas/sharding_checks.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "grading/formulas/standstill.h"

namespace shardlings::grading {
namespace {

using front::Event;
using front::EventKind;

/// Which line a failed check shows, for a run of one rank that is made of events.
class PlaceOfFailure : public testing::Test {
 protected:
  PlaceOfFailure() {
    result_.report.ranks.resize(1);
    result_.report.ranks[0].counters.end = Nanos(100);
  }
  void add(EventKind kind, std::int64_t begin, std::int64_t end, int line, std::int64_t bytes = 0) {
    Event event;
    event.kind = kind;
    event.begin = Nanos(begin);
    event.end = Nanos(end);
    event.bytes = Bytes(bytes);
    event.at = {"/somewhere/puzzle.cpp", line};
    result_.report.ranks[0].trace.events.push_back(event);
  }
  int line_of(auto check) {
    verdict::CheckVerdict verdict;
    judge::CheckContext context(
        kase_, result_, []() -> const reference::Reference& { throw std::logic_error("no reference"); }, verdict);
    EXPECT_FALSE(check(context));
    EXPECT_EQ(verdict.where.file, "puzzle.cpp");
    return verdict.where.line;
  }
  int line_of_time() {
    return line_of([](judge::CheckContext& check) { return formulas::finishes_within(check, Nanos(99)); });
  }
  int line_of_bytes() {
    return line_of([](judge::CheckContext& check) { return formulas::sends_exactly(check, 0, Bytes(1)); });
  }

  cases::Case kase_;
  wire::Result result_;
};

TEST_F(PlaceOfFailure, TimeIsWhereTheProgramWaitedLongestWithWorkLeft) {
  add(EventKind::collective, 0, 10, 1);
  add(EventKind::wait, 0, 10, 2);  // before the first forward: nothing to hide behind yet
  add(EventKind::forward, 10, 20, 3);
  add(EventKind::wait, 20, 24, 4);
  add(EventKind::backward, 24, 30, 5);
  add(EventKind::wait, 30, 35, 6);
  add(EventKind::backward, 35, 40, 5);
  add(EventKind::wait, 40, 44, 4);
  add(EventKind::backward, 44, 50, 5);
  add(EventKind::wait, 50, 100, 7);  // after the last backward: nothing left
  EXPECT_EQ(line_of_time(), 4) << "4 + 4 are more than 5";
}

TEST_F(PlaceOfFailure, TimeIsTheFirstCollectiveWhereNothingWaitedInBetween) {
  add(EventKind::forward, 0, 10, 1);
  add(EventKind::backward, 10, 30, 2);
  add(EventKind::collective, 30, 60, 3);
  add(EventKind::collective, 60, 100, 4);
  EXPECT_EQ(line_of_time(), 3);
}

TEST_F(PlaceOfFailure, StandstillIsOfTheTimeAskedFor) {
  add(EventKind::wait, 0, 30, 1);
  add(EventKind::forward, 30, 40, 2);
  add(EventKind::wait, 40, 45, 3);
  add(EventKind::wait, 45, 52, 4);
  add(EventKind::wait, 52, 56, 3);
  add(EventKind::wait, 60, 99, 5);
  const auto longest = [&](std::int64_t from, std::int64_t to) {
    verdict::CheckVerdict verdict;
    const judge::CheckContext context(kase_, result_, nullptr, verdict);
    return formulas::longest_standstill(context, 0, Nanos(from), Nanos(to));
  };
  EXPECT_EQ(longest(0, 100).place.line, 5);
  EXPECT_EQ(longest(0, 59).place.line, 1);
  EXPECT_EQ(longest(30, 59).place.line, 3) << "5 + 4 are more than 7";
  EXPECT_EQ(longest(30, 59).time, Nanos(9));
  EXPECT_EQ(longest(30, 51).place.line, 4);
  EXPECT_EQ(longest(30, 39).place.line, 0);
  EXPECT_EQ(longest(30, 39).time, Nanos(0));
}

TEST_F(PlaceOfFailure, BytesAreWhereMostWereSent) {
  result_.report.ranks[0].trace.names = {"all_reduce"};
  add(EventKind::collective, 0, 10, 1, 300);
  add(EventKind::collective, 10, 20, 2, 200);
  add(EventKind::collective, 20, 30, 2, 200);
  add(EventKind::collective, 30, 40, 3, 50);
  EXPECT_EQ(line_of_bytes(), 2);
}

}  // namespace
}  // namespace shardlings::grading
