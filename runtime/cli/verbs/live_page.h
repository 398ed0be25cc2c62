/// \file
/// What the page of `watch` shows: lesson, predictions, verdict, and the last run with its pictures.
#pragma once

#include <string>

#include "case/manifest.h"
#include "cli/context.h"
#include "cli/live/page_server.h"

namespace shardlings::cli::verbs {

class LivePage {
 public:
  /// Throws UsageError where the port cannot be had. 0: any.
  LivePage(const Context& context, int port);

  const std::string& url() const { return server_.url(); }
  /// Shows another puzzle.
  void open(const cases::Manifest& puzzle);
  /// What the watch is at: "building", "3/6", "not yet".
  void say(const std::string& status);
  /// A grading has ended: `report` is what the terminal shows of it.
  void show_run(const std::string& status, const std::string& report, bool is_judged);

  /// Readable when an answer to a prediction has come.
  int descriptor() const { return server_.descriptor(); }
  /// Judges what has come, with the code of `predict`.
  void answer();

 private:
  /// Lesson and questions, of which a pass opens more.
  void read_texts();
  void announce();

  const Context& context_;
  live::PageServer server_;
  cases::Manifest puzzle_;
  std::string status_, lesson_, report_;
  std::string questions_ = "[]";
  std::string questions_after_ = "[]";  ///< those that a pass opens
  int runs_ = 0;  ///< pages of runs so far: a new one is fetched by a new number
  bool has_run_ = false;
};

}  // namespace shardlings::cli::verbs
