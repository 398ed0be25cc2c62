// Signs of life between processes: who dies, stops or never comes is noticed, and nobody else is.
#include "world/pulse/pulse.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <optional>
#include <thread>

#include "base/descriptor.h"
#include "support/waits.h"
#include "world/pulse/line.h"
#include "world/pulse/places.h"

namespace shardlings::world::pulse {
namespace {

using namespace std::chrono_literals;
using support::comes_true;
using support::kLimit;
using support::status_of;
using testing::HasSubstr;

constexpr Pace kQuick{.beat = 10ms, .silent_beats = 20, .arrival_beats = 40};
constexpr Pace kPatient{.beat = 10ms, .silent_beats = 100'000, .arrival_beats = 100'000};

struct Lost {
  int process = -1;
  Loss loss = Loss::closed;
};

/// A server that keeps the first loss, and the first words of each kind.
struct Watch {
  explicit Watch(int processes, Pace pace) : server(processes, told(), pace) {}
  Server::Told told() {
    return {.said =
                [this](int process, std::string_view said) {
                  known |= 1U << static_cast<unsigned>(process);
                  if (!heard.exchange(true)) words.set_value({process, std::string(said)});
                },
            .lost =
                [this](int process, Loss loss) {
                  loss_.set_value({process, loss});
                }};
  }
  std::optional<Lost> lost(std::chrono::milliseconds limit = kLimit) {
    std::future<Lost> future = loss_.get_future();
    if (future.wait_for(limit) != std::future_status::ready) return std::nullopt;
    return future.get();
  }
  /// All of them have said something.
  bool knows(int processes) const {
    return comes_true([&] { return known == (1U << static_cast<unsigned>(processes)) - 1; });
  }
  std::atomic<bool> heard = false;
  std::atomic<unsigned> known = 0;  ///< a bit for each process
  std::promise<std::pair<int, std::string>> words;
  std::promise<Lost> loss_;
  Server server;
};

/// A process with a client in it, which lives until it is killed.
pid_t forked_client(const std::string& address, int process, Pace pace) {
  const pid_t child = fork();
  if (child != 0) return child;
  try {
    const Client client(address, process, {.say = [] { return "alive"; }, .lost = [](Loss) { _exit(7); }}, pace);
    for (;;) pause();
  } catch (const std::exception&) {
    _exit(1);
  }
}

TEST(Pulse, BringsWhatAProcessSays) {
  Watch watch(2, kPatient);
  const Client client(watch.server.address(), 1, {.say = [] { return "rank 1 was in all_reduce"; }, .lost = {}},
                      kPatient);
  auto words = watch.words.get_future();
  ASSERT_EQ(words.wait_for(kLimit), std::future_status::ready);
  EXPECT_EQ(words.get(), std::make_pair(1, std::string("rank 1 was in all_reduce")));
}

TEST(Pulse, ManyWordsComeWhole) {
  const std::string much(1 << 20, 'x');
  Watch watch(2, kPatient);
  const Client client(watch.server.address(), 1, {.say = [&] { return much; }, .lost = {}}, kPatient);
  auto words = watch.words.get_future();
  ASSERT_EQ(words.wait_for(kLimit), std::future_status::ready);
  EXPECT_EQ(words.get().second, much);
}

TEST(Pulse, AKilledProcessIsNamed) {
  Watch watch(3, kPatient);
  std::vector<pid_t> children;
  for (int process = 0; process < 3; ++process) {
    children.push_back(forked_client(watch.server.address(), process, kPatient));
  }
  ASSERT_TRUE(watch.knows(3));
  kill(children[1], SIGKILL);
  const auto lost = watch.lost();
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->process, 1);
  EXPECT_EQ(lost->loss, Loss::closed);
  for (const pid_t child : children) kill(child, SIGKILL);
  for (const pid_t child : children) status_of(child);
}

TEST(Pulse, AStoppedProcessIsNamed) {
  Watch watch(1, kQuick);
  const pid_t child = forked_client(watch.server.address(), 0, kPatient);
  auto words = watch.words.get_future();
  ASSERT_EQ(words.wait_for(kLimit), std::future_status::ready);
  kill(child, SIGSTOP);
  const auto lost = watch.lost();
  kill(child, SIGKILL);
  status_of(child);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->process, 0);
  EXPECT_EQ(lost->loss, Loss::silent);
}

