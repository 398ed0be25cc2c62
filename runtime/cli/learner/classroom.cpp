#include "cli/learner/classroom.h"

#include <chrono>
#include <cstdlib>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "cli/error.h"

namespace shardlings::cli::learner {
namespace {

/// The first of these variables that says something.
std::string one_of(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* const value = std::getenv(name);
    if (value && *value) return value;
  }
  return "";
}

std::string required(std::initializer_list<const char*> names) {
  const std::string value = one_of(names);
  if (!value.empty()) return value;
  throw UsageError(
      fmt::format("--export classroom50: the variable {} is not set. Classroom 50's runner sets it before it starts an "
                  "autograder: docs/instructors.md has the script.",
                  *names.begin()));
}

}  // namespace

report::ClassroomSubmission classroom_submission() {
  report::ClassroomSubmission submission;
  submission.classroom = required({"CLASSROOM"});
  submission.assignment = required({"ASSIGNMENT"});
  if (const std::string type = one_of({"ASSIGNMENT_TYPE"}); !type.empty()) submission.assignment_type = type;
  submission.owner = required({"OWNER", "USERNAME"});
  submission.submission = required({"SUBMISSION_TAG"});
  submission.commit = required({"COMMIT_URL"});
  submission.release = required({"RELEASE_URL"});
  submission.review = required({"REVIEW_URL", "COMMIT_URL"});
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  submission.datetime = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
  return submission;
}

}  // namespace shardlings::cli::learner
