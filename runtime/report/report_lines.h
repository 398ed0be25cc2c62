/// \file
/// Lines of a report under construction: indented, wrapped, coloured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/style.h"

namespace shardlings::report {

class ReportLines {
 public:
  ReportLines(const Style& style, int width) : style_(style), width_(width) {}

  /// A finished line, as it is.
  void line(std::string text) { lines_.push_back(std::move(text)); }
  void blank();
  /// Text of any origin, made harmless, wrapped and indented; at most `most` lines (0: all), then how many follow.
  void text(std::string_view text, int indent, Role role = Role::plain, int most = 0);
  /// "  expected  text …", continued under the text.
  void field(const char* name, std::string_view text, Role role = Role::plain);
  /// The same for a command, which stays one for a shell.
  void command_field(const char* name, std::string_view command);
  /// Text at the left and, on its last line, a short one at the right edge.
  void with_right(const std::string& mark, std::string_view text, std::string_view right, Role role, int indent);

  const Style& style() const { return style_; }
  int width() const { return width_; }
  std::vector<std::string> take() { return std::move(lines_); }

 private:
  void labelled(const char* name, const std::vector<std::string>& lines, Role role);

  const Style& style_;
  int width_;
  std::vector<std::string> lines_;
};

}  // namespace shardlings::report
