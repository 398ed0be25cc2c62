/// \file
/// Texts that a test expects, as files beside the tests.
#pragma once

#include <string>

namespace shardlings::testing {

/// Expects `text` to equal tests/report/golden/<name>. With SHARDLINGS_UPDATE_GOLDEN set in the environment the file is
/// written instead (read the difference before you commit it).
void expect_golden(const std::string& name, const std::string& text);

}  // namespace shardlings::testing
