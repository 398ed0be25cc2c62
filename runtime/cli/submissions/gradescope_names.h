/// \file
/// Whose submission is which, where Gradescope says so: submission_metadata.yml, which lies beside the submissions that
/// it exports.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace shardlings::cli::submissions {

/// The file, in the folder that Gradescope exports.
inline constexpr const char* kGradescopeMetadata = "submission_metadata.yml";

struct Submitter {
  std::string name;
  std::string id;  ///< what the course calls the student: the number (:sid:), or else the address; empty: neither
};

struct Submission {
  std::vector<Submitter> submitters;  ///< several of a group
  std::int64_t submitted = 0;         ///< seconds since 1970; 0: it is not said
};

/// By the number of the submission, "1234" of submission_1234. Reads the form that Gradescope writes and no other YAML:
/// what is not of that form is left out.
std::map<std::string, Submission> submissions_in(const std::string& yaml);

}  // namespace shardlings::cli::submissions
