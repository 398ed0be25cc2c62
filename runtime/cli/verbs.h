/// \file
/// The verbs of the command, one function and one file each. Every one returns the exit status (error.h), prints to
/// the context's streams, and throws UsageError where it was asked for something that there is not.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "grading/grade.h"
#include "shardlings/tensor.h"

namespace shardlings::cli::verbs {

/// `./shardlings`: where the learner is and what comes next.
int overview(const Context& context);

struct ListOptions {
  bool json = false;
};
/// `list`: chapters and puzzles, what is solved, points.
int list(const Context& context, const ListOptions& options);

struct RunOptions {
  std::string puzzle;                 ///< empty: the next one
  std::string file;                   ///< graded as that puzzle; empty: the learner's file
  std::string mutant;                 ///< instead of a file: the name of a wrong solution (author/mutants.h)
  std::string case_name;              ///< empty: all cases
  std::optional<std::uint64_t> seed;  ///< instead of the cases' own
  std::string backend;                ///< cpu, cuda, nccl or auto; empty: as wished by the environment (backend.h)
  bool json = false;
  std::vector<std::string> exports;  ///< "junit=results.xml"
  bool verbose = false;
  int max_lines = 0;                                 ///< of the report; 0: no limit
  std::function<void(const std::string&)> progress;  ///< told what is being done; empty: shown on the error stream
};
/// `run`: grades one puzzle.
int run(const Context& context, const RunOptions& options);

struct CheckOptions {
  std::string puzzle;
  std::string check;
  std::string backend;  ///< as for run
};
/// `check`: the outcome of one check, for ctest. Checks of the same content share one grading.
int check(const Context& context, const CheckOptions& options);

struct TraceOptions {
  std::string puzzle;
  std::string case_name;  ///< empty: the one that the report shows
  std::string out;        ///< file; "-": standard output; empty: trace_<id>.json
};
/// `trace`: the last run for the Perfetto viewer.
int trace(const Context& context, const TraceOptions& options);

struct WatchOptions {
  std::string puzzle;
  std::string backend;  ///< as for run
};
/// `watch`: run on every save, with keys.
int watch(const Context& context, const WatchOptions& options);

struct HintOptions {
  std::string puzzle;
  bool all = false;  ///< those given so far; after a pass all of them
  bool json = false;
};
/// `hint`: the next step of the ladder.
int hint(const Context& context, const HintOptions& options);

struct ExplainOptions {
  std::string puzzle;
};
/// `explain`: the lesson.
int explain(const Context& context, const ExplainOptions& options);

struct ResetOptions {
  std::string puzzle;
};
/// `reset`: back to the stub; the learner's file is kept beside the progress.
int reset(const Context& context, const ResetOptions& options);

struct SolutionOptions {
  std::string puzzle;
  bool spoil = false;
};
/// `solution`: the solution's text, once solved.
int solution(const Context& context, const SolutionOptions& options);

struct MemoryOptions {
  std::vector<std::string> models;  ///< names, or "layers=…,hidden=…"; with `table` several
  std::string parallel = "dp=1";
  std::string precision = "mixed";
  std::string optimizer = "adam";
  std::string recompute = "none";
  std::string kept_by = "megatron";
  Count sequence = 0;  ///< 0: the model's
  Count micro_batch = 1;
  int micro_batches = 0;  ///< 0: enough to fill the pipeline
  bool table = false;     ///< states for many numbers of ranks
  bool list = false;      ///< the named models
  bool json = false;
};
/// `memory`: the map of memory of a training run.
int memory(const Context& context, const MemoryOptions& options);

struct TrainOptions {
  int tp = 1, pp = 1, dp = 1;  ///< ranks of each axis
  int vp = 1;                  ///< chunks of layers on each rank of a pipeline
  int zero = 1;                ///< stage of ZeRO
  bool recompute = false;
  bool mine = false;  ///< with the learner's step
  int layers = 4;     ///< blocks
  Count hidden = 64;
  int heads = 4;
  Count sequence = 64;
  Count batch = 16;       ///< sequences of a step, over all replicas
  int micro_batches = 0;  ///< of each replica; 0: twice the ranks of a pipeline, as far as the batch can be cut so
  int steps = 300;
  float lr = 3e-3F;
  float clip = 1.0F;
  std::uint64_t seed = 1;
  std::string text;        ///< path; empty: the one that comes with the project
  std::string checkpoint;  ///< path; empty: below the build folder
  bool fresh = false;      ///< begin anew where there is one
  int save_every = 50;     ///< steps
  std::string cluster = "dgx_h100";
  bool json = false;
};
/// `train`: a small GPT on a text, with the step of puzzle 33, in any layout.
int train(const Context& context, const TrainOptions& options);

struct ViewOptions {
  std::string puzzle;     ///< empty: the one that was run last
  std::string case_name;  ///< to begin with; empty: the one that the report shows
  std::string out;        ///< the page; empty: below the build folder
  std::string against;    ///< "LAST" or a run file; empty: nothing
  std::string run;        ///< a run file instead of the last run
  std::string svg;        ///< write a picture instead of a page
  std::string to_file;    ///< write the run as a run file instead of a page
  bool open = false;      ///< in the browser
};
/// `view`: the last run as a page.
int view(const Context& context, const ViewOptions& options);

struct VerifyOptions {
  std::vector<std::string> puzzles;  ///< empty: all
  bool json = false;
  int jobs = 2;         ///< submissions graded at once
  std::string backend;  ///< as for run
  bool goals = false;   ///< write every goal.json anew
};
/// `verify`: for authors: the solution passes, the stub is refused, every mutant is caught by name.
int verify(const Context& context, const VerifyOptions& options);

struct NewOptions {
  std::string puzzle;  ///< "42_my_puzzle"
};
/// `new`: for authors: a puzzle from the template.
int new_puzzle(const Context& context, const NewOptions& options);

struct DoctorOptions {
  bool json = false;
};
/// `doctor`: what is found and missing, what it means, how to fix it.
int doctor(const Context& context, const DoctorOptions& options);

struct TestOptions {
  std::string filter;  ///< ctest's --tests-regex; empty: all
};
/// `test`: builds and runs the project's own tests.
int test(const Context& context, const TestOptions& options);

}  // namespace shardlings::cli::verbs
