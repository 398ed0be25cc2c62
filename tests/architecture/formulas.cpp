// The page of formulas for graders names every header of its folder, with functions that are there, and none that can
// judge among those that compute. The other way round nothing is checked: what only names a mistake, and is given no
// check that it could fail, may stand among those that judge.
#include <algorithm>
#include <map>
#include <regex>

#include "architecture/rules.h"

namespace shardlings::architecture {
namespace {

constexpr const char* kJudging = "## Files that judge";
constexpr const char* kTable = "shared_diagnosis";  // of which diagnoses there are: it computes and judges nothing

/// "| number | `function`, `function` | `header` |".
struct FormulaRow {
  int line = 0;
  bool judges = false;
  std::vector<std::string> functions;
  std::string header;
};

std::vector<std::string> names_in_code(const std::string& text) {
  static const std::regex kCode("`([A-Za-z0-9_]+)`");
  std::vector<std::string> names;
  for (std::sregex_iterator it(text.begin(), text.end(), kCode), end; it != end; ++it) names.push_back((*it)[1].str());
  return names;
}

std::vector<FormulaRow> formula_rows(const std::string& page) {
  static const std::regex kFormulaRow(R"(^\|[^|]*\|([^|]*`[^|]*)\| `([a-z0-9_]+)` \|$)");
  std::vector<FormulaRow> rows;
  bool judges = false;
  int number = 0;
  for (const std::string& line : lines_of(page)) {
    ++number;
    if (starts_with(line, "## ")) judges = starts_with(line, kJudging);
    std::smatch row;
    if (std::regex_match(line, row, kFormulaRow))
      rows.push_back({number, judges, names_in_code(row[1].str()), row[2].str()});
  }
  return rows;
}

/// Whether its functions can fail a check, or name a mistake of the table of shared diagnoses.
bool can_judge(const Source& header) {
  static const std::regex kChecks(R"((^|[^t] |\()judge::CheckContext&)");
  return std::regex_search(code_of(header.text), kChecks) || header.text.find("SharedId ") != std::string::npos;
}

bool declares(const Source& header, const std::string& name) {
  return std::regex_search(code_of(header.text), std::regex("\\b(" + name + "\\(|(class|struct) " + name + "\\b)"));
}

std::string stem_of(const std::string& path) {
  const std::size_t begin = path.rfind('/') + 1;
  return path.substr(begin, path.rfind('.') - begin);
}

}  // namespace

std::vector<Violation> check_formulas(const Source& page, const std::vector<Source>& headers) {
  std::vector<Violation> violations;
  std::map<std::string, FormulaRow> rows;
  for (const FormulaRow& row : formula_rows(page.text)) {
    if (!rows.emplace(row.header, row).second) {
      violations.push_back({page.path, row.line, row.header + ".h has another row"});
    }
  }
  for (const Source& header : headers) {
    const std::string name = stem_of(header.path);
    if (name == kTable) continue;
    const auto found = rows.find(name);
    if (found == rows.end()) {
      violations.push_back({page.path, 1, "has no row for " + name + ".h"});
      continue;
    }
    const FormulaRow& row = found->second;
    for (const std::string& function : row.functions) {
      if (!declares(header, function)) {
        violations.push_back({page.path, row.line, name + ".h does not declare " + function});
      }
    }
    if (can_judge(header) && !row.judges) violations.push_back({page.path, row.line, name + ".h judges"});
    rows.erase(found);
  }
  for (const auto& [name, row] : rows) violations.push_back({page.path, row.line, "there is no " + name + ".h"});
  return violations;
}

}  // namespace shardlings::architecture
