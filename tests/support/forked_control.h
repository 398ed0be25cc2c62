/// \file
/// The control plane by messages: a rank in a process of its own asks a server, which asks the shared control plane on
/// its behalf. So the same matching, clock and judging code runs, and the ranks share no memory that the front knows
/// of.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "front/group/control.h"
#include "front/group/mover.h"
#include "front/store/item_store.h"
#include "support/forked_fabric.h"
#include "support/forked_messages.h"

namespace shardlings::support {

/// The rank's side. The data go through `fabric`, of which this process has its own.
class ForkedControl final : public front::Control {
 public:
  ForkedControl(Channel& server, std::shared_ptr<SharedArena> arena, back::Fabric& fabric,
                const front::Membership& world);

  front::Membership world(int) override { return groups_.front(); }
  front::Ticket join(int rank, std::uint32_t group) override;
  front::Ticket join_message(int rank, std::uint32_t group, int from, int to) override;
  void post(int rank, const front::Ticket& ticket, const front::CallRecord& record, back::DataHandle data) override;
  front::Outcome wait(int rank, const front::Ticket& ticket, Location at) override;
  front::SplitOutcome wait_split(int rank, const front::Ticket& ticket, Location at) override;
  int wait_for_any(int rank, std::uint32_t group, const front::CallRecord& record, Location at) override;
  void wait_to_look(int rank, Nanos time, Location at) override;
  front::Agreement agree(int rank, Nanos posted, Count says, Location at) override;
  void die(int rank, Nanos died) override;
  front::Revocation revocation() override;
  bool is_agreed(int rank, const front::Ticket& ticket) override;
  void clear_lanes(int rank) override;
  void leave(int rank, const front::Ticket& ticket) override;
  void restart_clock(int rank) override;
  void finish(int rank, const std::optional<front::Failure>& failure, const std::string& last_call,
              Location last) override;
  bool aborted() const override { return arena_->aborted(); }
  std::optional<front::Failure> failure() override { return std::nullopt; }  // the server's side knows

 private:
  /// An operation of this rank, by the number in its ticket.
  struct Joined {
    std::unique_ptr<front::Mover> mover;
    std::uint32_t group = 0;
    bool message = false;
    int from = 0, to = 0;
    std::uint64_t at_server = 0;  ///< the number in the server's ticket
    std::vector<back::DataHandle> handles;
  };
  Reader ask(const Writer& message);
  /// Asks for what takes a while. Throws Aborted if the server says that the run has failed, Revoked if a rank has
  /// died.
  Reader ask_patiently(const Writer& message, Location at);
  /// The same about an operation.
  Reader ask_for(Request request, const front::Ticket& ticket, Location at);
  front::Ticket add(Joined joined, int members, int member);
  front::Membership add(const front::GroupInfo& group, std::int32_t member);

  Channel& server_;
  std::shared_ptr<SharedArena> arena_;
  back::Fabric& fabric_;
  std::unique_ptr<back::Engine> engine_;
  std::deque<front::GroupInfo> infos_;  ///< this process's own
  std::vector<front::Membership> groups_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Joined> joined_;
};

/// The store by messages, likewise.
class ForkedStore final : public front::ItemStore {
 public:
  explicit ForkedStore(Channel& server) : server_(server) {}

  void give(const front::ItemName& name, const front::Content& content) override;
  void begin() override;
  void write(const front::ItemWrite& write) override;
  void rename(const front::FolderRename& rename) override;
  void bury(int rank, Nanos died) override;
  front::ItemState look(Nanos time, const front::ItemName& name) override;
  bool has_folder(Nanos time, const std::string& folder) override;

 private:
  Reader ask(const Writer& message);
  Channel& server_;
};

/// What the shared control plane has for a data plane in the server, where no data are.
std::unique_ptr<back::Fabric> make_relay_fabric(std::shared_ptr<SharedArena> arena);

/// The server's side: answers one rank until it has finished, and returns its report. If the rank's process goes away,
/// that is the rank's failure.
front::RankReport serve_rank(int rank, Channel& channel, front::Control& control, front::ItemStore& store);

}  // namespace shardlings::support
