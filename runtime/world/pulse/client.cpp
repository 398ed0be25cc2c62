#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <utility>

#include "world/pulse/line.h"
#include "world/pulse/places.h"
#include "world/pulse/pulse.h"

namespace shardlings::world::pulse {
namespace {

using ClientClock = std::chrono::steady_clock;

constexpr int kConnectMilliseconds = 2000;
/// A farewell may wait so long for the connection to take it.
constexpr int kFarewellMilliseconds = 2000;

/// Waits for the server's answer: at an address that several hosts have, somebody else may listen.
bool is_welcome(Line& line) {
  const ClientClock::time_point begin = ClientClock::now();
  bool welcome = false;
  while (!welcome && ClientClock::now() - begin < std::chrono::milliseconds(kConnectMilliseconds)) {
    pollfd wanted{line.socket(), POLLIN, 0};
    poll(&wanted, 1, kConnectMilliseconds);
    if (!line.receive([&](Message message, std::string_view) { welcome = welcome || message == Message::welcome; }))
      break;
  }
  return welcome;
}

std::unique_ptr<Line> connected(const std::string& address, int process) {
  const Place place = place_from(address);
  for (const std::string& one : place.addresses) {
    const int socket = connect_to(one, place.port, kConnectMilliseconds);
    if (socket < 0) continue;
    auto line = std::make_unique<Line>(socket);
    line->send(Message::hello, fmt::format("{} {}", place.secret, process));
    if (is_welcome(*line)) return line;
  }
  throw std::runtime_error(fmt::format("process {} cannot reach who has started it: no answer at port {} of {}",
                                       process, place.port, fmt::join(place.addresses, ", ")));
}

}  // namespace

struct Client::State {
  State(const std::string& address, int process, Told to_tell, Pace at)
      : told(std::move(to_tell)), pace(at), line(connected(address, process)) {
    wake.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (wake.get() < 0) throw std::runtime_error("cannot make an event");
    thread = std::jthread([this](const std::stop_token& stop) { keep_on(stop); });
  }

  void keep_on(const std::stop_token& stop) {
    ClientClock::time_point last = ClientClock::now();
    while (!stop.stop_requested()) {
      wait_for_news();
      if (!line->receive([this](Message, std::string_view) { silent = 0; })) return lose(Loss::closed);
      line->flush();
      const bool asked = hurried.exchange(false);
      owes_answer = owes_answer || asked;
      if (asked || ClientClock::now() - last >= pace.beat) {
        last = ClientClock::now();
        if (!beat(asked)) return lose(Loss::silent);
      }
      if (owes_answer && !line->is_busy()) {
        owes_answer = false;
        sent.store(true);
      }
    }
    if (bids_farewell) say_farewell();
  }

  void say_farewell() {
    const ClientClock::time_point begin = ClientClock::now();
    line->send(Message::farewell);
    while (line->is_busy() && ClientClock::now() - begin < std::chrono::milliseconds(kFarewellMilliseconds)) {
      pollfd wanted{line->socket(), POLLOUT, 0};
      poll(&wanted, 1, kFarewellMilliseconds);
      if ((wanted.revents & (POLLERR | POLLHUP)) != 0) return;
      line->flush();
    }
  }

  void wait_for_news() {
    const auto news_of_line = static_cast<short>(line->is_busy() ? POLLIN | POLLOUT : POLLIN);
    pollfd wanted[] = {{wake.get(), POLLIN, 0}, {line->socket(), news_of_line, 0}};
    poll(wanted, 2, static_cast<int>(pace.beat.count()));
    eventfd_t ignored = 0;
    eventfd_read(wake.get(), &ignored);
  }

  /// Where the connection is slow, one more of the usual words would only make it slower; what somebody waits for is
  /// said all the same. False once the server has been silent for too long.
  bool beat(bool asked) {
    if (asked || !line->is_busy()) line->send(Message::beat, told.say ? told.say() : std::string());
    return ++silent <= pace.silent_beats;
  }

  void lose(Loss loss) {
    if (told.lost) told.lost(loss);
  }

  const Told told;
  const Pace pace;
  std::unique_ptr<Line> line;
  Descriptor wake;
  int silent = 0;            ///< beats; the thread's
  bool owes_answer = false;  ///< to hurry(); the thread's
  std::atomic<bool> hurried = false, sent = false, bids_farewell = false;
  std::jthread thread;
};

Client::Client(const std::string& address, int process, Told told, Pace pace)
    : state_(std::make_unique<State>(address, process, std::move(told), pace)) {}

Client::~Client() {
  state_->thread.request_stop();
  eventfd_write(state_->wake.get(), 1);
}

void Client::farewell() {
  state_->bids_farewell = true;
  state_->thread.request_stop();
  eventfd_write(state_->wake.get(), 1);
  if (state_->thread.joinable()) state_->thread.join();
}

void Client::hurry() noexcept {
  constexpr int kTries = 50;
  constexpr timespec kPause{0, 10'000'000};
  state_->sent.store(false);
  state_->hurried.store(true);
  eventfd_write(state_->wake.get(), 1);
  for (int i = 0; i < kTries && !state_->sent.load(); ++i) nanosleep(&kPause, nullptr);
}

}  // namespace shardlings::world::pulse
