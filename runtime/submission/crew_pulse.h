/// \file
/// A process of a crew tells who has started it that it lives, and ends where nobody hears it any more.
#pragma once

#include <memory>
#include <string>

#include "base/mutex.h"
#include "submission/wire/memory_file.h"
#include "world/pulse/pulse.h"

namespace shardlings::submission {

/// One per process, made before MPI begins. From then on the process ignores SIGTERM, by which launchers tidy up when
/// another process has died: that would look like a second death. It ends when its connection does.
class CrewPulse {
 public:
  /// Where to is in the variable SHARDLINGS_PULSE; without it nobody is told. Throws std::runtime_error if nobody
  /// answers there.
  CrewPulse();
  /// A process that has not bidden farewell counts as lost: what ended it by an exception concerns all.
  ~CrewPulse();
  CrewPulse(const CrewPulse&) = delete;
  CrewPulse& operator=(const CrewPulse&) = delete;

  /// The case under way, of a process that has a file of its own: what it notes there is told, for these ranks. Not
  /// called where the file is the supervisor's.
  void tell_of(wire::MappedFile& file, int first_rank, int ranks);
  /// The case is over.
  void tell_of_none();
  /// Says at once what there is to tell, for a case that ends by an exception.
  void tell_at_once();
  /// The same of what this process cannot go on for, whether there is a case or not.
  void tell_fault(const std::string& why);
  /// All is done that this process was started for.
  void farewell();

 private:
  std::string say();

  const std::string host_;
  Mutex mutex_;
  wire::MappedFile* file_ GUARDED_BY(mutex_) = nullptr;
  int first_ GUARDED_BY(mutex_) = 0;
  int ranks_ GUARDED_BY(mutex_) = 0;
  std::string fault_ GUARDED_BY(mutex_);
  std::unique_ptr<world::pulse::Client> client_;
};

}  // namespace shardlings::submission
