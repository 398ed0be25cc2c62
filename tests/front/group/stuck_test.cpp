// The race between a fabric's watchdog and the end of what it watches, moment by moment: on fibers of one thread, a
// fabric says exactly then that an operation is stuck.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "front/group/programs.h"

namespace shardlings::test {
namespace {

using back::Exchange;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Moments at which the watchdog may speak, by the operation's number and member (-1: none in particular).
enum class Moment : std::uint8_t { posted, launched, finished, run_over };

struct When {
  Moment moment;
  int operation;  ///< 1, 2, … in the order in which they begin
  int member;
};

/// What all parts share.
struct Watchdog {
  When when;
  back::Fabric::Stuck stuck;  ///< whom to tell
  int begun = 0;
  bool told = false;
  bool nobody_at_end = false;  ///< when the fabric went, nobody was told any more

  void pass(const When& now, const Exchange* exchange) {
    if (told || now.moment != when.moment || now.operation != when.operation || now.member != when.member) return;
    told = true;
    stuck(exchange, "it was seen to stand still");
  }
};

class WatchedExchange final : public Exchange {
 public:
  WatchedExchange(std::unique_ptr<Exchange> inner, Watchdog& dog) : inner_(std::move(inner)), dog_(dog) {}

  void begin(int members) override {
    operation_ = ++dog_.begun;
    inner_->begin(members);
  }
  back::DataHandle post(int member, const back::Signature& signature, const back::Buffers& buffers) override {
    const back::DataHandle handle = inner_->post(member, signature, buffers);
    dog_.pass({Moment::posted, operation_, member}, this);
    return handle;
  }
  bool launch(const back::Signature& signature, std::span<const back::DataHandle> handles) override {
    const bool in_place = inner_->launch(signature, handles);
    dog_.pass({Moment::launched, operation_, -1}, this);
    return in_place;
  }
  back::HelpResult help(int member) override { return inner_->help(member); }
  void finish(int member) override {
    inner_->finish(member);
    dog_.pass({Moment::finished, operation_, member}, this);
  }

 private:
  std::unique_ptr<Exchange> inner_;
  Watchdog& dog_;
  int operation_ = 0;
};

class WatchedFabric final : public back::Fabric {
 public:
  explicit WatchedFabric(Watchdog& dog) : dog_(dog) {}
  ~WatchedFabric() override { dog_.nobody_at_end = !dog_.stuck; }

  std::unique_ptr<Exchange> make_exchange() override {
    return std::make_unique<WatchedExchange>(inner_->make_exchange(), dog_);
  }
  void abort() noexcept override { inner_->abort(); }
  void watch(Stuck stuck) override { dog_.stuck = std::move(stuck); }

 private:
  std::unique_ptr<back::Fabric> inner_ = back::make_in_process_fabric();
  Watchdog& dog_;
};

/// Fibers, and the watchdog's last moment: all ranks have ended, and the run's report is not made yet.
class WatchedEngine final : public back::Engine {
 public:
  WatchedEngine(Watchdog& dog, std::uint64_t seed) : dog_(dog), inner_(back::make_fibers_engine(seed)) {}

  void run(int ranks, const std::function<void(int rank)>& body) override {
    inner_->run(ranks, body);
    dog_.pass({Moment::run_over, 0, -1}, nullptr);
  }
  bool spin(const std::atomic<std::uint32_t>& word, std::uint32_t expected) override {
    return inner_->spin(word, expected);
  }
  void park(const std::atomic<std::uint32_t>& word, std::uint32_t expected) override { inner_->park(word, expected); }
  void wake(const std::atomic<std::uint32_t>& word) override { inner_->wake(word); }

 private:
  Watchdog& dog_;
  std::unique_ptr<back::Engine> inner_;
};

/// Four all-reduces of three ranks, with a word from the watchdog. The failure's message; empty if there is none.
std::string message_of(const When& when, std::uint64_t seed) {
  Watchdog dog{when, {}};
  world::Options options = world_of(3);
  options.make_fabric = [&] { return std::make_unique<WatchedFabric>(dog); };
  options.make_engine = [&] { return std::make_unique<WatchedEngine>(dog, seed); };
  const front::RunReport report = world::run(options, [](Rank& rank) {
    Tensor data = rank.zeros(5, Kind::buffer);
    for (int i = 0; i < 4; ++i) rank.world().all_reduce(data, ReduceOp::sum);
  });
  EXPECT_TRUE(dog.told) << "the moment never came";
  EXPECT_TRUE(dog.nobody_at_end) << "a fabric that speaks later would call what is gone";
  if (!report.failure) return "";
  EXPECT_EQ(report.failure->kind, front::FailureKind::hang);
  return report.failure->message;
}

constexpr std::uint64_t kSchedules = 20;

TEST(Stuck, AnOperationIsNamedFromItsLaunchToItsEnd) {
  std::vector<When> moments = {{Moment::launched, 2, -1}};
  for (int member = 0; member < 3; ++member) moments.push_back({Moment::finished, 2, member});
  for (const When& when : moments) {
    for (std::uint64_t seed = 0; seed < kSchedules; ++seed) {
      EXPECT_THAT(message_of(when, seed),
                  AllOf(HasSubstr("call number 2 of group world was started and does not come to its end: it was seen "
                                  "to stand still"),
                        HasSubstr("ranks 0, 1, 2: all_reduce of 5 f32")))
          << "member " << when.member << ", seed " << seed;
    }
  }
}

// The exchange serves another operation by now, of which not all members have posted: none of them can be told.
TEST(Stuck, AnOperationThatStillGathersItsMembersIsNotNamed) {
  for (std::uint64_t seed = 0; seed < kSchedules; ++seed) {
    EXPECT_THAT(message_of({Moment::posted, 4, 1}, seed),
                AllOf(HasSubstr("hang: communication has failed: it was seen to stand still"),
                      Not(HasSubstr("does not come to its end"))));
  }
}

TEST(Stuck, AfterTheLastRankHasEndedTheRunFailsAllTheSame) {
  for (std::uint64_t seed = 0; seed < kSchedules; ++seed) {
    EXPECT_THAT(message_of({Moment::run_over, 0, -1}, seed), HasSubstr("hang: communication has failed"));
  }
}

}  // namespace
}  // namespace shardlings::test
