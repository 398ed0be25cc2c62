/// \file
/// A source file as the preprocessor sees it: names, signs and directives, with their lines; no comments, no literals.
///
/// What a compiler and this could read differently is not read at all but reported: raw strings, trigraphs, digraphs of
/// '#' and '[', odd white space, quotes that nobody closes. So nothing hides behind them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shardlings::grading::build {

struct SourceToken {
  enum class Kind : std::uint8_t {
    name,       ///< identifiers and keywords
    sign,       ///< one character, but "::" and "##"
    literal,    ///< a number, a character or a string, without its content
    directive,  ///< the word behind '#' at the beginning of a line; empty if there is none
    header      ///< of \#include: with its brackets or quotes; the rest of the line if it has none
  };
  Kind kind;
  std::string text;
  int line;
  bool in_directive;  ///< a part of a line that begins with '#'
};

/// Something in a source that is refused.
struct SourceProblem {
  int line;
  std::string text;  ///< what there is and what to do, without the place
};

struct SourceTokens {
  std::vector<SourceToken> tokens;       ///< up to the problem
  std::optional<SourceProblem> problem;  ///< the first one
};

SourceTokens read_tokens(const std::string& source);

}  // namespace shardlings::grading::build
