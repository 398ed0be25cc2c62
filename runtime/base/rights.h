/// \file
/// What a process gives up before it becomes another program. System calls only, for use between fork and exec; each is
/// false, with errno, if it cannot be.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace shardlings {

/// From now on at most so much of a resource (RLIMIT_CPU and so on), for this process and all that it starts. The
/// system sends a signal at `soft`, if the resource has one, and ends the process at `hard`.
bool set_limit(int resource, std::int64_t soft, std::int64_t hard);
inline bool set_limit(int resource, std::int64_t most) {
  return set_limit(resource, most, most);
}

/// Becomes a user and a group of this number, who is in no other group. Only root may.
bool become_user(uid_t user);

/// Nothing that the process starts gains rights (PR_SET_NO_NEW_PRIVS).
bool refuse_new_privileges();

/// The process dies with its parent. The system forgets this wish where the process becomes another user's, so it comes
/// after that.
bool die_with_parent();

}  // namespace shardlings
