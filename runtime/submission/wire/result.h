/// \file
/// What came back from a submission process: outputs, counters and trace, or how it ended instead.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/words.h"
#include "boundary/walls.h"
#include "front/misuse/black_box.h"
#include "front/trace/run_report.h"

namespace shardlings::wire {

/// How a submission process ended.
enum class Ending : std::uint8_t {
  finished,       ///< with its end mark: everything is there
  failed,         ///< with its end mark and a Failure (misuse, exception, not implemented, out of memory)
  crashed,        ///< killed by a signal of its own making (segmentation fault, abort, …)
  early_exit,     ///< ended without the end mark, whatever its status
  cpu_limit,      ///< computed longer than allowed
  wall_limit,     ///< took longer than allowed without computing
  memory_limit,   ///< asked the host for more memory than allowed
  output_limit,   ///< wrote without end
  not_started,    ///< could not be started at all
  machine_fault,  ///< did not come to its end, by no fault of its own
  not_run         ///< two cases before it had ended alike, without coming to an end
};

inline constexpr Words<Ending, 11> kEndingWords{{"finished", "failed", "crashed", "early_exit", "cpu_limit",
                                                 "wall_limit", "memory_limit", "output_limit", "not_started",
                                                 "machine_fault", "not_run"}};
inline const char* name_of(Ending ending) {
  return kEndingWords.of(ending);
}

/// Whether the ending says something about the submission, and not about the machine or the tool.
inline bool can_be_judged(Ending ending) {
  return ending != Ending::not_started && ending != Ending::machine_fault;
}

/// A line of the learner's source.
struct Place {
  std::string file;
  int line = 0;  ///< 0: unknown
};

/// What a rank was doing when the process ended, from the black box.
struct LastWords {
  std::string state;  ///< running, blocked, finished, …
  std::string verb;   ///< the last call of the learner's code, "all_reduce"; empty: it has made none
  std::string file;
  int line = 0;
  std::uint64_t order = 0;
  std::int64_t tensors = 0;  ///< most bytes that its tensors have had at once
  bool in_harness = false;   ///< the harness has called something since
  front::RunPart part = front::RunPart::before;
};

/// One output assembled from the ranks' rectangles.
struct Output {
  Count rows = 0, cols = 0;
  std::vector<float> values;
  bool complete = true;  ///< every element was published
  std::string conflict;  ///< non-empty: two ranks published different values; says which, where
  /// By rank, where every rank published the whole and they are not all equal; `values` is rank 0's then.
  std::vector<std::vector<float>> replicas;
};

struct Result {
  Ending ending = Ending::not_started;
  front::RunPart ended_in = front::RunPart::before;  ///< where the rank was that has ended it before its end
  Place stopped_at;         ///< where a crash, or the limit of processor time, met it, if known
  std::string explanation;  ///< one paragraph on the ending, ready to print; empty if finished
  std::string stdout_text;  ///< at most 64 KiB
  bool stdout_truncated = false;
  std::vector<LastWords> last_words;
  front::RunReport report;
  std::map<std::string, Output> outputs;
  boundary::Walls walls;  ///< that stood around the learner's code
  double seconds = 0;     ///< wall, for information only
};

}  // namespace shardlings::wire
