/// \file
/// Every form of a course's platform, for tests.
#pragma once

#include <map>
#include <string>

#include "grading/verdict/verdict.h"
#include "report/exports/classroom50.h"

namespace shardlings::testing {

/// A submission of a student whose name is ada.
report::ClassroomSubmission classroom_submission();

/// The verdict in each form that is JSON or ends with it, by the name that `--export` knows it by.
std::map<std::string, std::string> platform_texts(const grading::verdict::Verdict& verdict);

}  // namespace shardlings::testing
