#include "report/report_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/terminal_text.h"
#include "report/harmless.h"

namespace shardlings::report {
namespace {

constexpr int kFieldIndent = 4;
constexpr int kFieldName = 10;

}  // namespace

void ReportLines::blank() {
  if (!lines_.empty() && !lines_.back().empty()) lines_.emplace_back();
}

void ReportLines::text(std::string_view text, int indent, Role role, int most) {
  const auto wrapped = wrap(harmless(text, style_.charset()), width_ - indent);
  const std::size_t shown =
      most > 0 && wrapped.size() > static_cast<std::size_t>(most) ? static_cast<std::size_t>(most) : wrapped.size();
  for (std::size_t i = 0; i < shown; ++i) {
    line(wrapped[i].empty() ? std::string() : spaces(indent) + style_(role, wrapped[i]));
  }
  if (shown < wrapped.size()) {
    const std::size_t left = wrapped.size() - shown;
    const std::string more = fmt::format("{} {} more line{}", style_.pick("…", "..."), left, left == 1 ? "" : "s");
    line(spaces(indent) + style_(Role::dim, more));
  }
}

void ReportLines::labelled(const char* name, const std::vector<std::string>& lines, Role role) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string label = i == 0 ? style_(Role::dim, fmt::format("{:<{}}", name, kFieldName)) : spaces(kFieldName);
    line(spaces(kFieldIndent) + label + style_(role, lines[i]));
  }
}

void ReportLines::field(const char* name, std::string_view text, Role role) {
  if (text.empty()) return;
  labelled(name, wrap(harmless(text, style_.charset()), width_ - kFieldIndent - kFieldName), role);
}

void ReportLines::command_field(const char* name, std::string_view command) {
  if (command.empty()) return;
  labelled(name, wrap_command(harmless(command, style_.charset()), width_ - kFieldIndent - kFieldName), Role::strong);
}

void ReportLines::with_right(const std::string& mark, std::string_view text, std::string_view right, Role role,
                             int indent) {
  const int margin = indent + columns_of(mark) + 1;
  const int room = width_ - margin - columns_of(right) - 2;
  const auto lines = wrap(harmless(text, style_.charset()), std::max(room, 10));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string out = i == 0 ? spaces(indent) + style_(role, mark) + ' ' : spaces(margin);
    out += role == Role::dim ? style_(role, lines[i]) : lines[i];
    if (i + 1 == lines.size() && !right.empty()) {
      out += spaces(width_ - margin - columns_of(lines[i]) - columns_of(right)) + style_(Role::dim, right);
    }
    line(std::move(out));
  }
}

}  // namespace shardlings::report
