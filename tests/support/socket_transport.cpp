#include "support/socket_transport.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <deque>
#include <map>
#include <string>
#include <system_error>

#include "back/transport/progress.h"
#include "world/process_world.h"

namespace shardlings::support {
namespace {

constexpr std::int32_t kControl = -1;

/// Before each message or piece of data.
struct Head {
  std::int32_t tag = kControl;
  std::uint64_t size = 0;
};

std::size_t at(int process) {
  return static_cast<std::size_t>(process);
}

class SocketTransport final : public back::Transport {
 public:
  SocketTransport(std::vector<int> sockets, int process) : process_(process), peers_(sockets.size()) {
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      peers_[i].socket = sockets[i];
      if (sockets[i] >= 0) fcntl(sockets[i], F_SETFL, O_NONBLOCK);
    }
  }
  ~SocketTransport() override {
    // The last words to the others must not be lost.
    for (Peer& peer : peers_) {
      while (peer.socket >= 0 && !peer.out.empty()) {
        pollfd wanted{peer.socket, POLLOUT, 0};
        ::poll(&wanted, 1, -1);
        write_to(peer);
      }
      if (peer.socket >= 0) close(peer.socket);
    }
  }
  SocketTransport(const SocketTransport&) = delete;
  SocketTransport& operator=(const SocketTransport&) = delete;

  int process() const override { return process_; }
  int processes() const override { return static_cast<int>(peers_.size()); }

  void send(int to, std::string_view message) override { put(to, kControl, message.data(), message.size()); }

  bool receive(int& from, std::string& message) override {
    if (messages_.empty()) return false;
    from = messages_.front().first;
    message = std::move(messages_.front().second);
    messages_.pop_front();
    return true;
  }

  void start_send(int to, int tag, const void* data, std::size_t size, back::Transfers& of) override {
    put(to, tag, data, size);
    ended_.push_back(&of);
  }

  void start_receive(int from, int tag, void* data, std::size_t, back::Transfers& of) override {
    Channel& channel = channels_[{from, tag}];
    if (channel.come.empty() && !peers_[at(from)].gone) {
      channel.wanted.push_back({data, &of});
      ++wanted_;
      return;
    }
    if (!channel.come.empty()) {
      std::memcpy(data, channel.come.front().data(), channel.come.front().size());
      channel.come.pop_front();
    }
    ended_.push_back(&of);
  }

  void pause(std::chrono::microseconds time) override {
    std::vector<pollfd> wanted;
    for (const Peer& peer : peers_) {
      if (peer.socket >= 0 && !peer.gone) wanted.push_back({peer.socket, POLLIN, 0});
    }
    const timespec limit{0, std::chrono::nanoseconds(time).count()};
    ppoll(wanted.data(), wanted.size(), &limit, nullptr);
  }

  bool poll() override {
    bool got_on = false;
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      write_to(peers_[i]);
      got_on = read_from(static_cast<int>(i)) || got_on;
    }
    got_on = got_on || !ended_.empty();
    for (back::Transfers* of : std::exchange(ended_, {})) of->remove();
    return got_on;
  }

  std::size_t under_way() const override { return wanted_ + ended_.size(); }

 private:
  struct Peer {
    int socket = -1;
    std::string in, out;
    std::atomic<bool> gone{false};
  };
  struct Wanted {
    void* data;
    back::Transfers* of;
  };
  struct Channel {
    std::deque<Wanted> wanted;
    std::deque<std::string> come;
  };

  void put(int to, std::int32_t tag, const void* data, std::size_t size) {
    if (to == process_) return come(to, tag, std::string(static_cast<const char*>(data), size));
    Peer& peer = peers_[at(to)];
    if (peer.gone) return;
    const Head head{tag, size};
    peer.out.append(reinterpret_cast<const char*>(&head), sizeof head);
    peer.out.append(static_cast<const char*>(data), size);
    write_to(peer);
  }

  void come(int from, std::int32_t tag, std::string text) {
    if (tag == kControl) return messages_.emplace_back(from, std::move(text)), void();
    Channel& channel = channels_[{from, tag}];
    if (channel.wanted.empty()) return channel.come.push_back(std::move(text));
    std::memcpy(channel.wanted.front().data, text.data(), text.size());
    ended_.push_back(channel.wanted.front().of);
    channel.wanted.pop_front();
    --wanted_;
  }

  static void write_to(Peer& peer) {
    while (!peer.out.empty() && !peer.gone) {
      const ssize_t sent = ::send(peer.socket, peer.out.data(), peer.out.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno == EAGAIN) return;
      if (sent < 0) return peer.out.clear();  // reading will tell
      peer.out.erase(0, static_cast<std::size_t>(sent));
    }
  }

  bool read_from(int process) {
    Peer& peer = peers_[at(process)];
    if (peer.socket < 0 || peer.gone) return false;
    char buffer[64 * 1024];
    const ssize_t got = recv(peer.socket, buffer, sizeof buffer, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (got <= 0) return lose(process), true;
    peer.in.append(buffer, static_cast<std::size_t>(got));
    std::size_t done = 0;
    for (Head head; peer.in.size() - done >= sizeof head; done += sizeof head + head.size) {
      std::memcpy(&head, peer.in.data() + done, sizeof head);
      if (peer.in.size() - done < sizeof head + head.size) break;
      come(process, head.tag, peer.in.substr(done + sizeof head, head.size));
    }
    peer.in.erase(0, done);
    return true;
  }

  /// Transfers with it end, whatever has become of their bytes.
  void lose(int process) {
    peers_[at(process)].gone = true;
    for (auto& [key, channel] : channels_) {
      if (key.first != process) continue;
      for (const Wanted& wanted : std::exchange(channel.wanted, {})) {
        ended_.push_back(wanted.of);
        --wanted_;
      }
    }
    const auto channel = static_cast<char>(back::Channel::gone);
    messages_.emplace_back(process, channel + world::gone_message(process, "ended in the middle of the run"));
  }

  const int process_;
  std::vector<Peer> peers_;
  std::deque<std::pair<int, std::string>> messages_;
  std::map<std::pair<int, std::int32_t>, Channel> channels_;
  std::vector<back::Transfers*> ended_;  ///< that have not been told
  std::size_t wanted_ = 0;
};

}  // namespace

Sockets make_sockets(int processes) {
  Sockets sockets(at(processes), std::vector<int>(at(processes), -1));
  for (int a = 0; a < processes; ++a) {
    for (int b = a + 1; b < processes; ++b) {
      int ends[2];
      if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        throw std::system_error(errno, std::generic_category(), "socketpair");
      }
      sockets[at(a)][at(b)] = ends[0];
      sockets[at(b)][at(a)] = ends[1];
    }
  }
  return sockets;
}

void close_all(const Sockets& sockets) {
  for (const std::vector<int>& of_process : sockets) {
    for (const int socket : of_process) {
      if (socket >= 0) close(socket);
    }
  }
}

std::unique_ptr<back::Transport> make_socket_transport(const Sockets& sockets, int process) {
  for (std::size_t i = 0; i < sockets.size(); ++i) {
    if (i != at(process)) close_all({sockets[i]});
  }
  return std::make_unique<SocketTransport>(sockets[at(process)], process);
}

}  // namespace shardlings::support
