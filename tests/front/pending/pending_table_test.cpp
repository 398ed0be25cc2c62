// Operations that a call waits for, and what becomes of them when they fail.
#include "front/pending/pending_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "support/on_rank.h"

namespace shardlings::front {
namespace {

/// One that fails whenever it is waited for.
class Failing final : public PendingOperation {
 public:
  explicit Failing(int& tried) : tried_(tried) {}
  Times settle(Location) override {
    ++tried_;
    throw std::runtime_error("the fabric is broken");
  }
  bool settled() const override { return false; }
  bool can_settle() const override { return false; }
  void revoke() override {}
  back::DeviceEvent event() override { return 0; }
  void pass_time(Location) override { FAIL() << "it never happens"; }
  void trace_in_flight() override {}
  const char* name() const override { return "failing"; }
  std::string describe() const override { return "failing"; }

 private:
  int& tried_;
};

TEST(PendingTable, ACallThatFailsLeavesNothingToTheNextOne) {
  support::on_rank({}, [](Rank& rank) {
    PendingTable& pending = support::front_of(rank).pending();
    int tried = 0;
    for (int i = 0; i < 2; ++i) pending.add_blocking(std::make_shared<Failing>(tried));
    EXPECT_THROW(pending.settle_blocking(), std::runtime_error);
    EXPECT_EQ(tried, 1);
    pending.settle_blocking();  // of a call that has started nothing
    rank.world().barrier();
    EXPECT_EQ(tried, 1);
  });
}

}  // namespace
}  // namespace shardlings::front
