#include "grading/build/source_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace shardlings::grading::build {
namespace {

using Kind = SourceToken::Kind;
using std::string_view;

constexpr const char* kOneMeaning = "Write it so that a line means what it looks like.";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
/// Letters of other alphabets count: they are bytes above 127 in UTF-8.
bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 128;
}
bool continues_name(char c) {
  return begins_name(c) || is_digit(c);
}

/// The source after the preprocessor's first steps: lines that end in a backslash are joined.
struct Joined {
  std::string text;
  std::vector<int> lines;  ///< of each character
};

Joined join_lines(string_view source) {
  Joined joined;
  joined.text.reserve(source.size());
  joined.lines.reserve(source.size());
  int line = 1;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\\') {
      // g++ joins lines with white space behind the backslash, too.
      std::size_t end = source.find_first_not_of(" \t\r", i + 1);
      if (end != string_view::npos && source[end] == '\n') {
        ++line;
        i = end;
        continue;
      }
    }
    joined.text += source[i];
    joined.lines.push_back(line);
    if (source[i] == '\n') ++line;
  }
  joined.text += '\n';
  joined.lines.push_back(line);
  return joined;
}

class SourceReader {
 public:
  explicit SourceReader(string_view source) : joined_(join_lines(source)), text_(joined_.text) {}

  SourceTokens read() {
    refuse_invisible();
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    while (!found_.problem && at_ < text_.size()) read_one();
    return std::move(found_);
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool looks_at(string_view word) const { return text_.substr(at_).starts_with(word); }
  int line() const { return joined_.lines[std::min(at_, text_.size() - 1)]; }

  void refuse(std::string text) {
    if (!found_.problem) found_.problem = {line(), std::move(text)};
  }
  void add(Kind kind, string_view text, int at_line) {
    found_.tokens.push_back({kind, std::string(text), at_line, in_directive_});
    line_is_empty_ = false;
  }

  void read_one();
  void read_line_end();
  bool skip_blank();
  void skip_comment();
  void read_name();
  void read_number();
  void read_quoted(char quote);
  void read_directive();
  void read_header();
  void refuse_invisible();
  bool refuse_odd_sign();
  void read_sign();

  const Joined joined_;
  const string_view text_;
  std::size_t at_ = 0;
  bool line_is_empty_ = true;  ///< but for white space and comments
  bool in_directive_ = false;
  SourceTokens found_;
};

void SourceReader::read_line_end() {
  ++at_;
  line_is_empty_ = true;
  in_directive_ = false;
}

/// One stretch of white space or a comment inside a line.
bool SourceReader::skip_blank() {
  const char c = peek();
  if (c == ' ' || c == '\t' || (c == '\r' && peek(1) == '\n')) {
    ++at_;
    return true;
  }
  if (!looks_at("//") && !looks_at("/*")) return false;
  skip_comment();
  return true;
}

void SourceReader::skip_comment() {
  if (peek(1) == '/') {
    at_ = std::min(text_.find('\n', at_), text_.size());
    return;
  }
  const std::size_t end = text_.find("*/", at_ + 2);
  if (end == string_view::npos) refuse("a comment begins here with /* and does not end.");
  at_ = end == string_view::npos ? text_.size() : end + 2;
}

void SourceReader::read_one() {
  const char c = peek();
  if (c == '\n') return read_line_end();
  if (skip_blank()) return;
  if (begins_name(c)) return read_name();
  if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return read_number();
  if (c == '"' || c == '\'') return read_quoted(c);
  if (refuse_odd_sign()) return;
  if (c == '#' && line_is_empty_) return read_directive();
  read_sign();
}

void SourceReader::read_name() {
  const std::size_t begin = at_;
  const int at_line = line();
  while (continues_name(peek())) ++at_;
  const string_view name = text_.substr(begin, at_ - begin);
  constexpr std::array<string_view, 5> kRaw = {"R", "LR", "uR", "UR", "u8R"};
  if (peek() == '"' && std::find(kRaw.begin(), kRaw.end(), name) != kRaw.end()) {
    return refuse(fmt::format("raw strings ({}\"(…)\") are not for puzzles. Write \"…\" with \\n and \\\".", name));
  }
  add(Kind::name, name, at_line);
}

/// As the preprocessor has it: 1'000, 0x1p-3 and 1.5e+3F are one token each.
void SourceReader::read_number() {
  const int begin = line();
  while (true) {
    const char c = peek(), next = peek(1);
    if (c == '$') {
      refuse_odd_sign();
      return;
    }
    if ((c == 'e' || c == 'E' || c == 'p' || c == 'P') && (next == '+' || next == '-')) {
      at_ += 2;
    } else if (continues_name(c) || c == '.' || (c == '\'' && continues_name(next))) {
      ++at_;
    } else {
      return add(Kind::literal, "", begin);
    }
  }
}

void SourceReader::read_quoted(char quote) {
  const int begin = line();
  for (std::size_t i = at_ + 1; i < text_.size() && text_[i] != '\n'; ++i) {
    if (text_[i] == '\\') {
      ++i;
      if (text_[i] == '\n') break;
    } else if (text_[i] == quote) {
      at_ = i + 1;
      return add(Kind::literal, "", begin);
    }
  }
  refuse(fmt::format("the quote {} is not closed on its line.", quote));
}

/// Also in comments: compilers do not agree on what ends a line.
void SourceReader::refuse_invisible() {
  for (std::size_t i = 0; i < text_.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text_[i]);
    if (c == '\t' || c == '\n' || (c >= 32 && c != 127) || (c == '\r' && text_[i + 1] == '\n')) continue;
    at_ = i;
    return refuse(
        fmt::format("there is an invisible character (number {}). Delete it: white space is spaces, tabs and "
                    "ends of lines.",
                    c));
  }
}

