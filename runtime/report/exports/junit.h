/// \file
/// A verdict as JUnit XML, the form that CI systems show: a test suite for the puzzle, a test case for each check on
/// each case.
#pragma once

#include <string>

#include "grading/verdict/verdict.h"

namespace shardlings::report {

/// Follows the schema that Jenkins and GitLab read (testsuite, testcase, failure, error, skipped). A check that was not
/// judged is skipped with the reason; a source that does not build, or a run without any check, is one error, never an
/// empty suite.
std::string to_junit(const grading::verdict::Verdict& verdict);

}  // namespace shardlings::report
