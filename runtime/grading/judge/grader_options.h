/// \file
/// The command line of graders, on both its sides.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "grading/verdict/prediction.h"
#include "grading/verdict/verdict.h"
#include "world/backend.h"

namespace shardlings::grading::judge {

/// Exit statuses beside GoogleTest's 0 (all passed) and 1.
inline constexpr int kNoSubmission = 3;  ///< told that there is none
inline constexpr int kBroken = 4;        ///< the grader itself, or the puzzle's files
inline constexpr int kNotJudged = 5;     ///< the machine let not every case be judged; the verdict says why

struct GraderOptions {
  std::string submission;               ///< the program to run
  std::string jail;                     ///< if that is a broker: what it runs for each rank
  int least_tier = 0;                   ///< of the walls around that
  std::string source;                   ///< name of the learner's file
  std::string manifest;                 ///< the puzzle's folder
  std::string clusters;                 ///< folder of clusters
  std::string verdict;                  ///< file to write; empty: none
  std::string traces;                   ///< file to write; empty: none
  std::vector<std::string> case_names;  ///< only these; empty: all
  std::optional<std::uint64_t> seed;
  std::vector<std::string> set;  ///< "bucket=300": other numbers of the cases (case_numbers.h)
  /// The first line of the input holds a secret (secret_seeds.h). Not an argument: those are for everybody to see.
  bool secret_on_input = false;
  world::Backend backend = world::Backend::cpu;
  std::string mpi;  ///< how processes are started, where the backend is of several (to_text() in run/mpirun.h)
  /// Until a line of ready_line() (or anything else: give up) comes in. Then progress is printed, as progress_line()
  /// writes it.
  bool wait_for_submission = false;
  std::optional<verdict::When> predictions;  ///< print what there is to predict then, as JSON, and end (predictions.h)
};

inline constexpr const char* kReady = "ready";
/// The line that says that the submission is there, and in which lines of its source a call can stand.
std::string ready_line(const std::set<int>& call_lines);

/// A line among the grader's output that says how many of how many cases have ended.
std::string progress_line(int done, int total);

/// Takes such lines out of a grader's output as it comes.
class ProgressReader {
 public:
  explicit ProgressReader(std::function<void(int done, int total)> tell) : tell_(std::move(tell)) {}
  void read(std::string_view output);

 private:
  std::function<void(int done, int total)> tell_;
  std::string line_;  ///< the beginning of one whose end has not come
};
/// The output without such lines.
std::string without_progress(const std::string& output);

/// Throws std::runtime_error.
GraderOptions parse_grader_options(int argc, char** argv);
std::vector<std::string> to_arguments(const GraderOptions& options);

/// Writes verdict and traces to the paths that are not empty, the verdict last and at once: a reader that sees it sees
/// all of it.
void write_verdict(const verdict::Verdict& verdict, const std::string& verdict_path,
                   const std::string& traces_path = "");

}  // namespace shardlings::grading::judge
