/// \file
/// `view` as a function, which `watch` calls when `v` is pressed, and its page as a text, which `watch --page` serves.
#pragma once

#include <string>

#include "case/manifest.h"
#include "cli/context.h"

namespace shardlings::cli::verbs {

struct ViewOptions {
  std::string puzzle;       ///< empty: the one that was run last
  std::string case_name;    ///< to begin with; empty: the one that the report shows
  std::string out;          ///< the page; empty: below the build folder
  std::string against;      ///< "LAST" or a run file; empty: nothing
  std::string run;          ///< a run file instead of the last run
  std::string svg;          ///< write a picture instead of a page
  std::string to_file;      ///< write the run as a run file instead of a page
  bool no_figures = false;  ///< of the picture: its summary is left out
  bool open = false;        ///< in the browser
};

/// `view`: the last run as a page.
int view(const Context& context, const ViewOptions& options);

/// The puzzle's last run beside its goal. Throws UsageError if there is none.
std::string page_of_last_run(const Context& context, const cases::Manifest& puzzle);

}  // namespace shardlings::cli::verbs
