#include "report/choice.h"

#include <algorithm>
#include <tuple>

namespace shardlings::report {
namespace {

bool failed(const grading::verdict::CheckVerdict& check) {
  return check.passed.has_value() && !*check.passed;
}

auto interest(const grading::verdict::CaseVerdict& verdict) {
  const cases::Case& kase = verdict.kase;
  const bool takes_time = std::any_of(verdict.counters.begin(), verdict.counters.end(),
                                      [](const front::Counters& rank) { return rank.end > Nanos(0); });
  return std::make_tuple(!kase.hidden, takes_time, kase.ranks > 1, kase.micro_batches > 1);
}

}  // namespace

const grading::verdict::CheckVerdict* failed_check(const grading::verdict::CaseVerdict& kase, const std::string& id) {
  const auto found = std::find_if(kase.checks.begin(), kase.checks.end(),
                                  [&](const auto& check) { return check.id == id && failed(check); });
  return found == kase.checks.end() ? nullptr : &*found;
}

bool repeats_explanation(const grading::verdict::CaseVerdict& kase, const grading::verdict::CheckVerdict& check) {
  return !kase.explanation.empty() && kase.explanation.compare(0, check.found.size(), check.found) == 0;
}

const grading::verdict::CaseVerdict* case_to_show(const grading::verdict::Verdict& verdict) {
  const grading::verdict::CaseVerdict* best = nullptr;
  for (const auto& kase : verdict.cases) {
    if (kase.counters.empty() || kase.kase.question) continue;
    if (std::any_of(kase.checks.begin(), kase.checks.end(), failed)) return &kase;
    if (best == nullptr || interest(kase) > interest(*best)) best = &kase;
  }
  return best;
}

const grading::verdict::CaseVerdict* case_with_shows(const grading::verdict::Verdict& verdict) {
  const grading::verdict::CaseVerdict* best = case_to_show(verdict);
  if (best != nullptr && !best->shown.empty()) return best;
  const auto found =
      std::find_if(verdict.cases.begin(), verdict.cases.end(), [](const auto& kase) { return !kase.shown.empty(); });
  return found == verdict.cases.end() ? nullptr : &*found;
}

}  // namespace shardlings::report
