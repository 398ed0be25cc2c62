// What a folder's README says of what it may use is what the rule of layers.cpp says.
#include <algorithm>
#include <regex>

#include "architecture/rules.h"

namespace shardlings::architecture {
namespace {

constexpr const char* kBegin = "It may use";

/// A sentence of the text, from `begin` to the full stop that is not inside of `code`.
std::string sentence_from(const std::string& text, std::size_t begin) {
  bool in_code = false;
  std::size_t end = begin;
  for (; end < text.size() && (in_code || text[end] != '.'); ++end) {
    if (text[end] == '`') in_code = !in_code;
  }
  return text.substr(begin, end - begin);
}

/// "a/{b,c}.h" -> "a/b.h", "a/c.h".
std::vector<std::string> spread(const std::string& name) {
  const std::size_t open = name.find('{'), close = name.find('}');
  if (open == std::string::npos || close == std::string::npos) return {name};
  std::vector<std::string> names;
  static const std::regex kPart("[^,]+");
  const std::string parts = name.substr(open + 1, close - open - 1);
  for (std::sregex_iterator it(parts.begin(), parts.end(), kPart), end; it != end; ++it) {
    names.push_back(name.substr(0, open) + it->str() + name.substr(close + 1));
  }
  return names;
}

/// The names in `code` of a sentence; folders with a slash at their end, as rules have them.
std::vector<std::string> names_in(const std::string& sentence) {
  static const std::regex kCode("`([^`]+)`");
  std::vector<std::string> names;
  for (std::sregex_iterator it(sentence.begin(), sentence.end(), kCode), end; it != end; ++it) {
    for (std::string& name : spread((*it)[1].str())) {
      names.push_back(ends_with(name, ".h") ? std::move(name) : name + "/");
    }
  }
  return names;
}

std::string as_written(const std::string& name) {
  return ends_with(name, "/") ? name.substr(0, name.size() - 1) : name;
}

}  // namespace

std::vector<Violation> check_may_use(const Source& readme) {
  const std::size_t begin = readme.text.find(kBegin);
  if (begin == std::string::npos) return {{readme.path, 1, "has no sentence \"It may use …\""}};
  const auto at = static_cast<std::ptrdiff_t>(begin);
  const int line = 1 + static_cast<int>(std::count(readme.text.begin(), readme.text.begin() + at, '\n'));
  const std::vector<std::string> said = names_in(sentence_from(readme.text, begin));
  const std::vector<std::string> allowed = allowed_below(readme.path.substr(0, readme.path.rfind('/') + 1));
  std::vector<Violation> violations;
  for (const std::string& name : said) {
    if (std::find(allowed.begin(), allowed.end(), name) != allowed.end()) continue;
    violations.push_back({readme.path, line, "names " + as_written(name) + ", which layers.cpp does not allow"});
  }
  // What one of the folder's own folders may use beside lies in what all of it may: "front/trace/" in "front/".
  for (const std::string& name : allowed) {
    const auto covers = [&](const std::string& part) { return starts_with(name, part); };
    if (std::any_of(said.begin(), said.end(), covers)) continue;
    violations.push_back({readme.path, line, "does not name " + as_written(name) + ", which layers.cpp allows"});
  }
  return violations;
}

}  // namespace shardlings::architecture
