/// \file
/// Text character by character.
#pragma once

#include <cstddef>
#include <string_view>

namespace shardlings {

/// What stands at the beginning of a text.
struct Character {
  char32_t code = 0;     ///< its code point; of a byte that begins no character, that byte
  std::size_t size = 1;  ///< bytes
  bool valid = false;    ///< it is well-formed UTF-8
};

/// The first character of a text that is not empty. What is no well-formed UTF-8 (overlong forms and surrogates are
/// not) comes byte by byte.
Character first_character(std::string_view text);

}  // namespace shardlings
