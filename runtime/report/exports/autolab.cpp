#include "report/exports/autolab.h"

#include "report/exports/for_student.h"
#include "report/exports/json_text.h"
#include "report/harmless.h"

namespace shardlings::report {
namespace {

using grading::verdict::CheckSummary;
using grading::verdict::Status;
using grading::verdict::Verdict;

std::string line_of(const ExportJson& json) {
  return json.dump(-1, ' ', false, ExportJson::error_handler_t::replace) + "\n";
}

ExportJson mark_of(const Verdict& verdict, const CheckSummary& check) {
  const bool passed = check.passed.value_or(false);
  ExportJson mark = {{"passed", passed}};
  if (!passed) mark["hint"] = check_text(verdict, check);
  return mark;
}

}  // namespace

std::string to_autolab(const Verdict& verdict) {
  if (verdict.status == Status::not_judged) {
    return not_judged_text(verdict) + "\n" + line_of({{"scores", ExportJson::object()}});
  }
  ExportJson checks = ExportJson::object();
  std::string text = overall_text(verdict) + "\n";
  for (const CheckSummary& check : verdict.checks) {
    if (is_open_bonus(check)) continue;
    const std::string title = harmless_line(check.spec.title, Charset::unicode);
    checks[title] = mark_of(verdict, check);
    if (!check.passed.value_or(false)) text += "\n" + title + "\n" + check_text(verdict, check) + "\n";
  }
  const ExportJson marks = {{"_presentation", "semantic"}, {"stages", {"Checks"}}, {"Checks", checks}};
  return text + line_of(marks) + line_of({{"scores", {{verdict.puzzle, verdict.points}}}});
}

}  // namespace shardlings::report
