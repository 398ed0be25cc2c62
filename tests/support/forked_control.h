/// \file
/// The control plane by messages: a rank in a process of its own asks a server, which asks the shared control plane on
/// its behalf. So the same matching, clock and judging code runs, and the ranks share no memory that the front knows
/// of.
#pragma once

#include <memory>
#include <unordered_map>

#include "front/group/control.h"
#include "support/forked_fabric.h"
#include "support/forked_messages.h"

namespace shardlings::support {

/// The rank's side. The data go through `fabric`, of which this process has its own.
class ForkedControl final : public front::Control {
 public:
  ForkedControl(Channel& server, std::shared_ptr<SharedArena> arena, back::Fabric& fabric, front::GroupInfo world)
      : server_(server), arena_(std::move(arena)), fabric_(fabric), world_(std::move(world)) {}

  const front::GroupInfo& world() override { return world_; }
  front::Ticket post(int rank, std::uint32_t group, int member, const front::CallRecord& record,
                     const back::Buffers& buffers) override;
  front::Ticket post_message(int rank, std::uint32_t group, int from, int to, bool sends,
                             const front::CallRecord& record, const back::Buffers& buffers) override;
  front::Outcome wait(int rank, front::Ticket ticket, Location at) override;
  void abandon(int rank, front::Ticket ticket) noexcept override;
  front::SplitOutcome wait_split(int rank, front::Ticket ticket, Location at) override;
  void restart_clock(int rank) override;
  void finish(int rank, const std::optional<front::Failure>& failure, const std::string& last_call,
              Location last) override;
  bool aborted() const override { return arena_->aborted(); }
  std::optional<front::Failure> failure() override { return std::nullopt; }  // the server's side knows

 private:
  struct Started {
    std::unique_ptr<back::Exchange> exchange;
    int member = 0;
  };
  Reader ask(const Writer& message);
  front::Ticket start(Writer message, int member, const front::CallRecord& record, const back::Buffers& buffers);

  Channel& server_;
  std::shared_ptr<SharedArena> arena_;
  back::Fabric& fabric_;
  front::GroupInfo world_;
  std::unordered_map<front::Ticket, Started> started_;
};

/// What the shared control plane moves instead of data: the cookies of all members, to be handed to each.
std::unique_ptr<back::Fabric> make_relay_fabric(std::shared_ptr<SharedArena> arena);

/// The server's side: answers one rank until it has finished, and returns its report. If the rank's process goes away,
/// that is the rank's failure.
front::RankReport serve_rank(int rank, Channel& channel, front::Control& control);

}  // namespace shardlings::support
