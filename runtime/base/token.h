/// \file
/// A word that nobody can guess.
#pragma once

#include <string>

namespace shardlings {

/// 128 random bits of the system's as 32 hexadecimal digits. Throws std::runtime_error if it has none.
std::string random_token();

}  // namespace shardlings
