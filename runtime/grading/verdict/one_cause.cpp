#include "grading/verdict/one_cause.h"

#include <map>
#include <string>

namespace shardlings::grading::verdict {

void keep_one_cause(std::vector<CaseVerdict>& cases) {
  std::map<std::string, std::string> causes;  // by check
  for (CaseVerdict& kase : cases) {
    if (kase.ending == wire::Ending::not_run) continue;  // it says why, which is no mistake
    for (CheckVerdict& check : kase.checks) {
      if (check.diagnosis_text.empty()) continue;
      const auto [kept, is_first] = causes.try_emplace(check.id, check.diagnosis);
      if (is_first || kept->second == check.diagnosis) continue;
      check.diagnosis.clear();
      check.diagnosis_text.clear();
    }
  }
}

}  // namespace shardlings::grading::verdict
