/// \file
/// Tokens of a formula as MathML.
#pragma once

#include <string>
#include <vector>

#include "site/formula_tokens.h"

namespace shardlings::site {

/// A row of tokens [begin, end), words among them included. Brackets that are not closed in the row are only signs.
class FormulaRow {
 public:
  /// `wide`: there is room for conditions below signs, as in blocks.
  FormulaRow(const std::vector<Token>& tokens, std::size_t begin, std::size_t end, bool wide)
      : tokens_(tokens), begin_(begin), at_(begin), end_(end), wide_(wide) {}

  std::string mathml();

 private:
  struct Piece {
    std::string mathml;
    std::string bare;  ///< without the brackets around it, for a fraction
    bool words = false;
    bool plain = false;  ///< a number alone
  };

  bool here(TokenKind kind) const { return at_ < end_ && tokens_[at_].kind == kind; }
  bool is_slash(std::size_t at) const;
  std::size_t closing(std::size_t open) const;
  std::string inner(std::size_t begin, std::size_t end) const;
  Piece piece();
  Piece with_power(Piece piece);
  Piece bracket();
  Piece function();
  Piece words();
  std::string over(const std::string& sign);
  std::string product();

  const std::vector<Token>& tokens_;
  std::size_t begin_;
  std::size_t at_;
  std::size_t end_;
  bool wide_;
};

}  // namespace shardlings::site
