/// \file
/// The words of a formula as lessons write it: plain text that reads well in a terminal, too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shardlings::site {

enum class TokenKind : std::uint8_t {
  number,    ///< "16", "19,800", "3.4"
  variable,  ///< a letter, "BW", and either with an index: "t_F", "w_{l+1}"
  function,  ///< "sqrt", "max", "sum": what may stand before a bracket or "over"
  unit,      ///< "ms", "GB/s": what may stand behind a number
  power,     ///< "²", "⁻⁵", "ᵀ"
  sign,      ///< "+", "·", "<=": between two operands
  open,      ///< "(" or "⌈"
  close,     ///< ")" or "⌉"
  bar,       ///< "|": opens or closes
  comma,
  word,  ///< everything else: words, punctuation
};

struct Token {
  TokenKind kind = TokenKind::word;
  std::string text;    ///< of a variable the part before the index
  std::string index;   ///< of a variable: "F", "l+1"; empty: none
  bool spaced = true;  ///< white space stands before it
  std::size_t begin = 0;
  std::size_t end = 0;  ///< where it stands in the text, in bytes
};

/// The tokens of a text in their order. Nothing but white space lies between them.
std::vector<Token> tokens_of(std::string_view text);

/// "=", "<=": a sign that compares.
bool is_relation(const Token& token);

}  // namespace shardlings::site
