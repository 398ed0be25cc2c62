// Trees of messages as a trace shows them, and what the order of their children costs.
#include "grading/formulas/message_tree.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace shardlings::grading {
namespace {

using formulas::MessageTree;
using front::Event;
using front::EventKind;

Nanos one(int, int) {
  return Nanos(1);
}

TEST(MessageTree, TakesAsLongAsItsOrderSays) {
  const MessageTree far_first{{{4, 2, 1}, {}, {3}, {}, {6, 5}, {}, {7}, {}}},
      near_first{{{1, 2, 4}, {}, {3}, {}, {5, 6}, {}, {7}, {}}};
  EXPECT_EQ(time_down(far_first, one, false), Nanos(3)) << "log2 of 8 ranks";
  EXPECT_EQ(time_down(near_first, one, false), Nanos(6));
  EXPECT_EQ(time_down(near_first, one, true), Nanos(3)) << "the same tree in the best order";
  EXPECT_EQ(time_up(near_first, one, false), Nanos(3)) << "sums of near ranks are ready first";
  EXPECT_EQ(time_up(far_first, one, false), Nanos(6));
  EXPECT_EQ(time_up(far_first, one, true), Nanos(3));
}

TEST(MessageTree, StarsAndChainsAreToldAmongMembers) {
  const MessageTree star{{{1, 2, 3}, {}, {}, {}}}, chain{{{1}, {2}, {3}, {}}}, pairs{{{1}, {}, {3}, {}}};
  EXPECT_TRUE(star.is_star({0, 1, 2, 3}));
  EXPECT_FALSE(star.is_chain({0, 1, 2, 3}));
  EXPECT_TRUE(chain.is_chain({0, 1, 2, 3}));
  EXPECT_FALSE(chain.is_star({0, 1, 2, 3}));
  EXPECT_FALSE(chain.is_chain({0, 2})) << "they have nothing to do with each other";
  EXPECT_FALSE(pairs.is_chain({0, 1, 2, 3}));
}

class MessageTrees : public testing::Test {
 protected:
  MessageTrees() {
    kase_.ranks = 3;
    result_.report.ranks.resize(3);
  }
  void message(int from, int to) {
    ++now_;
    add(from, EventKind::send, to);
    add(to, EventKind::recv, from);
  }
  void add(int rank, EventKind kind, int peer) {
    Event event;
    event.kind = kind;
    event.peer = peer;
    event.posted = Nanos(now_);
    result_.report.ranks[static_cast<std::size_t>(rank)].trace.events.push_back(event);
  }
  std::optional<formulas::MessageTrees> found() {
    verdict::CheckVerdict verdict;
    const judge::CheckContext check(
        kase_, result_, []() -> const reference::Reference& { throw std::logic_error("no reference"); }, verdict);
    return formulas::message_trees(check);
  }

  std::int64_t now_ = 0;
  cases::Case kase_;
  wire::Result result_;
};

TEST_F(MessageTrees, AreReadFromTheTrace) {
  message(2, 1);
  message(1, 0);
  message(0, 1);
  message(0, 2);
  ASSERT_TRUE(found());
  EXPECT_EQ(found()->up.children, (std::vector<std::vector<int>>{{1}, {2}, {}}));
  EXPECT_EQ(found()->down.children, (std::vector<std::vector<int>>{{1, 2}, {}, {}}));
}

TEST_F(MessageTrees, AreNoneWhereARankSendsTwiceOrNothing) {
  EXPECT_FALSE(found());
  message(2, 0);
  message(1, 0);
  message(1, 0);
  message(0, 1);
  message(0, 2);
  EXPECT_FALSE(found());
}

TEST_F(MessageTrees, AreNoneWhereMessagesStartAtOnce) {
  message(2, 0);
  message(1, 0);
  message(0, 1);
  --now_;
  message(0, 2);
  EXPECT_FALSE(found()) << "their order says little about who waits";
}

}  // namespace
}  // namespace shardlings::grading
