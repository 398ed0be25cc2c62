#include "site/formula.h"

#include <algorithm>

#include "base/text.h"
#include "report/harmless.h"
#include "site/formula_row.h"
#include "site/formula_runs.h"

namespace shardlings::site {

using report::markup;

namespace {

// A formula has no place where a line could break: one of more characters than this scrolls by itself on a phone.
constexpr std::size_t kShort = 24;

std::string element(std::string source, const std::string& content, bool block) {
  if (!block) std::replace(source.begin(), source.end(), '\n', ' ');
  return std::string("<math") + (block ? " displaystyle=\"true\"" : "") + " alttext=\"" + markup(source) + "\">" +
         content + "</math>";
}

/// What three spaces or more divide: the columns of a line. What an author has aligned before a sign is one of them.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t gap = std::min(line.find("   ", at), line.size());
    if (const std::string cell = trimmed(line.substr(at, gap - at)); !cell.empty()) cells.push_back(cell);
    at = std::min(line.find_first_not_of(' ', gap), line.size());
  }
  if (cells.size() > 1 && cells[0].find('=') == std::string::npos && is_relation(tokens_of(cells[1])[0])) {
    cells[0] += " " + cells[1];
    cells.erase(cells.begin() + 1);
  }
  return cells;
}

std::string row_of(const std::vector<Token>& tokens, std::size_t begin, std::size_t end) {
  return FormulaRow(tokens, begin, end, true).mathml();
}

/// The first sign that compares outside of brackets; the number of tokens if there is none.
std::size_t first_relation(const std::vector<Token>& tokens) {
  int depth = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == TokenKind::open) ++depth;
    if (tokens[i].kind == TokenKind::close) --depth;
    if (depth == 0 && is_relation(tokens[i])) return i;
  }
  return tokens.size();
}

std::string cell(const std::string& content, const char* side) {
  return std::string("<mtd style=\"text-align:") + side + "\">" + content + "</mtd>";
}

/// A line: what stands before the first relation, what begins with it, and remarks, in columns of their own or behind.
std::string line_of(const std::string& line, bool columns) {
  const std::vector<std::string> cells = cells_of(line);
  const std::vector<Token> tokens = tokens_of(cells[0]);
  const bool goes_on = line.starts_with(" ");
  std::size_t relation = first_relation(tokens);
  if (relation == tokens.size()) relation = goes_on ? 0 : tokens.size();
  std::string result = cell(row_of(tokens, 0, relation), "right");
  const bool summand = relation == 0 && !tokens.empty() && !is_relation(tokens[0]);
  std::string right = (summand ? "<mspace width=\"1.6em\"/>" : "") + row_of(tokens, relation, tokens.size());
  for (std::size_t i = 1; i < cells.size(); ++i) {
    const std::vector<Token> remark = tokens_of(cells[i]);
    if (columns) {
      result += cell(right, "left");
      right.clear();
    }
    right += "<mspace width=\"1.5em\"/>" + row_of(remark, 0, remark.size());
  }
  return "<mtr>" + result + cell(right, "left") + "</mtr>";
}

}  // namespace

std::string prose_with_formulas(std::string_view text) {
  const std::vector<Token> tokens = tokens_of(text);
  std::string result;
  std::size_t done = 0;
  for (const FormulaRun& run : runs_of(tokens)) {
    const std::size_t begin = tokens[run.begin].begin;
    const std::size_t end = tokens[run.end - 1].end;
    result += markup(text.substr(done, begin - done));
    const std::string math = element(std::string(text.substr(begin, end - begin)),
                                     FormulaRow(tokens, run.begin, run.end, false).mathml(), false);
    result += end - begin > kShort ? "<span class=\"long scroll\">" + math + "</span>" : math;
    done = end;
  }
  return result + markup(text.substr(done));
}

std::string formula_block(const std::string& text) {
  std::string rows;
  bool calculates = false;
  const std::vector<std::string> lines = lines_of(text);
  // Columns for the remarks of a few lines would stand far away from them.
  const auto remarks =
      std::count_if(lines.begin(), lines.end(), [](const auto& line) { return cells_of(line).size() > 1; });
  const bool columns = 2 * remarks > std::ssize(lines);
  for (const std::string& line : lines) {
    if (trimmed(line).empty()) continue;
    const std::vector<Token> tokens = tokens_of(line);
    calculates = calculates || std::any_of(tokens.begin(), tokens.end(), [](const Token& token) {
                   return token.kind == TokenKind::sign || token.kind == TokenKind::function;
                 });
    rows += line_of(line, columns);
  }
  if (!calculates) throw std::runtime_error("a block marked as formula has no sign in it; mark it as text");
  return element(trimmed(text), "<mtable displaystyle=\"true\">" + rows + "</mtable>", true);
}

bool looks_like_formula(const std::string& text) {
  for (const std::string& line : lines_of(text)) {
    const std::vector<Token> tokens = tokens_of(line);
    for (const FormulaRun& run : runs_of(tokens)) {
      int letters = 0, relations = 0;
      for (std::size_t i = run.begin; i < run.end; ++i) {
        letters += tokens[i].kind == TokenKind::variable ? 1 : 0;
        relations += is_relation(tokens[i]) ? 1 : 0;
      }
      if (letters >= 2 && relations >= 1) return true;
    }
  }
  return false;
}

}  // namespace shardlings::site
