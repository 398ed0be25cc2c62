#include "world/pulse/places.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "base/descriptor.h"

namespace shardlings::world::pulse {
namespace {

std::string random_secret() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) {
    throw std::runtime_error(fmt::format("no random numbers: {}", std::strerror(errno)));
  }
  std::string text;
  for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

/// Others first: the loopback leads to whoever asks.
std::vector<std::string> addresses_of_this_host() {
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return {"127.0.0.1"};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, freeifaddrs);
  std::vector<std::string> addresses;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    const bool usable =
        one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET && (one->ifa_flags & IFF_UP) != 0;
    if (!usable || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    char text[INET_ADDRSTRLEN] = {};
    const auto* address = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    if (inet_ntop(AF_INET, &address->sin_addr, text, sizeof text) != nullptr) addresses.emplace_back(text);
  }
  addresses.emplace_back("127.0.0.1");
  return addresses;
}

sockaddr_in address_of(in_addr_t host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = host;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

bool becomes_connected(int socket, int milliseconds) {
  pollfd wanted{socket, POLLOUT, 0};
  int error = 0;
  socklen_t size = sizeof error;
  return poll(&wanted, 1, milliseconds) == 1 && getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 &&
         error == 0;
}

}  // namespace

std::string to_text(const Place& place) {
  return fmt::format("{} {} {}", place.secret, place.port, fmt::join(place.addresses, " "));
}

Place place_from(const std::string& text) {
  std::istringstream words(text);
  Place place;
  words >> place.secret >> place.port;
  for (std::string address; words >> address;) place.addresses.push_back(address);
  if (place.port <= 0 || place.addresses.empty()) throw std::runtime_error("no place of a process: " + text);
  return place;
}

int listen_anywhere(Place& place) {
  Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address = address_of(htonl(INADDR_ANY), 0);
  socklen_t size = sizeof address;
  constexpr int kWaiting = 4096;
  if (listener.get() < 0 || bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      listen(listener.get(), kWaiting) != 0 ||
      getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error(fmt::format("cannot listen for the other processes: {}", std::strerror(errno)));
  }
  place = {random_secret(), addresses_of_this_host(), ntohs(address.sin_port)};
  return listener.release();
}

int connect_to(const std::string& address, int port, int milliseconds) {
  Descriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  in_addr host{};
  if (made.get() < 0 || inet_pton(AF_INET, address.c_str(), &host) != 1) return -1;
  const sockaddr_in there = address_of(host.s_addr, port);
  const int begun = connect(made.get(), reinterpret_cast<const sockaddr*>(&there), sizeof there);
  if (begun != 0 && (errno != EINPROGRESS || !becomes_connected(made.get(), milliseconds))) return -1;
  return made.release();
}

}  // namespace shardlings::world::pulse
