/// \file
/// A failed check as plain text, for the exports.
#pragma once

#include <string>

#include "grading/verdict/verdict.h"

namespace shardlings::report {

/// Case, expected, found, details, where, likely cause, how to repeat: a line each.
std::string failure_text(const grading::verdict::CaseVerdict& kase, const grading::verdict::CheckVerdict& check);

}  // namespace shardlings::report
