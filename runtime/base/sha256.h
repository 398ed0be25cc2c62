/// \file
/// A hash that cannot be inverted, for secrets: SHA-256 (NIST FIPS 180-4). For contents that are no secret, hash.h is
/// faster.
#pragma once

#include <string>
#include <string_view>

namespace shardlings {

/// 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace shardlings
