#include "boundary/thrown.h"

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <stdexcept>

namespace shardlings::boundary {
namespace {

/// Of the learner's making: it says nothing at all.
class Silent : public InvalidArgument {
 public:
  using InvalidArgument::InvalidArgument;
  const char* what() const noexcept override { return nullptr; }
};

Thrown caught(const std::function<void()>& body) {
  try {
    body();
  } catch (...) {
    return thrown_now();
  }
  return {ThrownKind::foreign, {}, "nothing was thrown", {}, 0};
}

/// Across and back: caught, sent, received, thrown again, caught again.
Thrown crossed(const std::function<void()>& body) {
  Sender sender;
  send(sender, caught(body));
  const std::string bytes = sender.take();
  Kept kept;
  Receiver receiver(bytes, nullptr, kept);
  const Thrown arrived = receive_thrown(receiver);
  std::deque<std::string> files;
  return caught([&] { throw_again(arrived, files); });
}

TEST(Thrown, KeepsKindTextAndPlaceOfEveryError) {
  constexpr Location kHere{"puzzle.cpp", 31};
  const std::vector<std::pair<ThrownKind, std::function<void()>>> kinds = {
      {ThrownKind::invalid_argument, [&] { throw InvalidArgument("what it says", kHere); }},
      {ThrownKind::out_of_memory, [&] { throw OutOfMemory("what it says", kHere); }},
      {ThrownKind::misuse, [&] { throw MisuseError(Misuse::leak, "what it says", kHere); }},
      {ThrownKind::aborted, [&] { throw Aborted("what it says", kHere); }},
      {ThrownKind::peer_failed, [&] { throw PeerFailed("what it says", kHere); }},
      {ThrownKind::error, [&] { throw Error("what it says", kHere); }}};
  for (const auto& [kind, body] : kinds) {
    const Thrown thrown = crossed(body);
    EXPECT_EQ(thrown.kind, kind);
    EXPECT_EQ(thrown.text, "what it says");
    EXPECT_EQ(thrown.file, "puzzle.cpp");
    EXPECT_EQ(thrown.line, 31);
  }
  EXPECT_EQ(crossed(kinds[2].second).misuse, Misuse::leak);
  EXPECT_EQ(crossed([&] { throw NotImplemented(kHere); }).kind, ThrownKind::not_implemented);
  EXPECT_EQ(crossed([&] { throw NotImplemented(kHere); }).line, 31);
}

TEST(Thrown, KeepsWhatIsNoErrorOfOurs) {
  EXPECT_EQ(crossed([] { throw std::bad_alloc(); }).kind, ThrownKind::no_host_memory);
  EXPECT_EQ(crossed([] { throw std::out_of_range("vector"); }).kind, ThrownKind::foreign);
  EXPECT_EQ(crossed([] { throw std::out_of_range("vector"); }).text, "a std::out_of_range: vector");
  EXPECT_EQ(crossed([] { throw 3; }).text, "the int 3");
}

TEST(Thrown, MaySayNothingAtAll) {
  const Thrown thrown = crossed([] { throw Silent("", {nullptr, 5}); });
  EXPECT_EQ(thrown.kind, ThrownKind::invalid_argument);
  EXPECT_EQ(thrown.text, "");
  EXPECT_EQ(thrown.line, 5);
}

TEST(Thrown, IsCutIfItIsLong) {
  const Thrown thrown = crossed([] { throw std::runtime_error(std::string(1 << 20, 'x')); });
  EXPECT_EQ(thrown.text.size(), 32U * 1024);
}

TEST(Thrown, OfNoKindIsRefused) {
  for (const auto& [kind, misuse] : {std::pair(9, 0), std::pair(255, 0), std::pair(2, 5), std::pair(2, -1)}) {
    Sender sender;
    sender(static_cast<std::uint8_t>(kind), misuse, "text", "file", 1);
    const std::string bytes = sender.take();
    Kept kept;
    Receiver receiver(bytes, nullptr, kept);
    EXPECT_THROW(receive_thrown(receiver), BadPack);
  }
}

}  // namespace
}  // namespace shardlings::boundary
