/// \file
/// What a compiler's messages mean here, where its own words do not say it.
#pragma once

#include <string>

namespace shardlings::grading::build {

/// A line on what is meant by an error about a Tensor, a Saved or a Work that was not moved; empty if there is none.
std::string advice_on(const std::string& log);

}  // namespace shardlings::grading::build
