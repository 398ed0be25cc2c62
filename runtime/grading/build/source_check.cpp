#include "grading/build/source_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>

#include "grading/build/allowed_symbols.h"
#include "grading/build/refused_headers.h"
#include "grading/build/source_tokens.h"

namespace shardlings::grading::build {
namespace {

using Kind = SourceToken::Kind;
using Problem = std::optional<SourceProblem>;
using std::string_view;

constexpr string_view kHeaders[] = {
#define STANDARD_HEADER(name) #name,
#include "grading/build/standard_headers.def"
#undef STANDARD_HEADER
};

/// Behind '#'.
constexpr string_view kDirectives[] = {"",     "include",  "define", "undef",   "if",     "ifdef", "else",
                                       "elif", "elifndef", "endif",  "elifdef", "ifndef", "error", "warning"};

/// Of the names that belong to the compiler, those that a puzzle can have use for.
constexpr string_view kCompilerNames[] = {"_Exit",
                                          "__func__",
                                          "__FUNCTION__",
                                          "__PRETTY_FUNCTION__",
                                          "__FILE__",
                                          "__LINE__",
                                          "__cplusplus",
                                          "__VA_ARGS__",
                                          "__VA_OPT__",
                                          "__restrict",
                                          "__restrict__",
                                          "__int128",
                                          "__builtin_expect",
                                          "__builtin_trap",
                                          "__builtin_prefetch",
                                          "__builtin_unreachable",
                                          "__builtin_popcount",
                                          "__builtin_popcountl",
                                          "__builtin_popcountll",
                                          "__builtin_clz",
                                          "__builtin_clzl",
                                          "__builtin_clzll",
                                          "__builtin_ctz",
                                          "__builtin_ctzl",
                                          "__builtin_ctzll",
                                          "__builtin_assume_aligned",
                                          "__GNUC__",
                                          "__clang__",
                                          "__cpp_concepts",
                                          "__cpp_lib_ranges"};

/// Private parts of the public classes.
constexpr string_view kPrivateNames[] = {
    "view_", "id_",   "rank_",  "size_",   "world_", "micros_", "model_",  "saved_", "grads_",         "message_",
    "all_",  "axes_", "input_", "output_", "dims_",  "misuse_", "layers_", "at_",    "tokens_of_step_"};

constexpr string_view kKeywords[] = {
    "alignas",   "alignof", "auto",      "bool",      "break",     "case",     "catch",         "char",      "class",
    "concept",   "const",   "consteval", "constexpr", "constinit", "continue", "decltype",      "default",   "delete",
    "do",        "double",  "else",      "enum",      "explicit",  "export",   "extern",        "false",     "final",
    "float",     "for",     "friend",    "goto",      "if",        "inline",   "int",           "long",      "mutable",
    "namespace", "new",     "noexcept",  "nullptr",   "operator",  "override", "private",       "protected", "public",
    "requires",  "return",  "short",     "signed",    "sizeof",    "static",   "static_assert", "struct",    "switch",
    "template",  "this",    "throw",     "true",      "try",       "typedef",  "typename",      "union",     "unsigned",
    "using",     "virtual", "void",      "volatile",  "while"};

template <std::size_t N>
bool is_among(const string_view (&all)[N], string_view name) {
  return std::find(std::begin(all), std::end(all), name) != std::end(all);
}

/// Looks at one token and those around it.
class Inspector {
 public:
  explicit Inspector(const std::vector<SourceToken>& tokens) : tokens_(tokens) {}

  Problem inspect() {
    for (at_ = 0; at_ < tokens_.size(); ++at_) {
      if (Problem problem = inspect_one()) return problem;
    }
    return std::nullopt;
  }

 private:
  /// The token that stands so many behind this one; an empty sign where there is none.
  const SourceToken& token(std::ptrdiff_t ahead) const {
    static const SourceToken kNone{Kind::sign, "", 0, false};
    const std::ptrdiff_t index = static_cast<std::ptrdiff_t>(at_) + ahead;
    return index < 0 || index >= std::ssize(tokens_) ? kNone : tokens_[static_cast<std::size_t>(index)];
  }
  Problem refused(std::string text) const { return SourceProblem{tokens_[at_].line, std::move(text)}; }

  Problem inspect_one() {
    switch (tokens_[at_].kind) {
      case Kind::directive: return inspect_directive();
      case Kind::header: return inspect_header();
      case Kind::name: return inspect_name();
      case Kind::sign:
        if (token(0).text == "##") return refused("## makes names that nobody can read here. Write the name.");
        return std::nullopt;
      case Kind::literal: return std::nullopt;
    }
    return std::nullopt;
  }

  Problem inspect_directive();
  Problem inspect_header();
  Problem inspect_name();
  Problem inspect_runtime_name() const;
  Problem inspect_macro();

