#include "grading/build/symbol_check.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "grading/build/allowed_symbols.h"
#include "grading/build/mangled_name.h"
#include "grading/build/refused_names.h"
#include "grading/build/source_place.h"

namespace shardlings::grading::build {
namespace {

using std::string_view;

/// What a compiler writes: everything else comes from a name that was made to be more than a name.
bool is_plain(string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '$' || static_cast<unsigned char>(c) >= 128;
  });
}

std::string odd_kind_text(const ObjectSymbol& symbol, const SourceCopy& source) {
  if (symbol.type == STT_TLS) {
    return fmt::format("{}: '{}' is thread_local: ranks are not threads everywhere. Keep it inside the function.",
                       place_of_variable(source, demangled(symbol.name)), last_part(demangled(symbol.name)));
  }
  if (symbol.type == STT_GNU_IFUNC || symbol.type > STT_TLS || !is_plain(symbol.name)) {
    return fmt::format("{}: the symbol {} is of a kind that is not for puzzles. Write plain functions.", source.name,
                       demangled(symbol.name));
  }
  return "";
}

/// Bytes that could be called: code that no compiler has written.
bool is_data_among_code(const ObjectFile& object, const ObjectSymbol& symbol) {
  const auto section = static_cast<std::size_t>(std::max(symbol.section, 0));
  return symbol.type == STT_OBJECT && section < object.sections.size() && object.sections[section].executable;
}

/// The owner of a namespace that nobody else defines anything in; nullptr for everybody's.
const char* owner_of(const MangledName& name, const ObjectSymbol& symbol) {
  const string_view outermost = name.parts.empty() ? string_view() : string_view(name.parts.front());
  if (outermost == "std" || outermost == "__gnu_cxx") return symbol.weak ? nullptr : "the library";
  if (outermost == "__cxxabiv1" || outermost == "fmt" || outermost == "nlohmann") return "the library";
  const bool allocates = outermost == "nw" || outermost == "na" || outermost == "dl" || outermost == "da";
  if (allocates) return "the library";
  if (outermost != "shardlings") return outermost.starts_with("shardlings") ? "the runtime" : nullptr;
  const bool from_header = symbol.weak && name.parts.size() >= 2 &&
                           (is_public_name(name.parts[1]) ||
                            (name.parts[1] == "detail" && name.parts.size() >= 3 && name.parts[2] == "Ref"));
  return from_header ? nullptr : "the runtime";
}

/// A name without namespace and parameters that the library has, or that says what is refused.
bool is_library_name(const ObjectSymbol& symbol, const MangledName& name) {
  return may_use(symbol.name, name) || subject_of(symbol.name) != nullptr || symbol.name.starts_with('_');
}

/// Such a name could take the place of somebody else's in the program.
std::string plain_name_text(const ObjectSymbol& symbol, const SourceCopy& source) {
  if (symbol.type == STT_OBJECT) {
    return fmt::format(
        "{}: '{}' is a variable that the whole program could see. Write it as `constexpr`, without `extern` and "
        "`inline`, or keep it inside the function.",
        place_of_variable(source, symbol.name), symbol.name);
  }
  return fmt::format(
      "{}: '{}' is defined with extern \"C\": a name without namespace and parameters, as the library's functions "
      "have. "
      "Write the function without extern \"C\".",
      place_of_use(source, symbol.name), symbol.name);
}

std::string definition_text(const ObjectSymbol& symbol, const SourceCopy& source) {
  const string_view name = symbol.name;
  if (name == "main")
    return fmt::format("{}: it must not define main(): the harness calls your function.",
                       place_of_use(source, "main()"));
  // Addresses for unwinding exceptions, and what clang ends a program with.
  if (symbol.weak && (name.starts_with("DW.ref._") || name == "__clang_call_terminate")) return "";
  const MangledName parts = read_mangled(name);
  if (!parts.is_cpp && !is_library_name(symbol, parts)) return plain_name_text(symbol, source);
  const char* owner = parts.is_cpp ? owner_of(parts, symbol) : "the library";
  // Without a section it is an address that somebody made up, or memory that all objects share.
  if (owner == nullptr && symbol.section < 0) owner = "the linker";
  if (owner == nullptr) return "";
  return fmt::format("{}: it must not define {}: that belongs to {}. Choose another name{}.",
                     place_of_use(source, demangled(symbol.name)), demangled(symbol.name), owner,
                     parts.is_cpp ? "" : ", without extern \"C\"");
}

}  // namespace

std::set<std::string> offered_functions(const ObjectFile& harness) {
  std::set<std::string> offered;
  for (const ObjectSymbol& symbol : harness.symbols) {
    if (symbol.section <= 0 || !symbol.global || symbol.weak || symbol.type != STT_FUNC) continue;
    const MangledName name = read_mangled(symbol.name);
    if (name.parts.size() == 1 && !name.parts.front().starts_with("shardlings")) offered.insert(symbol.name);
  }
  return offered;
}

std::string check_used_symbols(const ObjectFile& object, const std::set<std::string>& offered,
                               const SourceCopy& source) {
  for (const ObjectSymbol& symbol : object.symbols) {
    if (symbol.section != 0 || symbol.name.empty() || offered.contains(symbol.name)) continue;
    if (std::string text = odd_kind_text(symbol, source); !text.empty()) return text;
    if (may_use(symbol.name, read_mangled(symbol.name))) continue;
    const std::string name = demangled(symbol.name);
    const std::string place = place_of_use(source, name);
    if (const std::string whole = place == source.name ? place_of_instantiation(source) : ""; !whole.empty()) {
      return fmt::format(
          "{}: `template …;` makes all of a template of the library there, also {}, which is not for puzzles. Leave "
          "that "
          "line out: what is used of a template is made where it is used.",
          whole, name);
    }
    if (const RefusedSubject* subject = subject_of(symbol.name)) {
      return fmt::format("{}: it uses {}, but {} not for puzzles: {}.", place, name, subject->what, subject->why);
    }
    return fmt::format(
        "{}: it uses {}, which it does not define and which is not for puzzles. Use what <shardlings/puzzle.h> "
        "declares, "
        "and the library's containers, algorithms, strings and mathematics.",
        place, name);
  }
  return "";
}

std::string check_defined_symbols(const ObjectFile& object, const SourceCopy& source) {
  for (const ObjectSymbol& symbol : object.symbols) {
    if (symbol.section == 0 || symbol.name.empty()) continue;
    if (symbol.type == STT_FILE || symbol.is_section) continue;
    if (std::string text = odd_kind_text(symbol, source); !text.empty()) return text;
    if (is_data_among_code(object, symbol)) {
      return fmt::format("{}: '{}' is data that stands among the code. Leave attributes out that name a section.",
                         place_of_variable(source, demangled(symbol.name)), last_part(demangled(symbol.name)));
    }
    if (!symbol.global) continue;
    if (std::string text = definition_text(symbol, source); !text.empty()) return text;
  }
  return "";
}

}  // namespace shardlings::grading::build
