/// \file
/// How a puzzle's folder and its parts are named.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>

namespace shardlings::cases {

inline constexpr const char* kManifestFile = "puzzle.toml";

/// Letters, digits and _ only, and at least one of them.
inline bool is_identifier(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

/// 9 of "09_data_parallel", and 3 of "3 Data parallelism"; 0 where no number begins the text.
inline int leading_number(const std::string& id) {
  int number = 0;
  for (const char c : id) {
    if (c < '0' || c > '9') break;
    number = number * 10 + (c - '0');
  }
  return number;
}

}  // namespace shardlings::cases
