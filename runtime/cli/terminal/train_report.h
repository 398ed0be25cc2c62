/// \file
/// What `train` shows: a line while it runs, a summary at the end.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/context.h"
#include "train/settings.h"

namespace shardlings::cli::terminal {

class TrainReport {
 public:
  TrainReport(const Context& context, train::Settings settings);

  /// Lines of the program that trains: a step, the end, or something that the learner's code has printed.
  void add_step(const nlohmann::json& line);
  void end(const nlohmann::json& line);
  void add_output(const std::string& line);
  /// It is gone without a last word: how that came, and which kind of end it is.
  void end_early(const std::string& how, const std::string& end);
  bool has_ended() const { return !end_.empty(); }

  /// "step 120 of 300  ███████░░░░░░░░░░░░░  loss 2.31  12.3k tokens/s  MFU 4.1 %".
  std::string progress() const;
  std::string as_text() const;
  std::string as_json() const;
  /// Exit status.
  int status() const;

 private:
  std::string layout_text() const;
  std::string memory_text() const;
  std::string how_to_go_on() const;
  double tokens_per_second() const;
  double utilization() const;

  const Context& context_;
  train::Settings settings_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point last_;
  int step_ = 0;        ///< the last one that was made
  int first_step_ = 0;  ///< steps that were there before
  std::vector<double> losses_;
  double virtual_ns_ = 0;
  std::string end_, message_, output_;
  std::int64_t peak_ = 0;
  std::vector<std::pair<std::string, std::int64_t>> kinds_;
};

}  // namespace shardlings::cli::terminal
