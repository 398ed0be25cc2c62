#include "grading/build/call_lines.h"

#include <string_view>
#include <utility>
#include <vector>

#include "grading/build/source_tokens.h"

namespace shardlings::grading::build {
namespace {

using Tokens = std::vector<SourceToken>;

/// What #define gives a meaning to: it may be a call without parentheses.
std::set<std::string> macros_in(const Tokens& tokens) {
  std::set<std::string> names;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    if (tokens[i - 1].kind == SourceToken::Kind::directive && tokens[i - 1].text == "define")
      names.insert(tokens[i].text);
  }
  return names;
}

/// Statements, one after another, as far as they can be told apart: a for has several, and so has an initialiser in
/// braces, each of which can hold a call.
class Statements {
 public:
  explicit Statements(std::set<std::string> macros) : macros_(std::move(macros)) {}

  void take(const SourceToken& token) {
    const std::string_view sign = token.kind == SourceToken::Kind::sign ? std::string_view(token.text) : "";
    const bool ends_block = sign == "}" && (before_ == ";" || before_ == "{" || before_ == "}");
    const bool is_brace = sign == "{" || (sign == "}" && !ends_block);
    lines_.insert(token.line);
    can_call_ = can_call_ || sign == "(" || sign == ")" || is_brace || macros_.contains(token.text);
    if (sign == "(") ++parentheses_;
    if (sign == ")" && parentheses_ > 0) --parentheses_;
    // What stands between parentheses belongs to one statement with what stands around them: a lambda, for example.
    if (sign == "{" || sign == "}" || (sign == ";" && parentheses_ == 0)) end();
    before_ = sign;
  }
  std::set<int> found;

 private:
  void end() {
    // Behind a brace inside of parentheses the call that they belong to goes on.
    if (can_call_ || parentheses_ > 0) found.merge(lines_);
    lines_.clear();
    can_call_ = false;
  }

  std::set<std::string> macros_;
  std::set<int> lines_;            ///< of the statement so far
  std::string_view before_ = ";";  ///< the sign; of other tokens nothing
  int parentheses_ = 0;
  bool can_call_ = false;
};

}  // namespace

std::set<int> call_lines(const std::string& source) {
  const Tokens tokens = read_tokens(source).tokens;
  Statements statements(macros_in(tokens));
  for (const SourceToken& token : tokens) {
    if (!token.in_directive && token.kind != SourceToken::Kind::header) statements.take(token);
  }
  return statements.found;
}

}  // namespace shardlings::grading::build
