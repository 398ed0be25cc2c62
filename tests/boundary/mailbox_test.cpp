#include "boundary/mailbox.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <random>
#include <thread>

namespace shardlings::boundary {
namespace {

class MailboxTest : public ::testing::Test {
 protected:
  /// The first turn is the broker's.
  void let_jail_begin() {
    broker_.post(Topic::invoke, "");
    ASSERT_TRUE(jail_.await());
  }
  ~MailboxTest() override { munmap(memory_, Mailbox::kBytes); }

  void* memory_ = mmap(nullptr, Mailbox::kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Mailbox jail_{memory_, Side::jail};
  Mailbox broker_{memory_, Side::broker};
};

TEST_F(MailboxTest, BringsMessagesByTurns) {
  broker_.post(Topic::invoke, "train_step");
  ASSERT_TRUE(jail_.await());
  EXPECT_EQ(jail_.topic(), Topic::invoke);
  EXPECT_EQ(jail_.bytes(), "train_step");
  jail_.post(Topic::returned, "");
  ASSERT_TRUE(broker_.await());
  EXPECT_EQ(broker_.topic(), Topic::returned);
  EXPECT_EQ(broker_.bytes(), "");
}

TEST_F(MailboxTest, BringsPlainValues) {
  let_jail_begin();
  struct Value {
    double number;
    int list[7];
  };
  jail_.post_plain(Topic::call, Value{2.5, {1, 2, 3, 4, 5, 6, 7}});
  ASSERT_TRUE(broker_.await());
  const Value value = broker_.plain<Value>();
  EXPECT_EQ(value.number, 2.5);
  EXPECT_EQ(value.list[6], 7);
}

TEST_F(MailboxTest, LosesNoTurnHoweverLongEitherSideSleeps) {
  let_jail_begin();
  constexpr std::uint64_t kTurns = 3000;
  std::thread jail([&] {
    std::mt19937 random(1);
    for (std::uint64_t i = 0; i < kTurns; ++i) {
      if (random() % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      jail_.post_plain(Topic::call, i);
      ASSERT_TRUE(jail_.await());
      ASSERT_EQ(jail_.plain<std::uint64_t>(), 2 * i);
    }
  });
  std::mt19937 random(2);
  for (std::uint64_t i = 0; i < kTurns; ++i) {
    ASSERT_TRUE(broker_.await());
    ASSERT_EQ(broker_.plain<std::uint64_t>(), i);
    if (random() % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    broker_.post_plain(Topic::reply, 2 * i);
  }
  jail.join();
}

TEST_F(MailboxTest, WakesABrokerWhoseJailIsGone) {
  let_jail_begin();
  std::thread watcher([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    broker_.abandon();
  });
  EXPECT_FALSE(broker_.await());
  watcher.join();
  broker_.post(Topic::reply, "");  // the word that came last does not bring it back
  EXPECT_FALSE(broker_.await());
}

TEST_F(MailboxTest, BelievesNoLength) {
  let_jail_begin();
  jail_.post(Topic::call, "abc");
  // What the layout of the header is, the jail can find out: every word of it is written over.
  for (const std::uint32_t wrong : {0xFFFFFFFFU, 0x7FFFFFFFU, static_cast<std::uint32_t>(Mailbox::kBytes)}) {
    auto* words = static_cast<std::uint32_t*>(memory_);
    for (int i = 3; i < 6; ++i) words[i] = wrong;
    EXPECT_LE(broker_.bytes().size(), Mailbox::kBytes);
  }
}

TEST_F(MailboxTest, TakesNoTurnThatIsNone) {
  *static_cast<std::uint32_t*>(memory_) = 77;
  EXPECT_FALSE(broker_.await());
}

TEST_F(MailboxTest, RefusesWhatDoesNotFit) {
  EXPECT_THROW(jail_.post(Topic::call, std::string(Mailbox::kBytes, 'x')), std::length_error);
}

}  // namespace
}  // namespace shardlings::boundary
