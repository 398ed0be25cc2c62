#include "report/exports/failure_text.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/choice.h"

namespace shardlings::report {

std::string failure_text(const grading::verdict::CaseVerdict& kase, const grading::verdict::CheckVerdict& check) {
  std::string text = fmt::format("case: {}\n", kase.kase.name);
  if (kase.ending != wire::Ending::finished) text = "The run did not come to its end.\n" + text;
  if (!check.expected.empty()) text += fmt::format("expected: {}\n", check.expected);
  if (!check.found.empty()) text += fmt::format("found: {}\n", check.found);
  for (const std::string& line : check.details) text += line + '\n';
  if (check.where.line > 0) text += "where: " + to_text(Location{check.where.file.c_str(), check.where.line}) + '\n';
  if (!check.diagnosis_text.empty()) text += "likely: " + check.diagnosis_text + '\n';
  if (!kase.explanation.empty() && !repeats_explanation(kase, check)) text += kase.explanation + '\n';
  return kase.reproduce.empty() ? text : text + "repeat: " + kase.reproduce + '\n';
}

}  // namespace shardlings::report
