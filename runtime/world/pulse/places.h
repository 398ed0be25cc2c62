/// \file
/// Where a process can be reached by others, which may be on other hosts.
#pragma once

#include <string>
#include <vector>

namespace shardlings::world::pulse {

/// A secret, the addresses of this host in the order in which they are worth a try, and a port.
struct Place {
  std::string secret;
  std::vector<std::string> addresses;
  int port = 0;
};

/// In one line, for another process. place_from() throws std::runtime_error for anything else.
std::string to_text(const Place& place);
Place place_from(const std::string& text);

/// Listens on every address of this host, at a port that the system chooses. Throws std::runtime_error.
int listen_anywhere(Place& place);

/// A connected socket, or -1 if this address does not answer within `milliseconds`.
int connect_to(const std::string& address, int port, int milliseconds);

}  // namespace shardlings::world::pulse