TEST(Pulse, WhoNeverComesIsNamed) {
  Watch watch(2, kQuick);
  const Client first(watch.server.address(), 0, {.say = {}, .lost = {}}, kQuick);
  const auto lost = watch.lost();
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->process, 1);
  EXPECT_EQ(lost->loss, Loss::never_came);
}

TEST(Pulse, WhoBidsFarewellIsNotLost) {
  Watch watch(1, kQuick);
  {
    Client client(watch.server.address(), 0, {.say = {}, .lost = {}}, kQuick);
    client.farewell();
  }
  EXPECT_FALSE(watch.lost(kQuick.beat * kQuick.silent_beats * 4));
}

// An exception unwinds it, and the others wait for what the process would have done.
TEST(Pulse, WhoEndsWithoutAFarewellIsLost) {
  Watch watch(2, kPatient);
  try {
    const Client client(watch.server.address(), 1, {.say = {}, .lost = {}}, kPatient);
    throw std::runtime_error("no memory");
  } catch (const std::runtime_error&) {
    const auto lost = watch.lost();
    ASSERT_TRUE(lost);
    EXPECT_EQ(lost->process, 1);
    EXPECT_EQ(lost->loss, Loss::closed);
  }
}

TEST(Pulse, AProcessWhoseServerDiesIsTold) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t server = fork();
  if (server == 0) {
    const Server serving(2, {}, kPatient);
    const std::string address = serving.address() + "\n";
    if (write(ends[1], address.data(), address.size()) < 0) _exit(1);
    for (;;) pause();
  }
  close(ends[1]);
  char address[4096] = {};
  ASSERT_GT(read(ends[0], address, sizeof address - 1), 0);
  close(ends[0]);
  std::promise<Loss> lost;
  const Client client(address, 1, {.say = {}, .lost = [&](Loss loss) { lost.set_value(loss); }}, kPatient);
  kill(server, SIGKILL);
  auto future = lost.get_future();
  ASSERT_EQ(future.wait_for(kLimit), std::future_status::ready);
  EXPECT_EQ(future.get(), Loss::closed);
  status_of(server);
}

TEST(Pulse, AServerThatEndsEndsAll) {
  auto watch = std::make_unique<Watch>(2, kPatient);
  const pid_t first = forked_client(watch->server.address(), 0, kPatient);
  const pid_t second = forked_client(watch->server.address(), 1, kPatient);
  auto words = watch->words.get_future();
  ASSERT_EQ(words.wait_for(kLimit), std::future_status::ready);
  watch.reset();
  for (const pid_t child : {first, second}) EXPECT_NE(status_of(child), 0);
}

TEST(Pulse, LastWordsGoAtOnce) {
  constexpr Pace kSlow{.beat = 10min, .silent_beats = 10, .arrival_beats = 10};
  Watch watch(2, kSlow);
  Client client(watch.server.address(), 1, {.say = [] { return "last words"; }, .lost = {}}, kSlow);
  client.hurry();
  auto words = watch.words.get_future();
  ASSERT_EQ(words.wait_for(kLimit), std::future_status::ready);
  EXPECT_EQ(words.get().second, "last words");
}

