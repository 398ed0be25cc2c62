/// \file
/// Work in a process of its own, so that it can be dropped at any moment.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace shardlings::cli::system {

/// One piece of work in a forked process. Its output and what it says about its progress come through a pipe.
class Job {
 public:
  /// Tells the other side what the work is at: "running: 3 of 6 cases".
  using Say = std::function<void(const std::string& stage)>;
  /// Does the work, puts what there is to show into `text`, and returns the exit status.
  using Work = std::function<int(const Say& say, std::string& text)>;

  Job() = default;
  ~Job() { drop(); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Drops what runs and starts anew. Throws std::runtime_error where no process can be had.
  void start(const Work& work);
  /// Kills what runs; nothing more will come from it.
  void drop();

  bool running() const { return child_ > 0; }
  /// Readable when there is news; -1 if nothing runs.
  int descriptor() const { return pipe_; }
  /// Takes the news. True when the work has just ended.
  bool take();

  const std::string& stage() const { return stage_; }
  const std::string& text() const { return text_; }
  int status() const { return status_; }

 private:
  void parse();

  pid_t child_ = -1;
  int pipe_ = -1;
  int status_ = 0;
  std::string received_, stage_, text_;
};

}  // namespace shardlings::cli::system
