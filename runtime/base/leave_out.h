/// \file
/// Texts without the folders of the machine that made them.
#pragma once

#include <string>
#include <string_view>

namespace shardlings {

/// Takes every occurrence of `part` out of the text.
inline void leave_out(std::string& text, std::string_view part) {
  if (part.empty()) return;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos;) text.erase(at, part.size());
}

}  // namespace shardlings
