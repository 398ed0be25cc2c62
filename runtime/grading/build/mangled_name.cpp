#include "grading/build/mangled_name.h"

#include <array>

namespace shardlings::grading::build {
namespace {

using std::string_view;

bool is_size_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Reads names off the front of what is left.
class NameReader {
 public:
  explicit NameReader(string_view rest) : rest_(rest) {}

  bool skip(string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  /// "4name"; false for anything else.
  bool source_name(std::string& name) {
    std::size_t digits = 0, size = 0;
    while (digits < rest_.size() && is_size_digit(rest_[digits]) && size < rest_.size()) {
      size = size * 10 + static_cast<std::size_t>(rest_[digits++] - '0');
    }
    if (digits == 0 || size == 0 || size > rest_.size() - digits) return false;
    name = rest_.substr(digits, size);
    rest_.remove_prefix(digits + size);
    return true;
  }

  /// Offsets of thunks: "n16_", "_", "16_n32_".
  void skip_offsets(int how_many) {
    for (int i = 0; i < how_many; ++i) {
      const auto end = rest_.find('_');
      if (end == string_view::npos) return;
      rest_.remove_prefix(end + 1);
    }
  }

  /// The library's, which have short names.
  bool standard(std::vector<std::string>& parts) {
    struct Short {
      string_view code;
      std::array<const char*, 2> name;
    };
    constexpr std::array<Short, 7> kShort = {{{"St", {"std", nullptr}},
                                              {"Sa", {"std", "allocator"}},
                                              {"Sb", {"std", "basic_string"}},
                                              {"Ss", {"std", "basic_string"}},
                                              {"Si", {"std", "basic_istream"}},
                                              {"So", {"std", "basic_ostream"}},
                                              {"Sd", {"std", "basic_iostream"}}}};
    for (const Short& one : kShort) {
      if (!skip(one.code)) continue;
      for (const char* part : one.name) {
        if (part != nullptr) parts.emplace_back(part);
      }
      return true;
    }
    return false;
  }

  void qualifiers() {
    while (skip("r") || skip("V") || skip("K")) continue;
    if (!rest_.empty() && (rest_[0] == 'R' || rest_[0] == 'O')) rest_.remove_prefix(1);
  }

  /// An unqualified operator: two small letters, or a conversion.
  void operator_name(std::vector<std::string>& parts) {
    const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
    const auto is_any_letter = [&](char c) { return is_letter(c) || (c >= 'A' && c <= 'Z'); };
    if (rest_.size() >= 2 && is_letter(rest_[0]) && is_any_letter(rest_[1])) parts.emplace_back(rest_.substr(0, 2));
  }

  /// Of what is not nested there is one; what follows are parameters.
  /// "I…E" behind the name of a template. False for what is not understood.
  bool skip_arguments() {
    std::size_t open = 0;
    std::string ignored;
    do {
      if (rest_.empty()) return false;
      const char c = rest_[0];
      if (is_size_digit(c)) {
        if (!source_name(ignored)) return false;
      } else if (c == 'S') {  // one of the library's, or what stood before: St, S_, S3_
        const std::size_t end = rest_.size() > 1 && (rest_[1] == '_' || rest_[1] >= 'a') ? 1 : rest_.find('_');
        if (end >= rest_.size()) return false;
        rest_.remove_prefix(end + 1);
      } else if (c == 'T') {  // a parameter of a template: T_, T0_
        if (rest_.find('_') == string_view::npos) return false;
        rest_.remove_prefix(rest_.find('_') + 1);
      } else if (c == 'L' && rest_.size() > 1 && rest_[1] >= 'a' && rest_[1] <= 'z') {  // a number: Lb0E
        const std::size_t end = rest_.find('E');
        if (end == string_view::npos) return false;
        rest_.remove_prefix(end + 1);
      } else {
        if (c == 'I' || c == 'N' || c == 'L' || c == 'X' || c == 'J' || c == 'F') ++open;
        if (c == 'E') --open;
        rest_.remove_prefix(1);
      }
    } while (open > 0);
    return true;
  }

  void names(std::vector<std::string>& parts, bool nested) {
    std::string name;
    const std::size_t most = nested ? parts.max_size() : parts.size() + 1;
    while (parts.size() < most) {
      while (skip("L")) continue;  // of internal linkage
      if (nested && !parts.empty() && rest_.starts_with("I")) {
        if (skip_arguments()) continue;
        parts.emplace_back("?");
        return;
      }
      if (!source_name(name)) return operator_name(parts);
      parts.push_back(name);
      while (skip("B")) {  // tags of the ABI
        if (!source_name(name)) return;
      }
    }
  }

 private:
  string_view rest_;
};

}  // namespace

MangledName read_mangled(string_view text) {
  MangledName name;
  NameReader reader(text);
  name.is_cpp = reader.skip("_Z");
  if (!name.is_cpp) return name;
  for (const char* table : {"TV", "TI", "TS", "TT", "GV", "GR"}) {
    if (!reader.skip(table)) continue;
    name.table = table;
    break;
  }
  if (reader.skip("Th")) reader.skip_offsets(1);
  if (reader.skip("Tv")) reader.skip_offsets(2);
  while (reader.skip("P") || reader.skip("K") || reader.skip("F")) continue;  // types of pointers
  while (reader.skip("Z")) continue;
  const bool nested = reader.skip("N");
  if (nested) reader.qualifiers();
  reader.standard(name.parts);
  reader.names(name.parts, nested);
  return name;
}

}  // namespace shardlings::grading::build
