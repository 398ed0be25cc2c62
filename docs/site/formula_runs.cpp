#include "site/formula_runs.h"

#include <string_view>

namespace shardlings::site {

namespace {

bool is_bare(const Token& token, std::string_view letters) {
  return token.kind == TokenKind::variable && token.index.empty() && token.text.size() == 1 &&
         letters.find(token.text[0]) != std::string_view::npos;
}

bool ends_operand(const Token& token) {
  return token.kind == TokenKind::number || token.kind == TokenKind::power || token.kind == TokenKind::close ||
         token.kind == TokenKind::unit || token.kind == TokenKind::variable;
}

bool begins_operand(const Token& token) {
  return token.kind == TokenKind::number || token.kind == TokenKind::open || token.kind == TokenKind::variable ||
         token.kind == TokenKind::function;
}

bool reads(const Token& token, std::initializer_list<std::string_view> texts) {
  for (const std::string_view text : texts) {
    if (token.text == text) return true;
  }
  return false;
}

/// Reads a formula from a token on: operands with signs between them, or side by side as a product.
class RunReader {
 public:
  explicit RunReader(const std::vector<Token>& tokens) : tokens_(tokens) {}

  /// One past the formula's last token; `begin` if none begins there.
  std::size_t end_of(std::size_t begin, bool in_brackets) {
    std::size_t end = operand(begin);
    if (end == begin) return begin;
    for (;;) {
      const std::size_t more = continued(end, in_brackets);
      if (more == end) return end;
      end = more;
    }
  }

 private:
  bool has(std::size_t at) const { return at < tokens_.size(); }

  std::size_t continued(std::size_t end, bool in_brackets) {
    if (!has(end)) return end;
    const Token& next = tokens_[end];
    const bool joins =
        next.kind == TokenKind::sign || (next.kind == TokenKind::comma && in_brackets) || is_times(tokens_, end);
    if (joins) {
      if (reads(next, {"...", "…"}) && in_brackets && has(end + 1) && tokens_[end + 1].kind == TokenKind::comma)
        return end + 1;
      const std::size_t after = operand(end + 1);
      return after == end + 1 ? end : after;
    }
    if (!is_product(end)) return end;
    return operand(end);
  }

  /// Whether what follows stands beside the operand before it as a factor.
  bool is_product(std::size_t end) const {
    const Token& next = tokens_[end];
    const Token& last = tokens_[end - 1];
    if (last.kind == TokenKind::unit) return false;
    if (next.kind == TokenKind::variable || next.kind == TokenKind::function) return true;
    if (next.kind != TokenKind::open) return false;
    return !next.spaced || !is_remark(end);
  }

  /// "(N = 4)", "(27.75 ms)": what stands in the brackets is no factor.
  bool is_remark(std::size_t open) const {
    int depth = 0;
    bool calculates = false;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      if (tokens_[i].kind == TokenKind::open) ++depth;
      if (tokens_[i].kind == TokenKind::close && --depth == 0) break;
      if (is_relation(tokens_[i])) return true;
      calculates = calculates || tokens_[i].kind == TokenKind::sign || tokens_[i].kind == TokenKind::variable;
    }
    return !calculates;
  }

  std::size_t operand(std::size_t at) {
    if (!has(at)) return at;
    std::size_t end = at;
    const Token& first = tokens_[at];
    const bool is_signed = first.kind == TokenKind::sign && reads(first, {"-", "−"}) && has(at + 1) &&
                           !tokens_[at + 1].spaced && first.spaced;
    if (is_signed) ++end;
    const std::size_t after = has(end) ? primary(end) : end;
    if (after == end) return at;
    end = after;
    while (has(end) && tokens_[end].kind == TokenKind::power && !tokens_[end].spaced) ++end;
    if (has(end) && tokens_[end].kind == TokenKind::unit) ++end;
    return end;
  }

