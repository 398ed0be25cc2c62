#include "report/exports/classroom50.h"

#include "report/exports/for_student.h"
#include "report/exports/json_text.h"
#include "report/harmless.h"

namespace shardlings::report {

using grading::verdict::CheckSummary;
using grading::verdict::Status;
using grading::verdict::Verdict;

std::string to_classroom50(const Verdict& verdict, const ClassroomSubmission& submission) {
  const bool judged = verdict.status != Status::not_judged;
  const std::string build = first_of_build(verdict);  // there is no place for what is of all tests
  ExportJson tests = ExportJson::array();
  for (const CheckSummary& check : verdict.checks) {
    if (!judged) break;
    if (is_open_bonus(check)) continue;
    tests.push_back({{"test-name", harmless_line(check.spec.title, Charset::unicode)},
                     {"passed", check.passed.value_or(false)},
                     {"score", check.earned},
                     {"max-score", check.spec.points},
                     {"output", build.empty() ? check_text(verdict, check) : build}});
  }
  return json_text({{"schema", "classroom50/result/v1"},
                    {"classroom", submission.classroom},
                    {"assignment", submission.assignment},
                    {"assignment_type", submission.assignment_type},
                    {"owner", submission.owner},
                    {"submission", submission.submission},
                    {"commit", submission.commit},
                    {"release", submission.release},
                    {"review", submission.review},
                    {"datetime", submission.datetime},
                    {"score", judged ? verdict.points : 0},
                    {"max-score", judged ? verdict.max_points : 0},
                    {"tests", tests}});
}

}  // namespace shardlings::report
