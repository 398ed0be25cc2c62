/// \file
/// Judges the cases' results by the puzzle's checks and makes the verdict.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "case/manifest.h"
#include "grading/judge/grader.h"
#include "grading/run/case_runs.h"

namespace shardlings::grading::judge {

/// The checks that grader.cpp defines, by id.
const std::map<std::string, CheckFunction>& registered_checks();

/// How an embedding test framework wraps the call of a check; returns what it found wrong, or nothing.
using Guard = std::function<std::string(const std::function<void()>&)>;

/// Each check is judged at most once for each case, after those that it depends on.
class Judge {
 public:
  Judge(const cases::Manifest& manifest, run::CaseRuns& runs, Guard guard);

  const verdict::CheckVerdict& verdict_of(const std::string& check_id, std::size_t kase);
  /// Of all that has been judged so far.
  verdict::Verdict verdict() const;

 private:
  verdict::CheckVerdict evaluate(const cases::CheckSpec& spec, std::size_t kase);
  /// False if the check cannot be judged on this case: because the run failed, or because of another check.
  bool can_be_judged(const cases::CheckSpec& spec, std::size_t kase, verdict::CheckVerdict& verdict);
  void call(const cases::CheckSpec& spec, std::size_t kase, verdict::CheckVerdict& verdict);
  verdict::CaseVerdict case_verdict(std::size_t kase) const;
  verdict::CheckSummary summary(const cases::CheckSpec& spec) const;

  const cases::Manifest& manifest_;
  run::CaseRuns& runs_;
  Guard guard_;
  std::map<std::pair<std::string, std::size_t>, verdict::CheckVerdict> judged_;
};

/// The verdict on a source that did not build, with the compiler's words.
verdict::Verdict did_not_build(const cases::Manifest& manifest, const std::string& build_log);

/// "./shardlings run 09 --case '4 ranks' --seed 7": repeats exactly this case.
std::string reproduction(const cases::Manifest& manifest, const cases::Case& kase,
                         world::Backend backend = world::Backend::cpu);

}  // namespace shardlings::grading::judge
