/// \file
/// A verdict as text for the terminal: what passed, what failed and why, and where the time went.
#pragma once

#include <map>
#include <string>

#include "grading/verdict/verdict.h"
#include "report/style.h"

namespace shardlings::report {

struct TerminalOptions {
  int width = 80;  ///< columns; taken between 40 and 200
  Colour colour = Colour::none;
  Charset charset = Charset::unicode;
  /// For a screen of so many lines the least important is left out, until the rest fits. What is wrong is never left
  /// out: that may take more lines. 0: no limit.
  int max_lines = 0;
  bool verbose = false;  ///< every failed case, not only the first of each check; what the program printed
  bool timeline = true;  ///< the picture of one case
  std::string title;     ///< of the puzzle; empty: its id
  bool points = true;    ///< false: a milestone was judged, whose points are not those of the puzzle
  std::map<std::string, std::string> titles{};   ///< of checks, by id, where they are not those of the puzzle
  std::map<std::string, std::string> belongs{};  ///< by id, where a check asked for nothing: the milestone that has it
  const grading::verdict::Verdict* goal = nullptr;  ///< drawn below a run that takes too long; nullptr: unknown
};

/// The whole report, every line ended by '\n', no line wider than `width`. Nothing that the submission wrote reaches
/// the terminal as a control sequence.
std::string terminal_report(const grading::verdict::Verdict& verdict, const TerminalOptions& options);

}  // namespace shardlings::report
