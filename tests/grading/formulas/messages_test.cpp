// What a message takes by hand, and who receives from anybody.
#include "grading/formulas/messages.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace shardlings::grading::formulas {
namespace {

TEST(Messages, TakeTheirBytesOverTheBandwidth) {
  cases::Case kase;
  kase.cluster.links[static_cast<std::size_t>(front::Link::intra_node)].bytes_per_second = 1e9;
  EXPECT_EQ(transfer_time(kase, 192), Nanos(768));
  kase.cluster.links[static_cast<std::size_t>(front::Link::intra_node)].bytes_per_second = 3e9;
  EXPECT_EQ(transfer_time(kase, 2), Nanos(3)) << "8/3, rounded";
}

TEST(Messages, OfARankThatReceivesFromAnybody) {
  cases::Case kase;
  kase.ranks = 2;
  wire::Result result;
  result.report.ranks.resize(2);
  front::RankTrace& trace = result.report.ranks[1].trace;
  trace.names = {"recv", "recv_any"};
  verdict::CheckVerdict verdict;
  const judge::CheckContext check(
      kase, result, []() -> const reference::Reference& { throw std::logic_error("no reference"); }, verdict);
  const auto receives_by = [&](std::uint16_t name) {
    front::Event event;
    event.kind = front::EventKind::recv;
    event.name = name;
    trace.events.push_back(event);
    return receives_from_any(check, 1);
  };
  EXPECT_FALSE(receives_from_any(check, 1)) << "it receives nothing";
  EXPECT_FALSE(receives_by(0));
  EXPECT_TRUE(receives_by(1));
  EXPECT_FALSE(receives_from_any(check, 0));
}

}  // namespace
}  // namespace shardlings::grading::formulas
