#include "boundary/broker/jailed_rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "api/access.h"
#include "boundary/learner_function.h"
#include "boundary/mailbox.h"

namespace shardlings::boundary {
namespace {

using detail::Call;
using detail::PackedLocation;
using detail::Verb;
using testing::HasSubstr;

/// A port that keeps the calls that come through, and knows texts.
class Keeping final : public detail::HarnessPort {
 public:
  std::uint64_t lend(std::span<const std::byte>) override { return 0; }
  std::uint64_t lend(std::shared_ptr<const model::ModelStructure>) override { return 0; }
  std::vector<float> values_of(const detail::Ref&) override { return {}; }
  void check(const detail::Ref&) const override {}
  bool measures() const override { return measuring; }
  Nanos now() const override { return Nanos(0); }
  HarnessPort* harness() override { return this; }

  bool measuring = true;
  bool refusing = false;
  std::vector<Call> calls;
  std::vector<std::string> texts = {"", "/home/me/mine.cpp", "/home/course/harness.cpp", "grader.cpp", "mine.cpp/"};

 protected:
  detail::Reply answer(const Call& call) override {
    calls.push_back(call);
    detail::Reply reply;
    if (refusing) reply.error = detail::ErrorKind::invalid_argument;
    return reply;
  }
  detail::TextId define(std::string_view text) override {
    texts.emplace_back(text);
    return static_cast<detail::TextId>(texts.size() - 1);
  }
  std::string text_of(detail::TextId id) override { return id < texts.size() ? texts[id] : ""; }
  std::string error_text() override { return "mine.cpp:31: that is wrong"; }
};

/// A rank whose learner's function makes these calls, one after another, and returns.
void play(
    Keeping& port, const std::vector<Call>& calls,
    const std::function<void(JailedRank&)>& ask = [](JailedRank& jailed) { jailed.invoke(""); }) {
  std::vector<std::byte> memory(Mailbox::kBytes);
  JailedRank jailed(
      memory.data(), [](WaitStatus) { FAIL() << "nobody ended"; }, "mine.cpp");
  Rank rank = detail::Access::rank(&port, detail::Access::group(&port, 0, 0, 1));
  const OnThisThread here(jailed, rank);
  std::thread jail([&] {
    Mailbox mailbox(memory.data(), Side::jail);
    for (const Call& call : calls) {
      mailbox.await();
      mailbox.post_plain(Topic::call, call);
    }
    mailbox.await();
    mailbox.post(Topic::returned, "");
  });
  ask(jailed);
  jail.join();
}

Call call_at(detail::TextId file, int line) {
  Call call;
  call.verb = Verb::fill;
  call.at = {file, line};
  return call;
}

// Line 0 says that the harness has called: it is counted nowhere.
TEST(JailedRank, LetsInPlacesOfTheLearnersFileAlone) {
  Keeping port;
  play(port, {call_at(1, 31), call_at(1, 0), call_at(1, -5), call_at(0, 31), call_at(2, 31), call_at(3, 31),
              call_at(4, 31), call_at(1, 32)});
  std::vector<std::pair<detail::TextId, int>> places;
  for (const Call& call : port.calls) places.emplace_back(call.at.file, call.at.line);
  const std::pair<detail::TextId, int> nowhere(0, -1);
  EXPECT_EQ(places, (std::vector<std::pair<detail::TextId, int>>{
                        {1, 31}, nowhere, nowhere, nowhere, nowhere, nowhere, nowhere, {1, 32}}));
}

TEST(JailedRank, LeavesTheNumberOfATextThatNobodyDefinedToBeRefused) {
  Keeping port;
  play(port, {call_at(4711, 31)});
  ASSERT_EQ(port.calls.size(), 1U);
  EXPECT_EQ(port.calls[0].at.file, 4711U);
}

// The near side of the port refuses some calls itself, with a sentence that begins with their place.
TEST(JailedRank, LeavesAPlaceOutOfTheSentenceThatItBegins) {
  Keeping port;
  port.texts.emplace_back("harness.cpp:42: rank 0: add: the sizes differ");
  port.texts.emplace_back("mine.cpp:31: rank 0: add: the sizes differ");
  const auto refuse_at = [](detail::TextId file, int line, detail::TextId text) {
    Call call = call_at(file, line);
    call.verb = Verb::refuse;
    call.text = text;
    return call;
  };
  play(port, {refuse_at(2, 42, 5), refuse_at(1, 31, 6), refuse_at(3, 42, 5)});
  ASSERT_EQ(port.calls.size(), 3U);
  EXPECT_EQ(port.texts.at(port.calls[0].text), "somewhere: rank 0: add: the sizes differ");
  EXPECT_EQ(port.calls[1].text, 6U) << "that is the learner's own line";
  EXPECT_EQ(port.calls[2].text, 5U) << "another file's name stands there, which the report leaves out";
}

// A function that is asked how many chunks there should be could compute the whole result, uncounted.
TEST(JailedRank, RefusesCallsOfAFunctionThatIsNotMeasured) {
  Keeping port;
  port.measuring = false;
  Call drop = call_at(0, 0);
  drop.verb = Verb::drop;
  play(port, {call_at(1, 31), drop});
  ASSERT_EQ(port.calls.size(), 2U);
  EXPECT_EQ(port.calls[0].verb, Verb::refuse);
  EXPECT_EQ(port.calls[0].at.line, 31);
  EXPECT_THAT(port.texts.at(port.calls[0].text), HasSubstr("may not call the runtime"));
  EXPECT_EQ(port.calls[1].verb, Verb::drop) << "what was made before may be dropped";
}

TEST(JailedRank, LetsCallsInBesideTheRunWhereTheHarnessSaysSo) {
  Keeping port;
  port.measuring = false;
  play(port, {call_at(1, 31)}, [](JailedRank& jailed) {
    const auto ask = [&] { jailed.invoke(""); };
    beside_the_run(ask);
  });
  play(port, {call_at(1, 32)});
  ASSERT_EQ(port.calls.size(), 2U);
  EXPECT_EQ(port.calls[0].verb, Verb::fill);
  EXPECT_EQ(port.calls[1].verb, Verb::refuse) << "and not for longer";
}

/// A jail by itself, which the test plays.
struct PlayedJail {
  std::vector<std::byte> memory = std::vector<std::byte>(Mailbox::kBytes);
  Keeping port;
  JailedRank jailed{memory.data(), [](WaitStatus) { FAIL() << "nobody ended"; }, "mine.cpp"};
  Rank rank = detail::Access::rank(&port, detail::Access::group(&port, 0, 0, 1));
  OnThisThread here{jailed, rank};

