/// \file
/// Seeds of hidden cases that nobody but the grading side can know.
#pragma once

#include <cstdint>
#include <string>

namespace shardlings::grading::judge {

/// The seed of a puzzle's case. From one of them neither the secret nor another one can be found.
std::uint64_t secret_seed(const std::string& secret, const std::string& puzzle, const std::string& case_name);

}  // namespace shardlings::grading::judge
