// Links in Markdown.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "architecture/rules.h"
#include "site/anchor.h"

namespace shardlings::architecture {
namespace {

namespace fs = std::filesystem;

bool has_anchor(const std::string& text, const std::string& anchor) {
  for (const std::string& line : lines_of(text)) {
    const std::size_t begin = line.find_first_not_of('#');
    if (begin == 0 || begin == std::string::npos || line[begin] != ' ') continue;
    if (site::anchor_of(line.substr(begin + 1)) == anchor) return true;
  }
  return false;
}

/// What is wrong with a link; empty if nothing is.
std::string fault_of(const Source& source, const std::string& target) {
  if (std::regex_search(target, std::regex("^[a-z]+:"))) return "";
  const std::size_t hash = target.find('#');
  const std::string file = target.substr(0, hash);
  const std::string anchor = hash == std::string::npos ? "" : target.substr(hash + 1);
  const std::string no_heading = "there is no heading for the link to " + target;
  if (file.empty()) return has_anchor(source.text, anchor) ? "" : no_heading;
  const fs::path there = fs::path(project_folder()) / fs::path(source.path).parent_path() / file;
  if (!fs::exists(there)) return "the link leads to " + target + ", which does not exist";
  if (anchor.empty() || there.extension() != ".md") return "";
  return has_anchor(file_text(there), anchor) ? "" : no_heading;
}

std::string fault_of_path(const std::string& path) {
  return fs::exists(fs::path(project_folder()) / path) ? "" : "`" + path + "` does not exist";
}

}  // namespace

std::vector<Violation> check_links(const Source& source) {
  static const std::regex kLink(R"(\]\(([^)\s]+)\))");
  static const std::regex kPath(R"(`((?:runtime|tests|puzzles|solutions|docs)/[A-Za-z0-9_./-]*[A-Za-z0-9_])`)");
  static const std::regex kCode(R"(`[^`]*`)");
  std::vector<Violation> violations;
  const auto search = [&](const std::string& line, const std::regex& pattern, int number, auto fault) {
    for (std::sregex_iterator match(line.begin(), line.end(), pattern), end; match != end; ++match) {
      const std::string what = fault((*match)[1].str());
      if (!what.empty()) violations.push_back({source.path, number, what});
    }
  };
  bool fenced = false;
  int number = 0;
  for (const std::string& line : lines_of(source.text)) {
    ++number;
    if (starts_with(line, "```")) fenced = !fenced;
    if (fenced) continue;
    search(line, kPath, number, fault_of_path);
    search(std::regex_replace(line, kCode, "x"), kLink, number,
           [&](const auto& target) { return fault_of(source, target); });
  }
  return violations;
}

}  // namespace shardlings::architecture