  std::size_t primary(std::size_t at) {
    const Token& token = tokens_[at];
    if (token.kind == TokenKind::number) return at + 1;
    if (token.kind == TokenKind::variable) return is_letter_of_formula(tokens_, at) ? at + 1 : at;
    if (token.kind == TokenKind::sign && reads(token, {"...", "…"})) return at + 1;
    if (token.kind == TokenKind::function) {
      const bool called = has(at + 1) && tokens_[at + 1].kind == TokenKind::open && !tokens_[at + 1].spaced;
      if (called) {
        const std::size_t end = bracket(at + 1);
        return end == at + 1 ? at : end;
      }
      const bool logarithm = token.text == "log2" && has(at + 1) && tokens_[at + 1].kind == TokenKind::variable;
      return logarithm ? at + 2 : at;
    }
    return token.kind == TokenKind::open ? bracket(at) : at;
  }

  std::size_t bracket(std::size_t open) {
    const std::size_t end = end_of(open + 1, true);
    return end > open + 1 && has(end) && tokens_[end].kind == TokenKind::close ? end + 1 : open;
  }

  const std::vector<Token>& tokens_;
};

/// "P. Sanders": a capital with a full stop, which no word stands before.
bool is_initial(const std::vector<Token>& tokens, std::size_t at) {
  const bool stopped = at + 1 < tokens.size() && tokens[at + 1].text == "." && !tokens[at + 1].spaced;
  if (!stopped || tokens[at].text[0] < 'A' || tokens[at].text[0] > 'Z') return false;
  return at == 0 || tokens[at - 1].kind == TokenKind::comma || tokens[at - 1].kind == TokenKind::open ||
         (tokens[at - 1].kind == TokenKind::sign && !is_relation(tokens[at - 1])) ||
         (tokens[at - 1].kind == TokenKind::word && tokens[at - 1].text.find_first_of(".;") == 0);
}

/// Numbers alone say the same without any mark-up, and so does a letter that may be a word.
bool is_worth_it(const std::vector<Token>& tokens, std::size_t begin, std::size_t end) {
  bool letters = false;
  for (std::size_t i = begin; i < end; ++i) {
    letters = letters || (tokens[i].kind == TokenKind::variable && !is_times(tokens, i));
  }
  if (end - begin == 1) return letters && !is_bare(tokens[begin], "aAIx") && !is_initial(tokens, begin);
  const bool thousands = end - begin == 2 && tokens[begin].kind == TokenKind::number && tokens[begin + 1].spaced &&
                         is_bare(tokens[begin + 1], "kMGT");
  return letters && !thousands;
}

}  // namespace

bool is_times(const std::vector<Token>& tokens, std::size_t at) {
  if (!is_bare(tokens[at], "x") || at == 0 || at + 1 >= tokens.size()) return false;
  return tokens[at].spaced && tokens[at + 1].spaced && ends_operand(tokens[at - 1]) && begins_operand(tokens[at + 1]);
}

bool is_letter_of_formula(const std::vector<Token>& tokens, std::size_t at) {
  if (!is_bare(tokens[at], "aAIx")) return true;
  const auto counts = [&](std::size_t i) {
    return i < tokens.size() && (tokens[i].kind == TokenKind::sign || tokens[i].kind == TokenKind::power ||
                                 tokens[i].kind == TokenKind::number || tokens[i].kind == TokenKind::comma);
  };
  const bool before = at > 0 && counts(at - 1) && tokens[at - 1].kind != TokenKind::comma;
  if (tokens[at].text == "a" && before && tokens[at - 1].kind == TokenKind::number) {
    return at + 1 < tokens.size() && tokens[at + 1].kind == TokenKind::variable;  // "5 a s/h", and not "2 a block"
  }
  const bool article = tokens[at].text == "a" && at + 1 < tokens.size() && tokens[at + 1].kind == TokenKind::word;
  if (before) return !article || is_relation(tokens[at - 1]);  // "y = a downᵀ", and not "+ a few bytes"
  return counts(at + 1) && tokens[at + 1].kind != TokenKind::number && tokens[at + 1].kind != TokenKind::comma;
}

std::vector<FormulaRun> runs_of(const std::vector<Token>& tokens) {
  std::vector<FormulaRun> runs;
  RunReader reader(tokens);
  for (std::size_t at = 0; at < tokens.size();) {
    const std::size_t end = reader.end_of(at, false);
    if (end == at) {
      ++at;
      continue;
    }
    if (is_worth_it(tokens, at, end)) runs.push_back({at, end});
    at = end;
  }
  return runs;
}

}  // namespace shardlings::site
