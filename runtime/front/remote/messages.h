/// \file
/// What the ranks' processes and the one with the control plane tell one another.
#pragma once

#include "front/group/control.h"
#include "front/remote/archive.h"
#include "front/trace/run_report.h"

namespace shardlings::front::remote {

/// From a rank's process to the server. Each begins with this, the rank, and the rank's number of the operation.
enum class Request : std::uint8_t {
  post,
  post_message,
  wait,
  wait_split,
  wait_for_any,
  wait_to_look,
  agree,
  die,
  clear_lanes,
  restart_clock,
  finish
};

/// From the server to a rank's process: with the rank, and of an operation its number of it, but for the last three,
/// which are for all.
enum class Answer : std::uint8_t {
  agreed,     ///< the operation's Outcome, whether somebody waits for it or not
  split,      ///< a SplitOutcome
  any,        ///< the sender
  look,       ///< it may
  agreement,  ///< an Agreement
  revoked,    ///< a rank has died: whoever waits for others gives up
  aborted,    ///< the run has failed: whoever waits gives up, once what was agreed has come to its end
  over        ///< all ranks have finished; whether the run has failed
};

Writer& operator<<(Writer& to, const CallRecord& record);
Reader& operator>>(Reader& from, CallRecord& record);
Writer& operator<<(Writer& to, const GroupInfo& group);
Reader& operator>>(Reader& from, GroupInfo& group);
/// What a rank needs to know of an agreed operation.
Writer& operator<<(Writer& to, const Outcome& outcome);
/// `handles` are kept there, and the outcome refers to them.
void read_outcome(Reader& from, Outcome& outcome, std::vector<back::DataHandle>& handles);
Writer& operator<<(Writer& to, const Failure& failure);
Reader& operator>>(Reader& from, Failure& failure);
Writer& operator<<(Writer& to, const RankReport& report);
Reader& operator>>(Reader& from, RankReport& report);

}  // namespace shardlings::front::remote
