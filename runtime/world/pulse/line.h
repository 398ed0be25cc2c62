/// \file
/// One end of a connection between two processes of a run: whole messages, and never a wait.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace shardlings::world::pulse {

enum class Message : std::uint32_t { hello = 0x53484c31, welcome, beat, farewell };

class Line {
 public:
  /// Of a connected socket, which it owns.
  explicit Line(int socket);

  int socket() const { return socket_.get(); }
  /// Is there something that is not sent yet?
  bool is_busy() const { return !outbox_.empty(); }
  /// Sends as much as the connection takes; flush() sends the rest.
  void send(Message message, std::string_view content = {});
  void flush();
  /// The other side has proved who it is: from now on it may say more than that.
  void set_known() { is_known_ = true; }
  /// Hands over the messages that have come whole, of those that are there; there may be more. False once there is
  /// nothing more to come, or what comes makes no sense.
  bool receive(const std::function<void(Message, std::string_view)>& take);

 private:
  bool take_whole(const std::function<void(Message, std::string_view)>& take);

  Descriptor socket_;
  bool is_known_ = false;
  std::string inbox_, outbox_;
};

}  // namespace shardlings::world::pulse