  /// What the harness hears while the jail does that.
  std::string said(const std::function<void(Mailbox&)>& body) {
    std::thread jail([&] {
      Mailbox mailbox(memory.data(), Side::jail);
      mailbox.await();
      body(mailbox);
    });
    std::string text = "nothing was thrown";
    try {
      jailed.invoke("");
    } catch (const InvalidArgument& error) {
      text = error.what();
    }
    jailed.abandon(0);
    jail.join();
    return text;
  }
};

TEST(JailedRank, TellsThatMoreComesBackThanCan) {
  PlayedJail alone;
  EXPECT_THAT(alone.said([](Mailbox& mailbox) { mailbox.post_plain(Topic::too_large, std::uint64_t{80'000'000}); }),
              HasSubstr("takes 80000000 bytes, and 1047552 can come back"));
}

// `for (;;) try { ... } catch (...) {}` would wait for the limit of wall time, and then nobody knows what was wrong.
TEST(JailedRank, GivesUpOnOneThatCatchesEveryErrorAndCallsAgain) {
  PlayedJail alone;
  alone.port.refusing = true;
  EXPECT_EQ(alone.said([](Mailbox& mailbox) {
    do {
      mailbox.post_plain(Topic::call, call_at(1, 31));
    } while (mailbox.await());
  }),
            "mine.cpp:31: that is wrong");
  EXPECT_EQ(alone.port.calls.size(), 10'001U);
}

TEST(JailedRank, NeedsNoJailToAskBesideTheRun) {
  EXPECT_EQ(beside_the_run([](int a, int b) { return a - b; }, 5, 3), 2);
}

}  // namespace
}  // namespace shardlings::boundary
