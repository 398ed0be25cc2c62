/// \file
/// Judges the cases' results by the puzzle's checks and makes the verdict.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "case/manifest.h"
#include "grading/judge/grader.h"
#include "grading/run/case_runs.h"

namespace shardlings::grading::judge {

/// The checks that grader.cpp defines, by id.
const std::map<std::string, CheckFunction>& registered_checks();
/// What it computes while the submission is built; nullptr if it says nothing of that.
AheadFunction registered_ahead();

/// How an embedding test framework wraps the call of a check; returns what it found wrong, or nothing.
using Guard = std::function<std::string(const std::function<void()>&)>;

/// Each check is judged at most once for each case, after those that it depends on.
class Judge {
 public:
  /// Names of cases whose seed nobody is told.
  using SecretCases = std::set<std::string>;
  Judge(const cases::Manifest& manifest, run::CaseRuns& runs, Guard guard, SecretCases secret = {});

  /// All checks on a case that has ended; others may still be running.
  void judge_case(std::size_t index);
  /// As if this were the only case: with the cause that it names by itself.
  const verdict::CheckVerdict& verdict_of(const std::string& check_id, std::size_t index);
  /// Of all that has been judged so far, once all cases have ended. Of a check it keeps one cause (one_cause.h).
  verdict::Verdict verdict() const;
  /// The same when some have not, which are then not judged: what is written after each case. Without counters and
  /// traces, which would cost more than the judging.
  verdict::Verdict interim_verdict(const std::function<bool(std::size_t index)>& has_ended) const;

 private:
  boundary::Walls walls_when(const std::function<bool(std::size_t index)>& has_ended) const;
  verdict::CheckVerdict evaluate(const cases::CheckSpec& spec, std::size_t index);
  /// False if the check cannot be judged on this case: because the run failed, or because of another check.
  bool can_be_judged(const cases::CheckSpec& spec, std::size_t index, verdict::CheckVerdict& verdict);
  void call(const cases::CheckSpec& spec, std::size_t index, verdict::CheckVerdict& verdict);
  enum class Numbers : std::uint8_t { left_out, all };
  verdict::Verdict verdict_when(const std::function<bool(std::size_t index)>& has_ended, Numbers numbers) const;
  verdict::CaseVerdict case_verdict(std::size_t index, Numbers numbers) const;
  verdict::CaseVerdict case_not_reached(std::size_t index) const;
  verdict::CaseVerdict case_alone(std::size_t index) const;
  /// Gives the cases of each check the cause that their suspects have in common.
  void name_common_suspects(std::vector<verdict::CaseVerdict>& cases) const;
  static verdict::CheckSummary summary(const cases::CheckSpec& spec, const std::vector<verdict::CaseVerdict>& cases);

  const cases::Manifest& manifest_;
  run::CaseRuns& runs_;
  Guard guard_;
  SecretCases secret_;
  std::map<std::pair<std::string, std::size_t>, verdict::CheckVerdict> judged_;
  /// By check and case, where it failed.
  std::map<std::pair<std::string, std::size_t>, std::vector<Suspect>> suspects_;
};

/// The verdict where the machine or the tool let nothing be judged: why, and what to do.
verdict::Verdict not_judged(const cases::Manifest& manifest, const std::string& reason);

/// The verdict on a source that did not build, with the compiler's words.
verdict::Verdict did_not_build(const cases::Manifest& manifest, const std::string& build_log);

/// "./shardlings run 09 --case '4 ranks' --seed 7": repeats exactly this case.
std::string reproduction(const cases::Manifest& manifest, const cases::Case& kase,
                         world::Backend backend = world::Backend::cpu);

}  // namespace shardlings::grading::judge
