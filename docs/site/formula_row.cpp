#include "site/formula_row.h"

#include <map>
#include <string_view>

#include "report/harmless.h"
#include "site/formula_runs.h"

namespace shardlings::site {

using report::markup;

namespace {

std::string row(const std::string& content) {
  return "<mrow>" + content + "</mrow>";
}

std::string sign(std::string_view text, const char* attributes = "") {
  return std::string("<mo") + attributes + ">" + markup(text) + "</mo>";
}

/// One letter is slanted, a name is upright.
std::string name(const std::string& text) {
  std::size_t characters = 0;
  for (const char c : text) characters += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return (characters == 1 ? "<mi>" : "<mi class=\"name\">") + markup(text) + "</mi>";
}

std::string text_of(std::string_view text) {
  return "<mtext>" + markup(text) + "</mtext>";
}

/// Signs as they are printed; the keyboard has no others.
std::string_view printed(std::string_view text) {
  static const std::map<std::string_view, std::string_view> kPrinted = {{"-", "−"},  {"<=", "≤"}, {">=", "≥"},
                                                                        {"->", "→"}, {"!=", "≠"}, {"...", "…"}};
  const auto found = kPrinted.find(text);
  return found == kPrinted.end() ? text : found->second;
}

/// "⁻⁵" as digits on the line.
std::string lowered(const std::string& power) {
  static const std::map<std::string_view, std::string_view> kLowered = {
      {"⁰", "0"}, {"¹", "1"}, {"²", "2"}, {"³", "3"}, {"⁴", "4"}, {"⁵", "5"}, {"⁶", "6"},
      {"⁷", "7"}, {"⁸", "8"}, {"⁹", "9"}, {"⁺", "+"}, {"⁻", "−"}, {"ᵀ", "T"}};
  return std::string(kLowered.at(power));
}

std::string index_of(const std::string& text) {
  const std::vector<Token> tokens = tokens_of(text);
  return FormulaRow(tokens, 0, tokens.size(), false).mathml();
}

/// "989e12" with its power of ten.
std::string printed_number(const std::string& text) {
  const std::size_t power = text.find('e');
  const std::string digits = "<mn>" + text.substr(0, power) + "</mn>";
  if (power == std::string::npos) return digits;
  return row(digits + "<mo>·</mo><msup><mn>10</mn><mn>" + text.substr(power + 1) + "</mn></msup>");
}

constexpr const char* kThin = "<mspace width=\"0.2em\"/>";

}  // namespace

bool FormulaRow::is_slash(std::size_t at) const {
  return at < end_ && tokens_[at].kind == TokenKind::sign && tokens_[at].text == "/" && !tokens_[at].spaced &&
         at + 1 < end_ && !tokens_[at + 1].spaced;
}

std::size_t FormulaRow::closing(std::size_t open) const {
  int depth = 0;
  for (std::size_t i = open; i < end_; ++i) {
    if (tokens_[i].kind == TokenKind::open) ++depth;
    if (tokens_[i].kind == TokenKind::close && --depth == 0) return i;
  }
  return end_;
}

std::string FormulaRow::inner(std::size_t begin, std::size_t end) const {
  return FormulaRow(tokens_, begin, end, wide_).mathml();
}

FormulaRow::Piece FormulaRow::with_power(Piece piece) {
  std::string power;
  bool transposed = false;
  while (here(TokenKind::power) && !tokens_[at_].spaced) {
    transposed = tokens_[at_].text == "ᵀ";
    power += lowered(tokens_[at_++].text);
  }
  if (!power.empty()) {
    const std::string above = transposed ? "<mi>T</mi>" : "<mn>" + power + "</mn>";
    piece.mathml = "<msup>" + row(piece.mathml) + above + "</msup>";
    piece.bare = piece.mathml;
    piece.plain = false;
  } else if (here(TokenKind::sign) && tokens_[at_].text == "^" && !tokens_[at_].spaced && at_ + 1 < end_) {
    ++at_;
    piece.mathml = "<msup>" + row(piece.mathml) + row(this->piece().mathml) + "</msup>";
    piece.bare = piece.mathml;
  }
  return piece;
}

FormulaRow::Piece FormulaRow::bracket() {
  const std::size_t end = closing(at_);
  const std::string open = markup(tokens_[at_].text);
  if (end == end_) {
    ++at_;
    return {sign(open, " stretchy=\"false\""), "", false, false};
  }
  Piece result;
  result.bare = row(inner(at_ + 1, end));
  // Brackets that could grow have wider margins, even where they do not.
  const bool tall = result.bare.find("<mfrac") != std::string::npos || result.bare.find("<munder") != std::string::npos;
  const char* growth = tall ? "" : " stretchy=\"false\"";
  result.mathml = row(sign(open, growth) + inner(at_ + 1, end) + sign(tokens_[end].text, growth));
  at_ = end + 1;
  return result;
}

/// "max over l of": the condition below the sign.
std::string FormulaRow::over(const std::string& sign) {
  std::size_t of = at_ + 1;
  int depth = 0;
  for (; of < end_ && !(depth == 0 && tokens_[of].text == "of"); ++of) {
    if (tokens_[of].kind == TokenKind::open) ++depth;
    if (tokens_[of].kind == TokenKind::close) --depth;
  }
  const std::string condition = inner(at_ + 1, of);
  at_ = std::min(of + 1, end_);
  return (wide_ ? "<munder>" : "<msub>") + sign + row(condition) + (wide_ ? "</munder>" : "</msub>") + kThin;
}

FormulaRow::Piece FormulaRow::function() {
  const std::string text = tokens_[at_++].text;
  if (here(TokenKind::word) && tokens_[at_].text == "over" && at_ + 1 < end_) {
    const std::string mark =
        text == "sum" ? "<mo movablelimits=\"false\">∑</mo>" : "<mo movablelimits=\"false\">" + text + "</mo>";
    const std::string result = over(mark);
    return {result, result, false, false};
  }
  if (text == "log2")
    return {"<msub><mi class=\"name\">log</mi><mn>2</mn></msub>" + std::string(kThin), "", false, false};
  const bool called = here(TokenKind::open) && closing(at_) < end_;
  if (text == "sqrt" && called) {
    const std::string root = "<msqrt>" + bracket().bare + "</msqrt>";
    return {root, root, false, false};
  }
  if (text == "ceil" && called) {
    const std::string result = row(sign("⌈") + bracket().bare + sign("⌉"));
    return {result, result, false, false};
  }
  if (!called) {
    --at_;
    return words();
  }
  const std::string result = "<mi class=\"name\">" + text + "</mi>" + bracket().mathml;
  return {result, result, false, false};
}

/// Words up to the next part of a formula, with the spaces between and around them; signs have their own.
FormulaRow::Piece FormulaRow::words() {
  std::string text;
  const auto is_wordy = [&](std::size_t at) {
    const TokenKind kind = tokens_[at].kind;
    return kind == TokenKind::word || kind == TokenKind::function ||
           (kind == TokenKind::comma && at + 1 < end_ && tokens_[at + 1].spaced) ||
           (kind == TokenKind::variable && !is_letter_of_formula(tokens_, at)) ||
           (kind == TokenKind::sign && tokens_[at].text == "-" && !tokens_[at].spaced);
  };
  const std::size_t begin = at_;
  while (at_ < end_ && is_wordy(at_)) {
    const bool sums = tokens_[at_].kind == TokenKind::function && at_ > begin && at_ + 1 < end_ &&
                      (tokens_[at_ + 1].kind == TokenKind::open || tokens_[at_ + 1].text == "over");
    if (sums) break;
    const bool apart = tokens_[at_].spaced && at_ > begin_ && tokens_[at_ - 1].kind != TokenKind::sign;
    text += (apart ? "\u00a0" : "") + tokens_[at_].text;
    ++at_;
  }
  if (at_ == begin) text = tokens_[at_++].text;
  if (at_ < end_ && tokens_[at_].spaced && tokens_[at_].kind != TokenKind::sign) text += "\u00a0";
  return {text_of(text), text_of(text), true, false};
}

FormulaRow::Piece FormulaRow::piece() {
  const Token& token = tokens_[at_];
  switch (token.kind) {
    case TokenKind::number: {
      ++at_;
      const std::string number = printed_number(token.text);
      return with_power({number, number, false, true});
    }
    case TokenKind::variable: {
      if (!is_letter_of_formula(tokens_, at_)) return words();
      ++at_;
      const std::string letter =
          token.index.empty() ? name(token.text) : "<msub>" + name(token.text) + row(index_of(token.index)) + "</msub>";
      return with_power({letter, letter, false, false});
    }
    case TokenKind::open: return with_power(bracket());
    case TokenKind::function: return with_power(function());
    case TokenKind::unit: {
      ++at_;
      return {kThin + text_of(token.text), text_of(token.text), true, false};
    }
    case TokenKind::close:
    case TokenKind::bar: {
      ++at_;
      return with_power({sign(token.text, " stretchy=\"false\""), "", false, false});
    }
    default: {
      Piece result = words();
      return here(TokenKind::power) && !tokens_[at_].spaced ? with_power(result) : result;
    }
  }
}

/// An operand, or the fraction that it begins.
std::string FormulaRow::product() {
  const Piece above = piece();
  if (!is_slash(at_) || above.words || above.bare.empty()) return above.mathml;
  const std::size_t slash = at_++;
  const Piece below = piece();
  if (below.words || below.bare.empty() || is_slash(at_)) {
    at_ = slash;  // "7/8/450", "3/step": read as it stands
    return above.mathml;
  }
  return "<mfrac>" + row(above.bare) + row(below.bare) + "</mfrac>";
}

std::string FormulaRow::mathml() {
  std::string result;
  bool after_operand = false;
  while (at_ < end_) {
    const Token& token = tokens_[at_];
    if (token.kind == TokenKind::sign) {
      const bool leads = !after_operand && (token.text == "-" || token.text == "−");
      const bool tight = (token.text == "/" && !token.spaced) || token.text == "..." || token.text == "…";
      result += sign(printed(token.text), leads ? " form=\"prefix\"" : tight ? " lspace=\"0\" rspace=\"0\"" : "");
      after_operand = false;
      ++at_;
    } else if (token.kind == TokenKind::comma) {
      result += sign(",", " separator=\"true\"");
      after_operand = false;
      ++at_;
    } else if (is_times(tokens_, at_)) {
      result += sign("×");
      after_operand = false;
      ++at_;
    } else {
      const bool words = token.kind == TokenKind::word || token.kind == TokenKind::unit;
      if (after_operand && token.spaced && !words) result += kThin;
      result += product();
      after_operand = true;
    }
  }
  return result;
}

}  // namespace shardlings::site
