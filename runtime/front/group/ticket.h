/// \file
/// A ticket of the shared control plane is the address of its meeting.
#pragma once

#include <cstdint>

#include "front/group/control.h"
#include "front/group/meeting.h"

namespace shardlings::front {

inline Meeting* meeting_of(const Ticket& ticket) {
  return reinterpret_cast<Meeting*>(ticket.operation);
}

inline Ticket ticket_of(Meeting* meeting, int member) {
  return {reinterpret_cast<std::uint64_t>(meeting), member, &meeting->mover};
}

}  // namespace shardlings::front
