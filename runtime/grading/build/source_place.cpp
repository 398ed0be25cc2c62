#include "grading/build/source_place.h"

#include <fmt/format.h>

#include <vector>

#include "grading/build/source_tokens.h"

namespace shardlings::grading::build {
namespace {

using std::string_view;

/// Reads tokens in their order and knows which braces and statement each one stands in.
class Declarations {
 public:
  explicit Declarations(const std::vector<SourceToken>& tokens, string_view name) {
    for (const SourceToken& token : tokens) {
      if (token.in_directive || token.kind == SourceToken::Kind::header) continue;
      if (token.kind == SourceToken::Kind::sign) {
        sign(token.text);
      } else {
        word(token, name);
      }
    }
  }

  /// Lines that declare it after `static` or `thread_local`, and those in no function, class or parentheses.
  std::vector<int> kept, outside;

 private:
  void sign(const std::string& text) {
    if (text == "{") inside_.push_back(opens_namespace_);
    if (text == "}" && !inside_.empty()) inside_.pop_back();
    if (text == "(") ++parentheses_;
    if (text == ")" && parentheses_ > 0) --parentheses_;
    if (text == ";" || text == "{" || text == "}") keeps_ = opens_namespace_ = has_value_ = false;
    if (text == "=") has_value_ = true;
    if (text == "," && parentheses_ == 0) has_value_ = false;
  }

  void word(const SourceToken& token, string_view name) {
    keeps_ = keeps_ || token.text == "static" || token.text == "thread_local";
    opens_namespace_ = opens_namespace_ || token.text == "namespace";
    if (token.text != name || has_value_ || parentheses_ > 0) return;
    bool is_outside = true;
    for (const bool opened_by_namespace : inside_) is_outside = is_outside && opened_by_namespace;
    if (is_outside) outside.push_back(token.line);
    if (keeps_) kept.push_back(token.line);
  }

  std::vector<bool> inside_;  ///< of each open brace whether it is a namespace's
  int parentheses_ = 0;
  bool keeps_ = false;  ///< the statement has `static` or `thread_local`
  bool opens_namespace_ = false;
  bool has_value_ = false;  ///< an '=' has come: what follows is used, not declared
};

std::string place(const SourceCopy& source, int line) {
  return line > 0 ? fmt::format("{}:{}", source.name, line) : source.name;
}

}  // namespace

std::string last_part(string_view demangled) {
  // Parameters at the end belong to a function; those in the middle to the function that a variable stands in.
  if (demangled.ends_with(')')) demangled = demangled.substr(0, demangled.find('('));
  const std::size_t colons = demangled.rfind("::");
  if (colons != string_view::npos) demangled.remove_prefix(colons + 2);
  return std::string(demangled.substr(0, demangled.find_first_of("[<(")));
}

std::string place_of_variable(const SourceCopy& source, string_view demangled) {
  const Declarations found(read_tokens(source.text).tokens, last_part(demangled));
  const bool is_local = demangled.find('(') != string_view::npos && demangled.find("::") != string_view::npos &&
                        !demangled.starts_with("(anonymous namespace)");
  if (is_local) return place(source, found.kept.size() == 1 ? found.kept.front() : 0);
  if (!found.outside.empty()) return place(source, found.outside.front());
  return place(source, found.kept.size() == 1 ? found.kept.front() : 0);
}

std::string place_of_use(const SourceCopy& source, string_view demangled) {
  std::string name = last_part(demangled);
  for (const string_view renamed : {"__isoc99_", "__isoc23_"}) {  // by <cstdio>: scanf
    if (name.starts_with(renamed)) name.erase(0, renamed.size());
  }
  const std::vector<SourceToken> tokens = read_tokens(source.text).tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != SourceToken::Kind::name || tokens[i].text != name) continue;
    const string_view before = i > 0 ? string_view(tokens[i - 1].text) : string_view();
    const bool of_object = before == "." || (before == ">" && i > 1 && tokens[i - 2].text == "-");
    if (!of_object) return place(source, tokens[i].line);
  }
  return source.name;
}

std::string place_of_instantiation(const SourceCopy& source) {
  std::vector<SourceToken> tokens = read_tokens(source.text).tokens;
  std::erase_if(tokens, [](const SourceToken& t) { return t.in_directive || t.kind == SourceToken::Kind::header; });
  const auto text = [&](std::size_t i) { return i < tokens.size() ? string_view(tokens[i].text) : string_view(); };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool begins = i == 0 || text(i - 1) == ";" || text(i - 1) == "}" || text(i - 1) == "{";
    if (text(i) != "template" || text(i + 1) == "<" || !begins) continue;
    for (std::size_t k = i; k < tokens.size() && text(k) != ";"; ++k) {
      if (text(k) == "std") return place(source, tokens[i].line);
    }
  }
  return "";
}

}  // namespace shardlings::grading::build
