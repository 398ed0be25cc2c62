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

/// Collectives of two ranks, all of them of rank 0.
class Calls : public PlaceOfFailure {
 protected:
  Calls() {
    kase_.ranks = 2;
    result_.report.ranks[0].trace.names = {"all_reduce", "broadcast", "split"};
  }
  void call(front::Collective kind, std::uint16_t name, int line, std::int64_t bytes = 0) {
    add(EventKind::collective, 0, 10, line, bytes);
    Event& event = result_.report.ranks[0].trace.events.back();
    event.name = name;
    event.order = ++calls_;
    front::Traffic& traffic = result_.report.ranks[0].counters.traffic[{kind, "world", front::Link::intra_node}];
    ++traffic.calls;
    traffic.sent += Bytes(bytes);
  }
  bool holds(auto check) {
    verdict::CheckVerdict verdict;
    judge::CheckContext context(kase_, result_, nullptr, verdict);
    return check(context);
  }
  static bool two_all_reduces(judge::CheckContext& check) {
    return formulas::calls_exactly(check, 0, front::Collective::all_reduce, judge::named("L", Count(2)));
  }
  static bool at_most_two(judge::CheckContext& check) {
    return formulas::operations_at_most(check, 0, judge::named("L", Count(2)));
  }

 private:
  std::uint64_t calls_ = 0;
};

TEST_F(Calls, TheFirstOneTooManyIsShown) {
  call(front::Collective::all_reduce, 0, 1);
  call(front::Collective::all_reduce, 0, 2);
  EXPECT_TRUE(holds(two_all_reduces));
  call(front::Collective::all_reduce, 0, 3);
  call(front::Collective::all_reduce, 0, 4);
  EXPECT_EQ(line_of(two_all_reduces), 3);
}

TEST_F(Calls, WhereSomeAreMissingWhatStandsInTheirPlaceIsShown) {
  call(front::Collective::split, 2, 1);
  call(front::Collective::broadcast, 1, 2);
  call(front::Collective::all_reduce, 0, 3);
  EXPECT_EQ(line_of(two_all_reduces), 2);
}

TEST_F(Calls, OneRankMayCallWhatItLikes) {
  kase_.ranks = 1;
  EXPECT_TRUE(holds(two_all_reduces));
}

TEST_F(Calls, OperationsAreCollectivesThatMoveSomethingAndRingsOfMessages) {
  kase_.ranks = 3;
  call(front::Collective::split, 2, 1);
  call(front::Collective::broadcast, 1, 2);
  for (int i = 0; i < 2; ++i) add(EventKind::send, 0, 1, 3);
  EXPECT_TRUE(holds(at_most_two)) << "two messages are one ring of three ranks";
  call(front::Collective::broadcast, 1, 2);
  EXPECT_EQ(line_of(at_most_two), 2);
}

TEST_F(Calls, PiecesAreMoreCallsWithoutMoreBytes) {
  for (int i = 0; i < 3; ++i) call(front::Collective::all_reduce, 0, 1, 100);
  const auto cut = [](std::int64_t bytes) {
    return [bytes](judge::CheckContext& check) {
      return formulas::cut_into_pieces(check, 0, front::Collective::all_reduce, 2, Bytes(bytes));
    };
  };
  EXPECT_TRUE(holds(cut(300)));
  EXPECT_FALSE(holds(cut(200)));
}

TEST_F(Calls, BehindBackwardIsWhatStartsWithinNoPassOfAnyStep) {
  kase_.model.layers = 2;
  for (const std::int64_t step : {0, 100}) {
    add(EventKind::backward, step + 10, step + 20, 1);
    add(EventKind::backward, step + 20, step + 30, 1);
  }
  const auto behind = [](std::int64_t posted) {
    return [posted](judge::CheckContext& check) {
      Event transfer;
      transfer.posted = Nanos(posted);
      return formulas::starts_behind_backward(check, 0, {transfer});
    };
  };
  EXPECT_TRUE(holds(behind(30)));
  EXPECT_TRUE(holds(behind(130)));
  EXPECT_FALSE(holds(behind(20))) << "layer 0 has still to go backward";
  EXPECT_FALSE(holds(behind(120)));
}

TEST_F(Calls, LateIsATransferThatStartsAfterTheEndOfWhatItSends) {
  std::vector<Event> transfers(2), backwards(2);
  backwards[0].end = transfers[0].posted = Nanos(10);
  backwards[1].end = Nanos(20);
  transfers[1].posted = Nanos(21);
  transfers[1].at = {"puzzle.cpp", 7};
  EXPECT_EQ(formulas::first_late(transfers, backwards).place.line, 7);
  transfers[1].posted = Nanos(20);
  EXPECT_FALSE(formulas::first_late(transfers, backwards));
}

}  // namespace
}  // namespace shardlings::grading
