#include "report/platforms.h"

#include "report/exports/autolab.h"
#include "report/exports/gradescope.h"
#include "report/exports/prairielearn.h"
#include "report/exports/submitty.h"

namespace shardlings::testing {

report::ClassroomSubmission classroom_submission() {
  const std::string repository = "https://example.org/course/data-parallel-ada";
  return {.classroom = "course",
          .assignment = "data-parallel",
          .assignment_type = "individual",
          .owner = "ada",
          .submission = "submit/2026-06-01T14-32-05Z-a1b2c3d",
          .commit = repository + "/commit/a1b2c3d",
          .release = repository + "/releases/tag/1",
          .review = repository + "/compare/0...a1b2c3d",
          .datetime = "2026-06-01T14:32:01Z"};
}

std::map<std::string, std::string> platform_texts(const grading::verdict::Verdict& verdict) {
  return {{"autolab", report::to_autolab(verdict)},
          {"classroom50", report::to_classroom50(verdict, classroom_submission())},
          {"gradescope", report::to_gradescope(verdict)},
          {"prairielearn", report::to_prairielearn(verdict)},
          {"submitty", report::to_submitty(verdict)}};
}

}  // namespace shardlings::testing
