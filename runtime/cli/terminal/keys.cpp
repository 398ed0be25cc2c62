#include "cli/terminal/keys.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace shardlings::cli::terminal {
namespace {

/// What follows "ESC [" or "ESC O" (ECMA-48, and what xterm sends).
constexpr std::array<std::pair<std::string_view, int>, 10> kSequences{{{"A", kUp},
                                                                       {"B", kDown},
                                                                       {"5~", kPageUp},
                                                                       {"6~", kPageDown},
                                                                       {"H", kHome},
                                                                       {"F", kEnd},
                                                                       {"1~", kHome},
                                                                       {"4~", kEnd},
                                                                       {"7~", kHome},
                                                                       {"8~", kEnd}}};

/// Takes the rest of a sequence from `bytes`; 0 for a key that nobody needs.
int key_of_sequence(std::string_view& bytes) {
  const auto is_final = [](char c) { return c >= 0x40 && c <= 0x7E; };
  const auto* const last = std::find_if(bytes.begin(), bytes.end(), is_final);
  const auto length = static_cast<std::size_t>(last - bytes.begin()) + (last == bytes.end() ? 0 : 1);
  const std::string_view sequence = bytes.substr(0, length);
  bytes.remove_prefix(length);
  for (const auto& [text, key] : kSequences) {
    if (text == sequence) return key;
  }
  return 0;
}

}  // namespace

std::vector<int> keys_in(std::string_view bytes) {
  std::vector<int> keys;
  while (!bytes.empty()) {
    const auto first = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if (first != kEscape) {
      keys.push_back(std::tolower(first));
    } else if (bytes.starts_with("[") || bytes.starts_with("O")) {
      bytes.remove_prefix(1);
      if (const int key = key_of_sequence(bytes); key != 0) keys.push_back(key);
    } else {
      keys.push_back(kEscape);
    }
  }
  return keys;
}

}  // namespace shardlings::cli::terminal
