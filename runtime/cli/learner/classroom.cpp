#include "cli/learner/classroom.h"

#include <sys/stat.h>

#include <charconv>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "cli/error.h"
#include "cli/system/program.h"

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

/// When the commit was made that the file lies in. What a stranger's repository may tell git to run is not run.
std::optional<std::time_t> committed_at(const std::string& file) {
  const system::Captured answer = system::capture(
      {"git", "--no-pager", "-c", "log.showSignature=false", "-c", "core.fsmonitor=false", "-C",
       std::filesystem::absolute(file).parent_path().string(), "log", "-1", "--no-show-signature", "--format=%ct"});
  std::time_t seconds = 0;
  const char* end = answer.output.data() + answer.output.size();
  const bool is_number = std::from_chars(answer.output.data(), end, seconds).ec == std::errc();
  return answer.status == 0 && is_number ? std::optional(seconds) : std::nullopt;
}

/// The same whenever it is graded again: when it was committed or, outside of git's repositories, written.
std::time_t submitted_at(const std::string& file) {
  if (file.empty()) return 0;
  if (const auto committed = committed_at(file)) return *committed;
  struct stat about {};
  return stat(file.c_str(), &about) == 0 ? about.st_mtime : 0;
}

}  // namespace

report::ClassroomSubmission classroom_submission(const std::string& file) {
  report::ClassroomSubmission submission;
  submission.classroom = required({"CLASSROOM"});
  submission.assignment = required({"ASSIGNMENT"});
  if (const std::string type = one_of({"ASSIGNMENT_TYPE"}); !type.empty()) submission.assignment_type = type;
  submission.owner = required({"OWNER", "USERNAME"});
  submission.submission = required({"SUBMISSION_TAG"});
  submission.commit = required({"COMMIT_URL"});
  submission.release = required({"RELEASE_URL"});
  submission.review = required({"REVIEW_URL", "COMMIT_URL"});
  submission.datetime = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(submitted_at(file)));
  return submission;
}

}  // namespace shardlings::cli::learner
