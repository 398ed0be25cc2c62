/// \file
/// One rank's dealings with others: its groups, its unfinished work, and the communication side of its clock.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/call.h"
#include "front/group/control.h"
#include "front/rank_front.h"

namespace shardlings::front {

class GroupDesk {
 public:
  GroupDesk(RankFront& front, Control& control);

  detail::Reply collective(const detail::Call& call, Collective kind);
  detail::Reply send(const detail::Call& call);
  detail::Reply recv(const detail::Call& call);
  detail::Reply send_recv(const detail::Call& call);
  detail::Reply split(const detail::Call& call);
  detail::Reply wait(const detail::Call& call);
  /// Holds a tensor until the work is waited for.
  detail::Reply keep(const detail::Call& call);
  detail::Reply drop_work(const detail::Call& call);

  /// Virtual time begins anew.
  void restart_clock();
  /// Throws if work was started and never waited for.
  void check_end() const;

 private:
  /// A started operation, from its call to its wait.
  struct Pending {
    Ticket ticket = 0;
    back::Plan plan;
    std::uint32_t group = 0;
    int member = 0;
    int peer = -1;  ///< world rank of the other side of a message
    bool sends = false;
    Location at;
    std::uint64_t order = 0;
    Nanos posted;
    Bytes sent;
    Operand in, out;
    std::vector<detail::Ref> kept;
  };

  const GroupInfo& group(const detail::Call& call) const;
  int member_of(const detail::Call& call) const;
  back::Plan plan_of(const detail::Call& call, Collective kind, const Operand& in, const Operand& out);
  void check_sizes(const detail::Call& call, const back::Plan& plan, int member, const Operand& in, const Operand& out);
  void check_peer(const detail::Call& call, int peer, int size);
  Pending start(const detail::Call& call, const back::Plan& plan, const Operand& in, const Operand& out);
  Pending start_message(const detail::Call& call, bool sends, int peer, const Operand& data);
  detail::Reply join(const GroupInfo& made);
  detail::Reply hand_out(const detail::Call& call, Pending pending);
  void finish(Pending& pending, Location at);
  void count(const Pending& pending, Link link);
  void pass_time(const Pending& pending, const Outcome& outcome, Link link, Location at);
  void mark(const Pending& pending, std::uint64_t work);
  void unmark(const Pending& pending, std::uint64_t work);
  std::string describe(const Pending& pending) const;

  RankFront& front_;
  Control& control_;
  std::vector<GroupInfo> groups_;  ///< by id; empty where this rank is no member
  std::vector<int> members_;       ///< this rank's number in each
  std::unordered_map<std::uint64_t, Pending> pending_;
  std::uint64_t next_work_ = 1;
  std::array<Nanos, kLinks> egress_{};   ///< when the rank's outgoing link is free
  std::array<Nanos, kLinks> ingress_{};  ///< when its incoming link is
};

}  // namespace shardlings::front
