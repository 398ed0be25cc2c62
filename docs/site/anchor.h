/// \file
/// Addresses of headings.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace shardlings::site {

/// The anchor that GitHub gives a heading: lower case, spaces to hyphens, other punctuation dropped.
inline std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    const auto code = static_cast<unsigned char>(c);
    if (std::isalnum(code) != 0 || c == '-' || c == '_' || code >= 0x80)
      anchor += static_cast<char>(std::tolower(code));
    if (c == ' ') anchor += '-';
  }
  return anchor;
}

}  // namespace shardlings::site
