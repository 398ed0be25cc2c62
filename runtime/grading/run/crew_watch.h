/// \file
/// Watches over the processes of a crew: which one is lost, on which host it was, and which ranks it had.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "grading/run/process.h"
#include "submission/wire/memory_file.h"
#include "submission/wire/process_words.h"
#include "submission/wire/result.h"
#include "world/pulse/pulse.h"

namespace shardlings::grading::run {

class CrewWatch {
 public:
  explicit CrewWatch(int processes, world::pulse::Pace pace = {});
  CrewWatch(const CrewWatch&) = delete;
  CrewWatch& operator=(const CrewWatch&) = delete;

  /// For the variable SHARDLINGS_PULSE of the processes.
  std::string variable() const;

  /// The case that is under way: what processes on other hosts say goes into its file (a descriptor). -1: none is.
  void watch(int file, int ranks);

  struct Lost {
    int process = 0;
    world::pulse::Loss loss{};
    std::string host;  ///< empty if it has never said
    int pid = 0;       ///< as it says itself
  };
  /// The first one that was lost, if any was.
  std::optional<Lost> lost() const;
  /// If the lost process is stopped, on this host, and runs `program`, it is killed: nobody else may be able to end it.
  void kill_if_stopped(const std::string& program) const;
  /// All other processes end, and nobody is lost any more.
  void end_all();

 private:
  void hear(int process, std::string_view said);

  const int processes_;
  mutable Mutex mutex_;
  std::vector<wire::ProcessWords> said_ GUARDED_BY(mutex_);  ///< by process, what it said last
  std::optional<Lost> lost_ GUARDED_BY(mutex_);
  std::unique_ptr<wire::MappedFile> file_ GUARDED_BY(mutex_);
  int ranks_ GUARDED_BY(mutex_) = 0;
  std::unique_ptr<world::pulse::Server> server_;
};

/// Waits until the launcher of the watched processes has ended. Once one of them is lost, the others end, and after
/// some seconds the launcher. `program`: what they run.
ProcessEnd wait_watched(Process& launcher, CrewWatch& watch, const std::string& program);

/// What happened, and what the lost process's ranks were doing: "process 2 (of 0 to 3) on host ada, with rank 2, …".
/// `ranks` are dealt to `processes` in blocks. No words: it is not known what they did.
std::string loss_text(const CrewWatch::Lost& lost, int processes, int ranks, const std::vector<wire::LastWords>& words);

}  // namespace shardlings::grading::run
