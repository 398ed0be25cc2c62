/// \file
/// Grading a source file from beginning to end: build it, run its cases, judge them. What the command `shardlings`
/// uses.
///
/// The build folder holds toolchain.json (how to compile and link), `graders/grader_<id>`, and, made here,
/// `graded/<id>/` with the results by content: a second call for the same source, seed and case reads the first one's
/// verdict.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grading/verdict/verdict.h"
#include "world/backend.h"

namespace shardlings::grading {

/// What grading is at; for progress lines.
enum class Phase { waiting, building, running, done };

struct GradeOptions {
  std::string puzzle_folder;                     ///< puzzles/09_data_parallel
  std::string source;                            ///< the file to grade; empty: puzzle.cpp of the folder
  std::string build_folder;                      ///< CMake's
  std::vector<std::string> case_names;           ///< only these cases; empty: all
  std::optional<std::uint64_t> seed;             ///< instead of the seeds of the cases
  std::vector<std::string> set;                  ///< "bucket=300": other numbers of the cases, one of each
  std::string secret;                            ///< one line; hidden cases get seeds from it that are told to nobody
  world::Backend backend = world::Backend::cpu;  ///< on which the cases run (backend_choice.h chooses)
  std::string mpi;  ///< how processes are started, where the backend is of several (to_text() in run/mpirun.h)
  /// The learner's code of each rank runs in a jail of its own, apart from harness, counters and result: for code that
  /// is not trusted. The CPU only.
  bool jailed = false;
  /// Of the walls around the jails; where the system gives fewer, the code is not run, and nothing is judged.
  int least_tier = 0;
  bool use_cache = true;                               ///< false: grade even if the verdict is there (and replace it)
  bool traces = true;                                  ///< read the traces into the verdict (for timelines)
  bool keep = false;                                   ///< as the puzzle's last run (kept_runs.h)
  std::function<void(Phase)> progress = [](Phase) {};  ///< called from the calling thread
  /// While running: how many of how many cases have come to their end. Called from the calling thread.
  std::function<void(int done, int total)> cases = [](int, int) {};
  /// Told what went wrong beside the grading, which costs the verdict nothing.
  std::function<void(const std::string&)> warn = [](const std::string&) {};
};

/// Grades. Several processes may grade the same content at once: one does it, the others wait and read.
/// A source that does not build gives a verdict as well (status did_not_build, nothing passed), and so does a fault of
/// the machine or of the tool (status not_judged, with what was judged before it). Throws std::runtime_error for what
/// cannot be graded at all: no build folder, no such case, no such file.
verdict::Verdict grade_puzzle(const GradeOptions& options);

}  // namespace shardlings::grading
