#include "report/exports/gradescope.h"

#include "report/exports/for_student.h"
#include "report/exports/json_text.h"
#include "report/harmless.h"

namespace shardlings::report {
namespace {

using grading::verdict::CheckSummary;
using grading::verdict::Status;
using grading::verdict::Verdict;

/// What is there whether or not it was judged.
ExportJson frame(const Verdict& verdict, const std::string& output) {
  return {
      {"execution_time", verdict.seconds},
      {"output", output},
      {"output_format", "text"},
      {"visibility", "visible"},
      {"stdout_visibility", "hidden"},
      {"extra_data", {{"puzzle", verdict.puzzle}, {"status", name_of(verdict.status)}, {"version", verdict.version}}}};
}

}  // namespace

std::string to_gradescope(const Verdict& verdict) {
  // Without any score: that is no grade, and Gradescope does not count it as an attempt.
  if (verdict.status == Status::not_judged) return json_text(frame(verdict, not_judged_text(verdict)));
  ExportJson tests = ExportJson::array();
  for (std::size_t i = 0; i < verdict.checks.size(); ++i) {
    const CheckSummary& check = verdict.checks[i];
    if (is_open_bonus(check)) continue;
    tests.push_back({{"name", harmless(check.spec.title, Charset::unicode)},
                     {"number", std::to_string(i + 1)},
                     {"score", check.earned},
                     {"max_score", check.spec.points},
                     {"status", check.passed.value_or(false) ? "passed" : "failed"},
                     {"output", check_text(verdict, check)},
                     {"tags", {name_of(check.spec.kind)}},
                     {"visibility", "visible"},
                     {"extra_data", {{"id", check.spec.id}, {"blocked_by", check.blocked_by}}}});
  }
  ExportJson json = frame(verdict, overall_text(verdict));
  json["score"] = verdict.points;
  json["test_output_format"] = "text";
  json["tests"] = std::move(tests);
  json["extra_data"]["diagnoses"] = verdict.diagnoses;
  return json_text(json);
}

}  // namespace shardlings::report
