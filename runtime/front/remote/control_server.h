/// \file
/// The control plane of ranks that are spread over processes, from the side of the one that keeps it: it hears what
/// ranks call and asks the shared control plane on their behalf. Everything happens in the handlers of messages, one
/// after another, so it needs no thread and never sleeps.
///
/// It judges when no rank can go on, as the shared control plane does where ranks are threads: a rank counts as blocked
/// when it has told that it waits, and as running again when the outcome is sent to it. So no message that is under way
/// changes what is judged, and no count over the processes is needed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "back/transport/progress.h"
#include "front/group/shared_control.h"
#include "front/remote/messages.h"

namespace shardlings::front {

class RelayFabric;
class RelayEngine;

class ControlServer {
 public:
  struct Setting {
    int ranks = 1;
    const Cluster* cluster = nullptr;
    BlackBox* black_box = nullptr;
    bool checks = true;
    std::optional<Nanos> detection;  ///< ranks may die, of which others know so much later
    std::function<int(int rank)> process_of;
  };
  ControlServer(back::Progress& progress, const Setting& setting);
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

  /// For who holds the lock: the run cannot go on, and no call of a rank is the reason.
  void fail(const back::Fault& fault);
  /// For who holds the lock: a process will say nothing any more, for this reason. That is the failure of those of its
  /// ranks that have not finished. Only transports that see such a thing lead here; MPI does not, and where it is used
  /// the pulse between the processes (world/pulse) ends them all.
  void process_gone(int process, const std::string& why);
  /// For who holds the lock.
  bool is_gone(int process) const { return gone_.at(static_cast<std::size_t>(process)); }

  /// The primary error, once all ranks have finished.
  std::optional<Failure> failure() { return control_->failure(); }

 private:
  /// What a rank has joined and not left, by its own numbers.
  using Tickets = std::unordered_map<std::uint64_t, Ticket>;
  /// What a rank waits for that it must be answered.
  struct Waiting {
    remote::Answer answer = remote::Answer::split;
    Ticket ticket;
    Location at;
    std::uint64_t number = 0;  ///< of a split
  };

  void hear(std::string_view message);
  void post(int rank, remote::Reader& message, bool is_message);
  void wait(int rank, remote::Reader& message);
  void wait_split(int rank, remote::Reader& message);
  void wait_for_any(int rank, remote::Reader& message);
  void wait_to_look(int rank, remote::Reader& message);
  void agree(int rank, remote::Reader& message);
  void die(int rank, remote::Reader& message);
  void finish(int rank, remote::Reader& message);
  void finish(int rank, const std::optional<Failure>& failure, const std::string& last_call, Location last);
  /// Sends what has come of the last message: agreed operations, answers, the end.
  void answer_all();
  void send_agreed();
  void send_answers();
  void send_answer(int rank, const Waiting& waiting);
  remote::Writer answer_to(int rank, const Waiting& waiting);
  void send_revocation();
  void send_to_all(const remote::Writer& message);
  void send_end();
  void send(int rank, const remote::Writer& message);

  back::Progress& progress_;
  Setting setting_;
  std::unique_ptr<RelayEngine> engine_;
  std::unique_ptr<RelayFabric> fabric_;
  std::unique_ptr<SharedControl> control_;
  std::vector<Tickets> tickets_;                 ///< by rank
  std::vector<std::optional<Waiting>> waiting_;  ///< by rank
  std::vector<bool> finished_;                   ///< by rank
  std::vector<bool> gone_;                       ///< by process
  int left_;                                     ///< ranks that have not finished
  std::uint32_t revocations_ = 0;                ///< that all have been told of
  bool has_told_of_abort_ = false, has_told_of_end_ = false;
};

}  // namespace shardlings::front
