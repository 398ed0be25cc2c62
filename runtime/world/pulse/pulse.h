/// \file
/// Signs of life between the processes of a run, apart from MPI: a call of MPI whose peer is gone may never return.
///
/// Who has started them serves. Each process keeps one TCP connection to it, on which both sides say four times a
/// second that they are alive; the processes add a few bytes of their own, such as what their ranks do. A connection
/// that ends without a farewell belongs to a process that has died; one on which nothing comes for five seconds, to a
/// process that was stopped, or to a host that cannot be reached any more. Silence is counted in one's own beats, so
/// that who was stopped for a while accuses nobody.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace shardlings::world::pulse {

enum class Loss : std::uint8_t {
  closed,     ///< its connection ended without a farewell
  silent,     ///< nothing comes from it any more
  never_came  ///< it has not made its connection
};

struct Pace {
  std::chrono::milliseconds beat{250};
  int silent_beats = 20;   ///< so many without a sign are a loss
  int arrival_beats = 80;  ///< so long a process may take to make its connection
};

/// The side of who has started the processes. A thread of its own listens, and makes the calls.
class Server {
 public:
  struct Told {
    /// What a process says of itself.
    std::function<void(int process, std::string_view said)> said;
    /// Once, for the first process that is lost.
    std::function<void(int process, Loss loss)> lost;
  };
  /// For processes with the numbers from 0. Throws std::runtime_error if there is no socket to be had.
  Server(int processes, Told told, Pace pace = {});
  /// Ends every connection: the processes that have not bidden farewell learn that they are alone.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// What the processes need to find this one: a secret, addresses and a port, in one line.
  const std::string& address() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A process's side.
class Client {
 public:
  struct Told {
    std::function<std::string()> say;     ///< asked at every beat
    std::function<void(Loss loss)> lost;  ///< the server is; once
  };
  /// Connects as process number `process`. Throws std::runtime_error if no address of the server's answers.
  Client(const std::string& address, int process, Told told, Pace pace = {});
  /// Without a farewell() the process counts as lost: what ends by an exception is missed by the others.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Says at once what there is to say, and returns when that is on its way, or after half a second. Only system calls:
  /// for the handler of a signal that ends the process.
  void hurry() noexcept;
  /// Says that this process ends as it should: nobody need miss it. The last thing that it says.
  void farewell();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shardlings::world::pulse
