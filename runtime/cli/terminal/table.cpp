#include "cli/terminal/table.h"

#include <algorithm>
#include <numeric>

#include "base/terminal_text.h"

namespace shardlings::cli::terminal {

namespace {

constexpr int kGap = 2;  // spaces between columns

using Row = std::vector<std::string>;

bool is_rule(const Row& row) {
  return !row.empty() && std::all_of(row.begin(), row.end(), [](const std::string& cell) {
    return !cell.empty() && cell.find_first_not_of("-: ") == std::string::npos;
  });
}

/// Columns of the longest word, which is never broken.
int longest_word(const std::string& cell) {
  int longest = 0;
  for (const std::string& word : fill_lines(cell, 1)) longest = std::max(longest, columns_of(word));
  return longest;
}

/// Widths of the columns: what the cells want; where that is too much, the one with most to spare is made narrower.
std::vector<int> column_widths(const std::vector<Row>& rows, int width) {
  std::size_t columns = 0;
  for (const Row& row : rows) columns = std::max(columns, row.size());
  std::vector<int> widths(columns, 0), least(columns, 0);
  for (const Row& row : rows) {
    if (is_rule(row)) continue;
    for (std::size_t c = 0; c < row.size(); ++c) {
      widths[c] = std::max(widths[c], columns_of(row[c]));
      least[c] = std::max(least[c], longest_word(row[c]));
    }
  }
  const int room = width - kGap * static_cast<int>(columns);
  while (!widths.empty() && std::accumulate(widths.begin(), widths.end(), 0) > room) {
    int widest = -1;
    for (std::size_t c = 0; c < columns; ++c) {
      const bool can_shrink = widths[c] > least[c];
      if (can_shrink && (widest < 0 || widths[c] > widths[static_cast<std::size_t>(widest)]))
        widest = static_cast<int>(c);
    }
    if (widest < 0) break;
    --widths[static_cast<std::size_t>(widest)];
  }
  return widths;
}

std::string render_row(const Row& row, const std::vector<int>& widths) {
  std::vector<std::vector<std::string>> cells(widths.size());
  std::size_t height = 1;
  for (std::size_t c = 0; c < row.size(); ++c) {
    cells[c] = fill_lines(row[c], widths[c]);
    height = std::max(height, cells[c].size());
  }
  std::string text;
  for (std::size_t line = 0; line < height; ++line) {
    std::string shown;
    for (std::size_t c = 0; c < widths.size(); ++c) {
      shown += padded(line < cells[c].size() ? cells[c][line] : "", widths[c] + kGap);
    }
    text += "  " + shown.substr(0, shown.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace

std::vector<std::string> table_cells(const std::string& line) {
  std::vector<std::string> cells;
  std::string cell;
  bool code = false;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '`') code = !code;
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cell += line[++i];
    } else if (line[i] == '|' && !code) {
      cells.push_back(cell);
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  if (cell.find_first_not_of(' ') != std::string::npos) cells.push_back(cell);
  for (std::string& text : cells) {
    const auto begin = std::min(text.find_first_not_of(' '), text.size());
    text = text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
  }
  return cells;
}

std::string render_table(const std::vector<Row>& rows, const Context& context, int width) {
  const std::vector<int> widths = column_widths(rows, width - 2);
  const int whole = std::accumulate(widths.begin(), widths.end(), 0) + kGap * static_cast<int>(widths.size()) - kGap;
  std::string text;
  for (const Row& row : rows) {
    text += is_rule(row)
                ? "  " +
                      context.paint(report::Role::dim, std::string(static_cast<std::size_t>(std::max(whole, 1)), '-')) +
                      "\n"
                : render_row(row, widths);
  }
  return text;
}

}  // namespace shardlings::cli::terminal
