/// \file
/// What a text or a file holds, as one short word: differs where contents differ. Against accidents, not attackers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardlings {

/// 64 bits of FNV-1a (Fowler, Noll, Vo; http://www.isthe.com/chongo/tech/comp/fnv), going on from `hash`.
inline constexpr std::uint64_t kHashStart = 0xCBF29CE484222325ULL;
inline constexpr std::uint64_t kHashPrime = 0x100000001B3ULL;
std::uint64_t hash_of(std::string_view bytes, std::uint64_t hash = kHashStart);

/// 16 hexadecimal digits.
std::string content_hash(std::string_view content);
/// The same of a file; empty if it cannot be read.
std::string file_hash(const std::string& path);
/// 128 bits of the texts in order, as hexadecimal digits: FNV-1a twice, with different beginnings. Each text's length
/// counts, so {"ab", "c"} and {"a", "bc"} differ.
std::string content_key(const std::vector<std::string>& texts);

}  // namespace shardlings
