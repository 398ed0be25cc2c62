/// \file
/// Runs as one page for a browser: timeline, memory, communication and checks, with nothing to be fetched.
#pragma once

#include <string>
#include <vector>

#include "grading/verdict/verdict.h"

namespace shardlings::report {

/// Which part a run plays in a page.
enum class ViewRole { run, measured, goal, other };

struct ViewedRun {
  ViewRole role = ViewRole::run;
  std::string name;  ///< "Your last run", "The run before"
  const grading::verdict::Verdict* verdict = nullptr;
  std::string source{};  ///< the text of the graded file, whose lines are shown beside blocks; may be empty
};

struct ViewPage {
  std::string puzzle;  ///< "09 Data parallel"
  /// The first one is what the page is about. Of the others those cases are shown which it has, too.
  std::vector<ViewedRun> runs;
  std::string show;  ///< the case to begin with; empty: the one that reports show
};

/// The HTML. All text of a submission is text in it: no mark-up, nothing that runs.
std::string view_page(const ViewPage& page);

}  // namespace shardlings::report
