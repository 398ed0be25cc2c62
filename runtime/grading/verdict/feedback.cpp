#include "grading/verdict/feedback.h"

#include <algorithm>
#include <set>

namespace shardlings::grading::verdict {
namespace {

/// A check as the law that it is: no numbers, which would be those of the case.
CheckVerdict law_of(const CheckVerdict& check, const CaseVerdict& kase, const std::string& title) {
  CheckVerdict law;
  law.id = check.id;
  law.case_name = check.case_name;
  law.passed = check.passed;
  law.blocked_by = check.blocked_by;
  law.reason = check.reason;
  if (check.passed == false) {
    law.expected = kase.ending == wire::Ending::finished ? title : "a run that comes to its end";
  }
  return law;
}

/// What the case is, how it ended, and which laws hold. What a program has printed may be the case's numbers, too.
CaseVerdict law_of(const CaseVerdict& kase, const std::map<std::string, std::string>& titles) {
  CaseVerdict law;
  law.kase.puzzle = kase.kase.puzzle;
  law.kase.name = kase.kase.name;
  law.kase.hidden = true;
  law.kase.ranks = kase.kase.ranks;
  law.kase.seed = 0;
  law.secret_seed = true;
  law.ending = kase.ending;
  law.failure = kase.failure;
  if (!can_be_judged(kase.ending)) law.explanation = kase.explanation;  // the machine's
  for (const CheckVerdict& check : kase.checks) law.checks.push_back(law_of(check, kase, titles.at(check.id)));
  return law;
}

}  // namespace

Feedback FeedbackRules::of(const std::string& case_name) const {
  const auto own = of_case.find(case_name);
  return own == of_case.end() ? usual : own->second;
}

bool FeedbackRules::tells_all() const {
  return usual == Feedback::full &&
         std::all_of(of_case.begin(), of_case.end(), [](const auto& own) { return own.second == Feedback::full; });
}

void conceal(Verdict& verdict, const FeedbackRules& rules) {
  std::map<std::string, std::string> titles;
  for (const CheckSummary& check : verdict.checks) titles[check.spec.id] = check.spec.title;
  std::vector<CaseVerdict> shown;
  for (CaseVerdict& kase : verdict.cases) {
    const Feedback level = kase.kase.hidden ? rules.of(kase.kase.name) : Feedback::full;
    if (level == Feedback::full) {
      shown.push_back(std::move(kase));
    } else if (level == Feedback::law) {
      shown.push_back(law_of(kase, titles));
    } else {
      ++verdict.concealed;
    }
  }
  verdict.cases = std::move(shown);
  std::set<std::string> told;
  for (const CaseVerdict& kase : verdict.cases) {
    for (const CheckVerdict& check : kase.checks) told.insert(check.diagnosis);
  }
  std::erase_if(verdict.diagnoses, [&](const std::string& id) { return !told.contains(id); });
}

}  // namespace shardlings::grading::verdict
