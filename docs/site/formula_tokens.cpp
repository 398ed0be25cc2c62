#include "site/formula_tokens.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/utf8.h"

namespace shardlings::site {

namespace {

using Names = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view text, Names names) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

const Names kFunctions = {"sqrt", "max", "min", "ceil", "floor", "log", "log2", "exp", "sum", "round"};
const Names kUnits = {"ms",  "us",  "µs",    "ns",   "s",    "min",  "B",    "kB",      "MB",  "GB",  "TB", "KiB",
                      "MiB", "GiB", "bytes", "byte", "GB/s", "MB/s", "TB/s", "TFLOP/s", "kHz", "MHz", "GHz"};
// Letters that a number may stand before without a space: "2L", "4nh". Others make words of it: "3D", "405B", "2nd".
constexpr std::string_view kFactors = "nhsbfkmLXΨNpFT";
/// Names of more than one letter, of docs/glossary.md.
const Names kNames = {"BW", "lr"};
const Names kSigns = {"<=", ">=", "->", "!=", "...", "…", "=", "<", ">", "≤", "≥",
                      "≈",  "≠",  "→",  "+",  "-",   "−", "·", "×", "/", "^", "±"};
const Names kPowers = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹", "⁺", "⁻", "ᵀ"};

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

/// Latin or Greek.
bool is_letter(char32_t code) {
  return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z') || code == 0xB5 ||
         (code >= 0x391 && code <= 0x3C9);
}

class TokenReader {
 public:
  explicit TokenReader(std::string_view text) : text_(text) {}

  std::vector<Token> read() {
    while (at_ < text_.size()) {
      const std::size_t before = at_;
      while (at_ < text_.size() && is_space(text_[at_])) ++at_;
      if (at_ == text_.size()) break;
      const std::size_t first = tokens_.size();
      const std::size_t begin = at_;
      read_one();
      tokens_[first].spaced = begin > before || begin == 0;
      tokens_[first].begin = begin;
      tokens_.back().end = at_;
    }
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return text_.substr(at_); }

  std::optional<std::string_view> prefix(Names names) const {
    for (const std::string_view name : names) {
      if (rest().starts_with(name)) return name;
    }
    return std::nullopt;
  }

  std::size_t letters_at(std::size_t at) const {
    std::size_t end = at;
    while (end < text_.size()) {
      const Character next = first_character(text_.substr(end));
      if (!is_letter(next.code)) break;
      end += next.size;
    }
    return end - at;
  }

  std::size_t characters_in(std::string_view text) const {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
  }

  void add(TokenKind kind, std::size_t size) {
    tokens_.push_back({kind, std::string(text_.substr(at_, size)), "", false, at_, at_ + size});
    at_ += size;
  }

  void read_one() {
    if (is_digit(rest()[0])) return read_number();
    if (letters_at(at_) > 0) return read_name();
    if (const auto power = prefix(kPowers)) return add(TokenKind::power, power->size());
    if (const auto sign = prefix(kSigns)) return add(TokenKind::sign, sign->size());
    if (const auto open = prefix({"(", "⌈"})) return add(TokenKind::open, open->size());
    if (const auto close = prefix({")", "⌉"})) return add(TokenKind::close, close->size());
    if (rest()[0] == '|') return add(TokenKind::bar, 1);
    if (rest()[0] == ',') return add(TokenKind::comma, 1);
    add(TokenKind::word, first_character(rest()).size);
  }

  /// Digits, thousands in threes, a fraction, and a power of ten: "19,800", "3.4", "989e12".
  std::size_t length_of_number() const {
    std::size_t end = at_;
    const auto digits_at = [&](std::size_t at) {
      std::size_t count = 0;
      while (at + count < text_.size() && is_digit(text_[at + count])) ++count;
      return count;
    };
    end += digits_at(end);
    while (end < text_.size() && text_[end] == ',' && digits_at(end + 1) == 3) end += 4;
    if (end < text_.size() && text_[end] == '.' && digits_at(end + 1) > 0) end += 1 + digits_at(end + 1);
    if (end < text_.size() && text_[end] == 'e' && digits_at(end + 1) > 0) end += 1 + digits_at(end + 1);
    return end - at_;
  }

  /// "2L" is a product; "1F1B", "405B" and "10ns" are words.
  void read_number() {
    const std::size_t size = length_of_number();
    const std::size_t letters = letters_at(at_ + size);
    if (letters == 0) return add(TokenKind::number, size);
    const std::string_view behind = text_.substr(at_ + size, letters);
    const std::size_t after = at_ + size + letters;
    const bool goes_on = after < text_.size() && (is_digit(text_[after]) || text_[after] == '-');
    const bool thousands = behind == "k" && text_.substr(at_, size).find('.') != std::string_view::npos;
    bool product = !goes_on && !thousands && !is_one_of(behind, kUnits) && characters_in(behind) <= 3;
    for (std::size_t i = 0; i < behind.size();) {
      const Character letter = first_character(behind.substr(i));
      product = product && kFactors.find(behind.substr(i, letter.size)) != std::string_view::npos;
      i += letter.size;
    }
    if (!product) return read_word();
    add(TokenKind::number, size);
    const std::size_t end = at_ + letters;
    while (at_ < end) read_variable(first_character(rest()).size);
  }

