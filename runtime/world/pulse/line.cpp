#include "world/pulse/line.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace shardlings::world::pulse {
namespace {

struct Head {
  Message message = Message::beat;
  std::uint32_t size = 0;
};

/// Nobody has more to say: a rank's last words are two hundred bytes.
constexpr std::size_t kMostBytes = std::size_t{16} << 20;
/// Who has not said who it is says no more than a secret and a number.
constexpr std::size_t kMostOfStranger = 256;
/// One that sends without end must not keep the others from being heard.
constexpr int kMostReads = 64;

}  // namespace

Line::Line(int socket) : socket_(socket) {
  const int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  fcntl(socket, F_SETFL, O_NONBLOCK);
}

void Line::send(Message message, std::string_view content) {
  const Head head{message, static_cast<std::uint32_t>(content.size())};
  outbox_.append(reinterpret_cast<const char*>(&head), sizeof head).append(content);
  flush();
}

void Line::flush() {
  while (!outbox_.empty()) {
    const ssize_t sent = ::send(socket(), outbox_.data(), outbox_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent <= 0) return;  // a connection that has ended is seen by receive()
    outbox_.erase(0, static_cast<std::size_t>(sent));
  }
}

bool Line::receive(const std::function<void(Message, std::string_view)>& take) {
  char buffer[16 * 1024];
  for (int reads = 0; reads < kMostReads; ++reads) {
    const ssize_t got = ::recv(socket(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    inbox_.append(buffer, static_cast<std::size_t>(got));
    if (!take_whole(take)) return false;
  }
  return true;
}

bool Line::take_whole(const std::function<void(Message, std::string_view)>& take) {
  std::size_t done = 0;
  Head head;
  while (inbox_.size() - done >= sizeof head) {
    std::memcpy(&head, inbox_.data() + done, sizeof head);
    if (head.message < Message::hello || head.message > Message::farewell) return false;
    if (head.size > (is_known_ ? kMostBytes : kMostOfStranger)) return false;
    if (inbox_.size() - done < sizeof head + head.size) break;
    take(head.message, std::string_view(inbox_).substr(done + sizeof head, head.size));
    done += sizeof head + head.size;
  }
  inbox_.erase(0, done);
  return true;
}

}  // namespace shardlings::world::pulse
