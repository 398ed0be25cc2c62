/// \file
/// The file in memory of one case, from the supervisor's side, and what it tells of a run that is over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "case/case.h"
#include "grading/run/process.h"
#include "grading/run/supervisor.h"
#include "submission/wire/memory_file.h"
#include "submission/wire/result.h"

namespace shardlings::grading::run {

class CaseFile {
 public:
  /// good() says whether there was room for it.
  explicit CaseFile(const cases::Case& kase);
  ~CaseFile();
  CaseFile(const CaseFile&) = delete;
  CaseFile& operator=(const CaseFile&) = delete;

  int number() const { return number_; }
  const wire::FileLayout& layout() const { return layout_; }
  bool good() const { return good_; }
  /// Up to `size` bytes; fewer if the file ends before.
  std::string read(std::size_t begin, std::size_t size) const;
  /// Whether the end mark is there.
  bool has_ended() const;
  /// Of all ranks so far.
  std::uint64_t calls() const;

 private:
  CaseFile(const std::string& text, std::size_t ranks);

  std::size_t ranks_;
  wire::FileLayout layout_;
  int number_;
  bool good_ = false;
};

/// A folder of its own, gone with its contents at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  /// Empty: there is none.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// That there was no room for the file, or else for the folder, of a case.
wire::Result no_room(bool is_in_memory);

/// What has come of a case whose program has ended. `submission`: what is known of the learner's file; where that is a
/// jail, it is the program with their code in it.
void conclude(const Submission& submission, const CaseFile& file, const ProcessEnd& end, const ProcessLimits& limits,
              int ranks, wire::Result& result);
/// The number of the signal by which a rank crashed, as it has noted itself; 0: none has.
int crash_signal_of(const CaseFile& file);
/// Whether a rank has noted that it called exit() or quick_exit().
bool has_noted_exit(const CaseFile& file);
/// Whether a process has noted what it could not go on for: a fault of the machine, or that there was no memory.
bool has_noted_fault(const CaseFile& file);

/// Those that a broker has noted. What a program notes that has the learner's code in it is worth nothing.
boundary::Walls walls_of(const CaseFile& file, const Submission& submission);

}  // namespace shardlings::grading::run
