/// \file
/// A verdict as Classroom 50's result.json (foundation50/classroom50, schemas/result-v1.schema.json and
/// wiki/Advanced-Autograding.md, "The result.json contract").
#pragma once

#include <string>

#include "grading/verdict/verdict.h"

namespace shardlings::report {

/// What the runner tells an autograder of the submission, in its environment.
struct ClassroomSubmission {
  std::string classroom;                       ///< CLASSROOM: short name
  std::string assignment;                      ///< ASSIGNMENT: slug
  std::string assignment_type = "individual";  ///< ASSIGNMENT_TYPE: or "group"
  std::string owner;                           ///< OWNER, or USERNAME: whose repository it is
  std::string submission;                      ///< SUBMISSION_TAG: begins with "submit/"
  std::string commit;                          ///< COMMIT_URL
  std::string release;                         ///< RELEASE_URL
  std::string review;                          ///< REVIEW_URL, or the commit's
  std::string datetime;                        ///< when, in UTC: 2026-06-01T14:32:01Z
};

/// A test for each check, worth its points; where nothing was built, each says why. What could not be judged has
/// neither tests nor points: 0 of 0.
std::string to_classroom50(const grading::verdict::Verdict& verdict, const ClassroomSubmission& submission);

}  // namespace shardlings::report
