#include "report/exports/submitty.h"

#include "report/exports/for_student.h"
#include "report/exports/json_text.h"
#include "report/harmless.h"

namespace shardlings::report {

using grading::verdict::CheckSummary;
using grading::verdict::Status;
using grading::verdict::Verdict;

std::string to_submitty(const Verdict& verdict) {
  if (verdict.status == Status::not_judged) {
    return json_text({{"status", "fail"}, {"message", not_judged_text(verdict)}});
  }
  ExportJson messages = ExportJson::array();
  messages.push_back({{"message", overall_text(verdict)}, {"status", verdict.passed ? "success" : "failure"}});
  for (const CheckSummary& check : verdict.checks) {
    if (check.passed.value_or(false) || is_open_bonus(check)) continue;
    const std::string title = harmless_line(check.spec.title, Charset::unicode);
    messages.push_back(
        {{"message", title + "\n" + check_text(verdict, check)}, {"status", check.passed ? "failure" : "information"}});
  }
  return json_text({{"status", "success"},
                    {"data",
                     {{"score", share_of_points(verdict)},
                      {"message", messages},
                      {"status", verdict.passed ? "success" : "failure"}}}});
}

}  // namespace shardlings::report
