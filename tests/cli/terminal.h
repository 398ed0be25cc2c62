/// \file
/// The command in a pseudo-terminal of its own, for tests.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "cli/learner.h"

namespace shardlings::cli {

class Terminal {
 public:
  /// `environment`: variables besides the learner's own, as "NAME=value".
  Terminal(const Learner& learner, const std::vector<std::string>& arguments,
           const std::vector<std::string>& environment = {}, int columns = 80, int rows = 24);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(const std::string& keys) const;
  /// Reads until the words are on the screen (they are consumed, with all before them), or until a minute has passed.
  bool shows(const std::string& words);
  /// Waits for the end and returns the exit status.
  int finish();
  /// Whether keys come one by one and unseen.
  bool takes_keys() const;
  /// All that was written, with its control sequences.
  const std::string& everything() const { return everything_; }
  /// What is left to be read, as the lines of a terminal: a carriage return goes back, "erase to the end of the line"
  /// erases. Other control sequences are left out.
  std::vector<std::string> lines() const;

 private:
  bool take();

  int terminal_ = -1;
  pid_t child_ = -1;
  std::string screen_, everything_;
};

}  // namespace shardlings::cli
