#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cstdlib>
#include <list>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "world/pulse/line.h"
#include "world/pulse/places.h"
#include "world/pulse/pulse.h"

namespace shardlings::world::pulse {
namespace {

using ServerClock = std::chrono::steady_clock;

/// The port is open to everybody. So many may be connected that have not said who they are; others wait. Far fewer than
/// a process may have descriptors: the judge needs some.
constexpr std::size_t kMostStrangers = 64;

}  // namespace

struct Server::State {
  /// A connection, and whose it is once its first message has said so.
  struct Caller {
    explicit Caller(int socket) : line(socket) {}
    Line line;
    int process = -1;
    int beats = 0;  ///< since it came, as long as it has not said who it is
    bool over = false;
  };

  struct Peer {
    bool came = false, left = false;
    int silent = 0;  ///< beats
  };

  State(int processes, Told to_tell, Pace at)
      : told(std::move(to_tell)), pace(at), peers(static_cast<std::size_t>(processes)) {
    listener.reset(listen_anywhere(place));
    address = to_text(place);
    wake.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (wake.get() < 0) throw std::runtime_error("cannot make an event");
    thread = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }

  void serve(const std::stop_token& stop) {
    ServerClock::time_point last = ServerClock::now();
    while (!stop.stop_requested()) {
      wait_for_news();
      accept_all();
      for (Caller& caller : callers) listen_to(caller);
      std::erase_if(callers, [](const Caller& caller) { return caller.over; });
      // Not once for every beat that was missed: who was stopped has heard nobody.
      if (ServerClock::now() - last < pace.beat) continue;
      last = ServerClock::now();
      tick();
    }
  }

  bool has_room() const { return callers.size() < peers.size() + kMostStrangers; }

  void wait_for_news() {
    std::vector<pollfd> wanted{{wake.get(), POLLIN, 0}};
    if (has_room()) wanted.push_back({listener.get(), POLLIN, 0});
    for (const Caller& caller : callers) wanted.push_back({caller.line.socket(), POLLIN, 0});
    poll(wanted.data(), wanted.size(), static_cast<int>(pace.beat.count()));
  }

  void accept_all() {
    while (has_room()) {
      const int socket = accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) return;
      callers.emplace_back(socket);
    }
  }

  void listen_to(Caller& caller) {
    const bool open =
        caller.line.receive([&](Message message, std::string_view content) { take(caller, message, content); });
    if (open) return;
    caller.over = true;
    if (caller.process >= 0 && !peer(caller).left) lose(caller.process, Loss::closed);
  }

  void take(Caller& caller, Message message, std::string_view content) {
    if (message == Message::hello) return welcome(caller, content);
    if (caller.process < 0) return;
    peer(caller).silent = 0;
    if (message == Message::beat && told.said) told.said(caller.process, content);
    if (message == Message::farewell) peer(caller).left = true;
  }

  /// "SECRET NUMBER"; with anybody else the connection ends.
  void welcome(Caller& caller, std::string_view content) {
    const std::string_view secret = content.substr(0, content.find(' '));
    const int process =
        secret.size() < content.size() ? std::atoi(std::string(content.substr(secret.size())).c_str()) : -1;
    caller.over = secret != place.secret || process < 0 || static_cast<std::size_t>(process) >= peers.size();
    if (caller.over) return;
    caller.process = process;
    caller.line.set_known();
    peer(caller).came = true;
    peer(caller).silent = 0;
    caller.line.send(Message::welcome);
  }

  Peer& peer(const Caller& caller) { return peers[static_cast<std::size_t>(caller.process)]; }

  void tick() {
    for (Caller& caller : callers) {
      if (caller.line.is_busy()) {
        caller.line.flush();
      } else if (caller.process >= 0) {
        caller.line.send(Message::beat);
      } else {
        caller.over = ++caller.beats > pace.silent_beats;
      }
    }
    for (std::size_t process = 0; process < peers.size(); ++process) {
      Peer& one = peers[process];
      if (one.left) continue;
      ++one.silent;
      if (one.silent > (one.came ? pace.silent_beats : pace.arrival_beats)) {
        lose(static_cast<int>(process), one.came ? Loss::silent : Loss::never_came);
      }
    }
  }

  void lose(int process, Loss loss) {
    peers[static_cast<std::size_t>(process)].left = true;
    if (std::exchange(has_lost, true) || !told.lost) return;
    told.lost(process, loss);
  }

  const Told told;
  const Pace pace;
  Place place;
  std::string address;
  Descriptor listener, wake;
  std::vector<Peer> peers;    ///< by process
  std::list<Caller> callers;  ///< these two are the thread's
  bool has_lost = false;
  std::jthread thread;
};

Server::Server(int processes, Told told, Pace pace)
    : state_(std::make_unique<State>(processes, std::move(told), pace)) {}

Server::~Server() {
  state_->thread.request_stop();
  eventfd_write(state_->wake.get(), 1);
}

const std::string& Server::address() const {
  return state_->address;
}

}  // namespace shardlings::world::pulse