/// Other spellings of signs.
bool SourceReader::refuse_odd_sign() {
  for (const string_view odd : {"%:", "<%", "%>", ":>"}) {
    if (!looks_at(odd)) continue;
    refuse(fmt::format("{} is another spelling of a sign. {}", odd, kOneMeaning));
    return true;
  }
  if (peek() == '?' && peek(1) == '?' && string_view("=/'()!<>-").find(peek(2)) != string_view::npos) {
    refuse(fmt::format("??{} is a trigraph, another spelling of a sign. {}", peek(2), kOneMeaning));
    return true;
  }
  // "<::x" is '<' and "::x", as in std::vector<::View>.
  if (looks_at("<:") && (peek(2) != ':' || peek(3) == ':' || peek(3) == '>')) {
    refuse(fmt::format("<: is another spelling of [. {}", kOneMeaning));
    return true;
  }
  // To g++ it is a letter, and may even stand in a number: 1$'b is one of its tokens.
  if (peek() == '$') {
    refuse("a $ is not for names here. Choose letters, digits and _.");
    return true;
  }
  if (peek() == '\\') {
    refuse(fmt::format("there is a backslash outside of a string. {}", kOneMeaning));
    return true;
  }
  return false;
}

void SourceReader::read_sign() {
  const std::size_t size = looks_at("::") || looks_at("##") ? 2 : 1;
  add(Kind::sign, text_.substr(at_, size), line());
  at_ += size;
}

void SourceReader::read_directive() {
  const int begin = line();
  in_directive_ = true;
  ++at_;
  while (!found_.problem && skip_blank()) continue;
  const std::size_t name = at_;
  while (continues_name(peek())) ++at_;
  const string_view word = text_.substr(name, at_ - name);
  add(Kind::directive, word, begin);
  if (word.starts_with("include") || word == "import" || word == "embed") read_header();
}

void SourceReader::read_header() {
  while (!found_.problem && skip_blank()) continue;
  const char close = peek() == '<' ? '>' : '"';
  const std::size_t line_end = std::min(text_.find('\n', at_), text_.size());
  const std::size_t found = peek() == '<' || peek() == '"' ? text_.find(close, at_ + 1) : string_view::npos;
  const std::size_t end = found < line_end ? found + 1 : line_end;
  add(Kind::header, text_.substr(at_, end - at_), line());
  at_ = end;
}

}  // namespace

SourceTokens read_tokens(const std::string& source) {
  return SourceReader(source).read();
}

}  // namespace shardlings::grading::build
