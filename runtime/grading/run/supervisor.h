/// \file
/// Runs a submission on one case in a process of its own, and says how it went.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "case/case.h"
#include "grading/run/process.h"
#include "submission/wire/result.h"
#include "world/backend.h"

namespace shardlings::grading::run {

/// Limits for a case of so many ranks. A case takes some hundredths of a second, so only a runaway meets them; on GPUs
/// the driver's own start takes a second or two, and reserves memory as it likes.
ProcessLimits default_limits(int ranks, world::Backend backend = world::Backend::cpu);

/// What is run.
struct Submission {
  std::string program;   ///< the learner's code with its harness, or a broker: the harness alone
  std::string jail{};    ///< then the program with the learner's code; else empty
  int least_tier = 0;    ///< of the jail's walls: where the system gives fewer, it is not run
  std::string source{};  ///< name of the learner's file: no report points at another one. Empty: that is not known
  /// The lines of that file in which a call can stand: no report points at another one. Empty: they are not known.
  std::set<int> call_lines{};

  Submission(std::string program_, std::string jail_ = "", int least_tier_ = 0)  // NOLINT: a program is a submission
      : program(std::move(program_)), jail(std::move(jail_)), least_tier(least_tier_) {}
  Submission(const char* program_) : program(program_) {}  // NOLINT
};

/// Never throws for what the submission does; whatever it leaves behind, the result is consistent.
/// The backend is no part of the case: whatever is counted is the same on all.
wire::Result run_case(const Submission& submission, const cases::Case& kase, const ProcessLimits& limits,
                      world::Backend backend = world::Backend::cpu);

class CaseFile;

/// For a program that is no submission and leaves the same last words: the file in memory that it does so in.
class Witness {
 public:
  /// `kase` says how many ranks there are.
  explicit Witness(const cases::Case& kase);
  ~Witness();
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  int file() const;  ///< to be handed to the program; -1: there is no room for one
  /// How the program ended, as run_case says it.
  wire::Result explain(const std::string& program, const ProcessEnd& end) const;
  /// Whether it has noted what it could not go on for: see case_file.h.
  bool has_noted_fault() const;

 private:
  std::unique_ptr<const CaseFile> file_;
  int ranks_;
};

}  // namespace shardlings::grading::run