  const std::vector<SourceToken>& tokens_;
  std::size_t at_ = 0;
  bool has_macros_ = false;  ///< so far
};

Problem Inspector::inspect_directive() {
  const std::string& word = token(0).text;
  if (word == "pragma" && token(1).text == "once") return std::nullopt;
  if (word == "define" || word == "undef") return inspect_macro();
  if (is_among(kDirectives, word)) return std::nullopt;
  if (word.starts_with("include") || word == "import" || word == "embed") {
    return refused(fmt::format("#{} is not for puzzles. Write #include <…> with a header of the list.", word));
  }
  return refused(
      fmt::format("#{} is not for puzzles. Leave the line out: messages name the lines as they stand in the file.",
                  word.empty() ? "" : word));
}

Problem Inspector::inspect_macro() {
  const std::string& name = token(1).text;
  has_macros_ = true;
  if (is_among(kKeywords, name)) {
    return refused(
        fmt::format("{} is a word of the language, and no macro takes its place. Choose another name.", name));
  }
  if (name == "shardlings" || name == "std") {
    return refused(fmt::format("{} is a namespace, and no macro takes its place. Choose another name.", name));
  }
  return std::nullopt;
}

Problem Inspector::inspect_header() {
  const std::string& header = token(0).text;
  const bool closed =
      header.size() > 2 && ((header[0] == '<' && header.back() == '>') || (header[0] == '"' && header.back() == '"'));
  const string_view name = closed ? string_view(header).substr(1, header.size() - 2) : string_view();
  constexpr string_view kOurs = "shardlings/";
  const bool ours = name.starts_with(kOurs) && name.find('/', kOurs.size()) == string_view::npos &&
                    name.ends_with(".h") && name.find("..") == string_view::npos;
  if (!ours && !is_among(kHeaders, name)) {
    return refused(
        fmt::format("#include {}: a puzzle includes <shardlings/puzzle.h> and light headers of the standard library "
                    "(<vector>, <algorithm>, <cmath>, <iostream>, …) only. {}",
                    header, instead_of_header(name, closed && header[0] == '"')));
  }
  if (ours && has_macros_) return refused(fmt::format("#include {} stands below a #define. Put it above.", header));
  if (token(1).in_directive && token(1).kind != Kind::directive) {
    return refused(fmt::format("something stands behind #include {} on its line. Delete it.", header));
  }
  return std::nullopt;
}

Problem Inspector::inspect_name() {
  const std::string& name = token(0).text;
  const bool compilers =
      name.find("__") != std::string::npos || (name.size() > 1 && name[0] == '_' && name[1] >= 'A' && name[1] <= 'Z');
  if (name == "asm") return refused("assembly is not for puzzles: what it does is not counted. Write C++.");
  if (name == "__attribute__" || name == "__attribute" || name == "__declspec") {
    return refused(fmt::format(
        "{} is not for puzzles. Leave it out, or write a standard attribute, [[maybe_unused]] for example.", name));
  }
  constexpr string_view kBuiltIn = "__builtin_";
  const string_view function = name.starts_with(kBuiltIn) ? string_view(name).substr(kBuiltIn.size()) : "";
  if (is_math(function)) return std::nullopt;  // __builtin_sqrtf is sqrtf
  if (!function.empty() && !is_among(kCompilerNames, name)) {
    return refused(
        fmt::format("{} is a function of the compiler's that is not for puzzles. Of those, arithmetic is "
                    "(__builtin_sqrtf, __builtin_popcount). Write C++.",
                    name));
  }
  if (compilers && !is_among(kCompilerNames, name)) {
    return refused(
        fmt::format("{} belongs to the compiler: names with two underscores, or with one and a capital, are "
                    "not for puzzles. Choose another name.",
                    name));
  }
  if (name == "namespace" && token(0).in_directive) {
    return refused("a macro opens no namespace: what is put where would be nobody's to see. Write it out.");
  }
  const bool of_object = token(-1).text == "." || (token(-1).text == ">" && token(-2).text == "-");
  if (name == "rdbuf" || name == "pubsetbuf" || name == "pword" || name == "iword" || name == "xalloc" ||
      name == "copyfmt" || (name == "tie" && of_object)) {
    return refused(
        fmt::format("{}: what a stream remembers is shared by all ranks. Print, and leave it as it is.", name));
  }
  if (name == "gnu" || name == "clang") {
    return refused(fmt::format("attributes of the compiler's ([[{}::…]]) are not for puzzles. Leave it out.", name));
  }
  return inspect_runtime_name();
}

Problem Inspector::inspect_runtime_name() const {
  const std::string& name = token(0).text;
  const bool in_directive = token(0).in_directive;
  const bool inside = name == "port_" || name == "ref_" ||
                      (name == "detail" && (token(-1).text == "::" || token(1).text == "::" || in_directive)) ||
                      (is_among(kPrivateNames, name) && (token(-1).text == "::" || in_directive));
  if (inside) {
    return refused(fmt::format("{} belongs to the runtime's inside. Use what the headers in shardlings/ show.", name));
  }
  if (name != "shardlings") return std::nullopt;
  const bool opened = token(-1).text == "namespace" && token(-2).text != "using";
  if (opened || in_directive) {
    return refused(
        "nothing is added to namespace shardlings. Put what you write outside of it: `using namespace "
        "shardlings;` is enough.");
  }
  return std::nullopt;
}

/// Far beyond what anybody writes, and far below what a compiler's stack holds: on one that overflows the compiler
/// breaks, and nobody could tell whose fault that is.
Problem too_deep(const std::vector<SourceToken>& tokens) {
  constexpr int kMostNested = 256;
  int open = 0;
  for (const SourceToken& token : tokens) {
    if (token.kind != Kind::sign) continue;
    if (token.text == "(" || token.text == "[" || token.text == "{") ++open;
    if (token.text == ")" || token.text == "]" || token.text == "}") --open;
    if (open > kMostNested) {
      return SourceProblem{
          token.line,
          fmt::format("more than {} brackets are open here. Close some, or write it in parts.", kMostNested)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::string check_source(const std::string& source, const std::string& file) {
  const SourceTokens read = read_tokens(source);
  Problem problem = Inspector(read.tokens).inspect();
  if (!problem) problem = too_deep(read.tokens);
  // The one that stands first.
  if (!problem) problem = read.problem;
  return problem ? fmt::format("{}:{}: {}", file, problem->line, problem->text) : "";
}

}  // namespace shardlings::grading::build
