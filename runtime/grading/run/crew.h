/// \file
/// With the backend mpi, on the judge's side: the processes of a submission that mpirun has started, which run one case
/// after another. What each of them does is submission/crew.h.
#pragma once

#include <memory>
#include <string>

#include "case/case.h"
#include "grading/run/case_file.h"
#include "grading/run/crew_watch.h"
#include "grading/run/process.h"
#include "grading/run/supervisor.h"
#include "submission/wire/result.h"

namespace shardlings::grading::run {

/// They start when the first case comes, and end with the crew. After a case that did not come to its end they are
/// started again for the next one.
class Crew {
 public:
  /// `start`: how they are started (to_text() in mpirun.h). `ranks`: the most that a case has.
  Crew(Submission submission, std::string start, int ranks);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// As run_case(). One call at a time.
  wire::Result run(const cases::Case& kase, const ProcessLimits& limits);

 private:
  /// The file that what a case prints is kept in.
  class Output;

  void start();
  /// The case is under way from here until it has ended, its processes have, or a limit is met.
  void await(const CaseFile& file, const Output& output, const ProcessLimits& limits);
  /// How the processes ended that did not bring the case to its end.
  ProcessEnd end_of(const CaseFile& file);
  /// Until mpirun has ended, or for so long. True if it has.
  bool has_ended_within(double seconds);
  /// If a process was lost that had nothing to say of its end: the case is not judged, and this says whose it was.
  void tell_of_loss(const CaseFile& file, int ranks, wire::Result& result) const;

  Submission submission_;
  std::string start_;
  int ranks_;
  TemporaryFolder folder_;
  std::unique_ptr<CrewWatch> watch_;  ///< over the processes that run, or ran last
  std::unique_ptr<Process> process_;  ///< mpirun; nullptr: none runs
  Kill killed_ = Kill::none;          ///< why the last case was stopped
};

}  // namespace shardlings::grading::run