/// A server that welcomes one process, and reads no further before it is told to.
class SlowServer {
 public:
  SlowServer() : listener_(listen_anywhere(place_)) { fcntl(listener_.get(), F_SETFL, 0); }
  std::string address() const { return to_text(place_); }
  void welcome() {
    line_ = std::make_unique<Line>(accept(listener_.get(), nullptr, nullptr));
    line_->set_known();
    bool greeted = false;
    while (!greeted) line_->receive([&](Message message, std::string_view) { greeted = message == Message::hello; });
    line_->send(Message::welcome);
  }
  /// Until it says this.
  bool hears(const std::string& words) {
    bool heard = false;
    const auto end = std::chrono::steady_clock::now() + kLimit;
    while (!heard && std::chrono::steady_clock::now() < end) {
      line_->receive([&](Message, std::string_view said) { heard = heard || said == words; });
      std::this_thread::sleep_for(1ms);
    }
    return heard;
  }

 private:
  Place place_;
  Descriptor listener_;
  std::unique_ptr<Line> line_;
};

// What was said before is still on its way when the process crashes.
TEST(Pulse, LastWordsGoWhereTheConnectionIsSlow) {
  constexpr Pace kSlow{.beat = 10min, .silent_beats = 10, .arrival_beats = 10};
  SlowServer server;
  std::thread welcoming([&] { server.welcome(); });
  std::atomic<bool> last = false;
  const auto say = [&] { return last ? std::string("last words") : std::string(std::size_t{8} << 20, 'x'); };
  Client client(server.address(), 0, {.say = say, .lost = {}}, kSlow);
  welcoming.join();
  client.hurry();  // half a second, in which it does not go
  last = true;
  client.hurry();
  EXPECT_TRUE(server.hears("last words"));
}

/// Whether who is there ends the connection.
bool is_hung_up(int socket) {
  const auto end = std::chrono::steady_clock::now() + kLimit;
  char byte = 0;
  while (std::chrono::steady_clock::now() < end) {
    if (recv(socket, &byte, 1, MSG_DONTWAIT) == 0) return true;
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

TEST(Pulse, WhoDoesNotSayWhoItIsIsDropped) {
  Watch watch(1, kQuick);
  const Place place = place_from(watch.server.address());
  const Descriptor silent(connect_to("127.0.0.1", place.port, 1000)), talks(connect_to("127.0.0.1", place.port, 1000));
  ASSERT_GE(silent.get(), 0);
  ASSERT_GE(talks.get(), 0);
  const std::uint32_t head[] = {static_cast<std::uint32_t>(Message::hello), 1 << 20};
  ASSERT_EQ(send(talks.get(), head, sizeof head, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof head));
  EXPECT_TRUE(is_hung_up(talks.get())) << "nobody's name is a megabyte long";
  EXPECT_TRUE(is_hung_up(silent.get()));
}

TEST(Pulse, StrangersAreNotHeard) {
  Watch watch(2, kQuick);
  Place place = place_from(watch.server.address());
  place.secret = "guessed";
  EXPECT_THROW(Client(to_text(place), 1, {.say = [] { return "evil"; }, .lost = {}}, kQuick), std::runtime_error);
  EXPECT_FALSE(watch.heard);
}

TEST(Pulse, NoServerIsSaid) {
  const std::string nowhere = to_text({"secret", {"127.0.0.1"}, 1});
  try {
    const Client client(nowhere, 3, {.say = {}, .lost = {}}, kQuick);
    FAIL() << "connected";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("process 3 cannot reach who has started it: no answer at port 1 of 127.0.0.1"));
  }
}

TEST(Pulse, APlaceGoesThroughText) {
  const Place place = place_from(to_text({"abc", {"10.0.0.1", "127.0.0.1"}, 4711}));
  EXPECT_EQ(place.secret, "abc");
  EXPECT_EQ(place.port, 4711);
  EXPECT_THAT(place.addresses, testing::ElementsAre("10.0.0.1", "127.0.0.1"));
  EXPECT_THROW(place_from("abc"), std::runtime_error);
  EXPECT_THROW(place_from(""), std::runtime_error);
}

}  // namespace
}  // namespace shardlings::world::pulse
