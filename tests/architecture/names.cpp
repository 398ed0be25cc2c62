// What a file has named once by a using-declaration it calls by that name; and mutexes have one name.
#include <cctype>
#include <regex>

#include "architecture/rules.h"

namespace shardlings::architecture {
namespace {

struct Using {
  std::string full;  ///< "cases::Manifest"
  std::string name;  ///< "Manifest"
  int line = 0;
};

std::vector<Using> usings_of(const std::vector<std::string>& lines) {
  static const std::regex kUsing(R"(^using ((?:\w+::)+(\w+));)");
  std::vector<Using> found;
  std::smatch match;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (std::regex_search(lines[i], match, kUsing)) found.push_back({match[1], match[2], static_cast<int>(i) + 1});
  }
  return found;
}

/// Whether `text` stands somewhere in the line as whole words that nothing else qualifies.
bool has_words(const std::string& line, const std::string& text) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':'; };
  for (auto at = line.find(text); at != std::string::npos; at = line.find(text, at + 1)) {
    const auto end = at + text.size();
    const bool begins = at == 0 || !is_part(line[at - 1]);
    if (begins && (end == line.size() || !is_part(line[end]) || line.compare(end, 2, "::") == 0)) return true;
  }
  return false;
}

}  // namespace

std::vector<Violation> check_usings(const Source& source) {
  std::vector<Violation> violations;
  const std::vector<std::string> lines = lines_of(code_of(source.text));
  for (const Using& each : usings_of(lines)) {
    bool used = false;
    for (auto i = static_cast<std::size_t>(each.line); i < lines.size(); ++i) {
      const bool in_full = has_words(lines[i], each.full);
      used = used || has_words(lines[i], each.name);
      if (!in_full || lines[i].starts_with("using ")) continue;
      violations.push_back({source.path, static_cast<int>(i) + 1, each.full + " is " + each.name + " in this file"});
    }
    if (!used) violations.push_back({source.path, each.line, each.full + " is named and not used"});
  }
  return violations;
}

std::vector<Violation> check_mutexes(const Source& source) {
  static const std::regex kUnproved(
      R"(\bstd::(recursive_|shared_|timed_)*(mutex|lock_guard|unique_lock|scoped_lock|shared_lock)\b)");
  std::vector<Violation> violations;
  if (source.path == "runtime/base/mutex.h") return violations;
  const std::vector<std::string> lines = lines_of(code_of(source.text));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!std::regex_search(lines[i], kUnproved)) continue;
    violations.push_back(
        {source.path, static_cast<int>(i) + 1, "a mutex is a Mutex of base/mutex.h, and held by a MutexLock"});
  }
  return violations;
}

}  // namespace shardlings::architecture
