// Puzzle 91: Speed up.
//
// Filled. one sentence on what the function answers.
// The lesson is README.md beside this file; `./shardlings explain 91` shows it in the terminal.

#include <shardlings/puzzle.h>

#include <vector>

using namespace shardlings;

/// how many times as long the first run takes as the last one.
///
/// seconds  of a step, one number for each run, at least one
double speed_up(const std::vector<double>& seconds) {
  // >>> your code (about 1 line)
  return seconds.front() / seconds.back();
  // <<<
}

// Filled. what the answer is worth, and what production does differently.