  void read_name() {
    const std::size_t size = letters_at(at_);
    const std::string_view name = text_.substr(at_, size);
    if (const auto unit = prefix(kUnits); unit && tokens_behind_number()) {
      std::string_view longest = *unit;
      for (const std::string_view each : kUnits) {
        if (each.size() > longest.size() && rest().starts_with(each)) longest = each;
      }
      if (ends_word(at_ + longest.size()) && !begins_product(longest)) return add(TokenKind::unit, longest.size());
    }
    if (rest().starts_with("log2") && ends_word(at_ + 4)) return add(TokenKind::function, 4);
    if (size_of_word() > size) return read_word();
    if (is_one_of(name, kFunctions)) return add(TokenKind::function, size);
    if (characters_in(name) == 1 || is_one_of(name, kNames)) return read_variable(size);
    add(TokenKind::word, size);
  }

  bool tokens_behind_number() const {
    return !tokens_.empty() && (tokens_.back().kind == TokenKind::number || tokens_.back().kind == TokenKind::power);
  }

  bool ends_word(std::size_t at) const { return at == text_.size() || letters_at(at) == 0; }

  /// "2 s b h": here s is a letter of a product and no second.
  bool begins_product(std::string_view unit) const {
    if (unit != "s") return false;
    const std::size_t next = at_ + 1;
    if (next + 1 >= text_.size() || text_[next] != ' ') return next < text_.size() && text_[next] == '/';
    const std::size_t size = letters_at(next + 1);
    return characters_in(text_.substr(next + 1, size)) == 1 && text_[next + 1] != 'a' && text_[next + 1] != 'I';
  }

  /// With everything that makes one word of it: "all-reduce", "puzzle.cpp", "x[l]", "all_reduce", "X0", "N's", "C++".
  std::size_t size_of_word() const {
    std::size_t end = at_ + letters_at(at_);
    const bool single = characters_in(text_.substr(at_, end - at_)) == 1;
    const bool named = is_one_of(text_.substr(at_, end - at_), kNames);
    if (single && rest().starts_with("C++")) return 3;
    for (;;) {
      const std::string_view left = text_.substr(end);
      if (left.empty()) break;
      const std::size_t more = letters_at(end + 1);
      const bool joins = left[0] == '.' || left[0] == '\'' || left[0] == ':';
      if (is_digit(left[0])) {
        end += 1;
      } else if (letters_at(end) > 0) {
        end += letters_at(end);
      } else if (joins && more > 0) {
        end += 1 + more;
      } else if ((left[0] == '-' || left[0] == '.') && !single && left.size() > 1 && is_digit(left[1])) {
        end += 2;  // "GPT-3", "megatron-18.4b"
      } else if (left.starts_with("::") && letters_at(end + 2) > 0) {
        end += 2 + letters_at(end + 2);
      } else if (left[0] == '-' && characters_in(text_.substr(end + 1, more)) > (single ? 1 : 0)) {
        end += 1 + more;
      } else if (left[0] == '_' && !single && !named && (more > 0 || (left.size() > 1 && is_digit(left[1])))) {
        end += 2;
      } else if (left[0] == '[' && left.find(']') != std::string_view::npos) {
        end += left.find(']') + 1;
      } else {
        break;
      }
    }
    return end - at_;
  }

  void read_word() {
    std::size_t size = std::max<std::size_t>(size_of_word(), 1);
    if (is_digit(rest()[0])) {
      size = length_of_number();
      while (at_ + size < text_.size() && (is_digit(text_[at_ + size]) || letters_at(at_ + size) > 0 ||
                                           (text_[at_ + size] == '-' && letters_at(at_ + size + 1) > 1))) {
        ++size;
      }
    }
    add(TokenKind::word, size);
  }

  /// A letter or name, and its index: "_F", "_AR,l", "_L-1", "_{l+1}".
  void read_variable(std::size_t size) {
    add(TokenKind::variable, size);
    if (rest().starts_with("'") && letters_at(at_ + 1) == 0) {
      tokens_.back().text += "′";
      tokens_.back().end = ++at_;
    }
    if (!rest().starts_with("_")) return;
    const std::size_t end = rest().starts_with("_{") ? text_.find('}', at_) : end_of_index();
    if (end == std::string_view::npos || end == at_ + 1) return;
    const bool braced = text_[at_ + 1] == '{';
    const std::size_t begin = at_ + (braced ? 2 : 1);
    tokens_.back().index = text_.substr(begin, end - begin);
    at_ = end + (braced ? 1 : 0);
    tokens_.back().end = at_;
  }

  /// Of an index without braces: letters and digits, and behind a comma more of them with a number added.
  std::size_t end_of_index() const {
    std::size_t end = at_ + 1;
    const auto alphanumeric = [&](std::size_t at) {
      return at < text_.size() && (is_digit(text_[at]) || letters_at(at) > 0);
    };
    while (alphanumeric(end)) end += first_character(text_.substr(end)).size;
    const bool longer = end < text_.size() && text_[end] == ',' && alphanumeric(end + 1);
    if (!longer) return end;
    end += 2;
    for (const std::string_view sign : {"+", "-", "−"}) {
      if (text_.substr(end).starts_with(sign) && end + sign.size() < text_.size() && is_digit(text_[end + sign.size()]))
        return end + sign.size() + 1;
    }
    return end;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) {
  return TokenReader(text).read();
}

bool is_relation(const Token& token) {
  return token.kind == TokenKind::sign &&
         is_one_of(token.text, {"=", "<", ">", "<=", ">=", "≤", "≥", "≈", "≠", "!=", "->", "→"});
}

}  // namespace shardlings::site
