/// \file
/// The process that keeps the jails: a copy of the broker with nothing of the learner's in it, which starts one jail
/// for each rank and tells of their ends.
///
/// All walls stand before the learner's code is loaded, and it is code of ours that has put them there: what the broker
/// hears of them need not be believed of a jail.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/landlock.h"
#include "boundary/broker/cgroup.h"
#include "boundary/walls.h"

namespace shardlings::boundary {

struct KeeperNote {
  enum class About : std::int32_t {
    walls,        ///< those that stand around the jail of `rank`; its program is started next
    too_few,      ///< it is not, since they are fewer than the plan asks for
    not_started,  ///< it is not: `number` is an errno
    ended         ///< `number` is what waitpid() says of it
  };
  About about = About::walls;
  std::int32_t rank = -1;
  std::int32_t number = 0;
  Walls walls{};
  std::int64_t peak_memory = 0;  ///< of one that has ended: most bytes that were resident at once
};

/// What the keeper is given. Its descriptors are closed wherever a program starts.
struct JailPlan {
  int program = -1;                ///< linked with jail/
  std::vector<int> mailboxes{};    ///< of each rank
  int notes = -1;                  ///< where KeeperNotes are written to
  int least_tier = 0;              ///< of the walls (Walls::tier); no program is started behind fewer
  std::int64_t memory_bytes = 0;   ///< address space of each jail; 0: no limit
  const Cgroup* cgroup = nullptr;  ///< for keeper and jails; may be invalid
  LandlockRules no_files{};        ///< which allow nothing
};

/// What the keeper does for as long as it lives; `broker` is the process that forked it.
[[noreturn]] void keep_jails(JailPlan& plan, pid_t broker);

}  // namespace shardlings::boundary
