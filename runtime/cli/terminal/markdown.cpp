#include "cli/terminal/markdown.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "base/terminal_text.h"
#include "base/text.h"
#include "cli/ascii.h"
#include "cli/terminal/table.h"

namespace shardlings::cli::terminal {

using report::Role;

namespace {

constexpr int kWidest = 100;

std::size_t indent_of(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

/// Length of "- ", "* " or "12. " at the beginning of `text`; 0 if it is no item of a list.
std::size_t bullet_length(const std::string& text) {
  if (text.starts_with("- ") || text.starts_with("* ")) return 2;
  std::size_t digits = 0;
  while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits]))) ++digits;
  return digits > 0 && digits < 4 && text.compare(digits, 2, ". ") == 0 ? digits + 2 : 0;
}

bool is_fence(const std::string& text) {
  return text.starts_with("```") || text.starts_with("~~~");
}

bool is_numbered(const std::string& text) {
  return bullet_length(text) > 0 && std::isdigit(static_cast<unsigned char>(text[0]));
}

/// Whether the line ends the block that began with the line `first`. Of numbers 1 alone begins a list below a
/// paragraph, as in CommonMark: any other one is the number that a sentence happened to be broken before.
bool begins_block(const std::string& text, const std::string& first) {
  if (is_numbered(text) && !is_numbered(first) && !text.starts_with("1. ")) return false;
  return text.empty() || text[0] == '#' || text[0] == '|' || text[0] == '>' || is_fence(text) ||
         bullet_length(text) > 0;
}

/// Every word in the colour of its role, so that wrapping never breaks a colour in two.
std::string paint_words(const Context& context, Role role, const std::string& text) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto space = std::min(text.find(' ', at), text.size());
    if (space > at) result += context.paint(role, text.substr(at, space - at));
    if (space < text.size()) result += ' ';
    at = space + 1;
  }
  return result;
}

/// The text between the mark at `at` and its closing mark; `at` moves behind it. Empty if it is not closed.
std::string enclosed(const std::string& text, std::size_t& at, const std::string& mark) {
  const auto begin = at + mark.size();
  const auto end = text.find(mark, begin);
  if (end == std::string::npos || end == begin) return {};
  at = end + mark.size();
  return text.substr(begin, end - begin);
}

/// What a terminal can say of an address: one of the web as it is, and of a lesson's link to a document of the project,
/// "../../docs/map.md#chapters", the document's path. Else nothing.
std::string said_of(const std::string& address) {
  constexpr std::string_view kToRoot = "../../";
  if (address.starts_with("http")) return address;
  return address.starts_with(kToRoot) ? address.substr(kToRoot.size(), address.find('#') - kToRoot.size()) : "";
}

/// "[words](address)" as "words" or, where the address tells a reader something, as "words (address)".
std::string link(const std::string& text, std::size_t& at) {
  const auto middle = text.find("](", at);
  const auto end = middle == std::string::npos ? middle : text.find(')', middle);
  if (end == std::string::npos) return {};
  const std::string words = text.substr(at + 1, middle - at - 1);
  const std::string address = text.substr(middle + 2, end - middle - 2);
  at = end + 1;
  const std::string said = said_of(address);
  return said.empty() || said == words ? words : words + " (" + said + ")";
}

/// "![words](address)" as "words".
std::string image(const std::string& text, std::size_t& at) {
  std::size_t after = at + 1;
  std::string words = link(text, after);
  if (!words.empty()) at = after;
  return words;
}

/// Code, emphasis and links inside a line.
std::string inline_marks(const Context& context, const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::string part;
    if (text[at] == '`' && !(part = enclosed(text, at, "`")).empty()) {
      result += paint_words(context, Role::place, part);
    } else if (text.compare(at, 2, "**") == 0 && !(part = enclosed(text, at, "**")).empty()) {
      result += paint_words(context, Role::strong, inline_marks(context, part));
    } else if (text[at] == '*' && at + 1 < text.size() && text[at + 1] != ' ' &&
               !(part = enclosed(text, at, "*")).empty()) {
      result += paint_words(context, Role::strong, part);
    } else if (text.compare(at, 2, "![") == 0 && !(part = image(text, at)).empty()) {
      result += "(Picture: " + part + ")";
    } else if (text[at] == '[' && !(part = link(text, at)).empty()) {
      result += part;
    } else {
      result += text[at++];
    }
  }
  return result;
}

/// Goes through the lines, block by block.
class Renderer {
 public:
  Renderer(const std::string& text, const Context& context)
      : lines_(lines_of(text)), context_(context), width_(std::min(context.width, kWidest)) {}

  std::string render() {
    while (at_ < lines_.size()) block();
    while (result_.ends_with("\n\n")) result_.pop_back();
    return result_;
  }

 private:
  void block() {
    const std::string text = trimmed(lines_[at_]);
    if (text.empty()) {
      ++at_;
      blank();
    } else if (is_fence(text)) {
      code();
    } else if (text[0] == '#') {
      heading(text);
    } else if (text[0] == '|') {
      table();
    } else {
      paragraph(text);
    }
  }

  void blank() {
    if (!result_.empty() && !result_.ends_with("\n\n")) result_ += '\n';
  }

  void heading(const std::string& text) {
    const auto level = std::min(text.find_first_not_of('#'), text.size());
    blank();
    const std::string words = trimmed(text.substr(level));
    result_ += context_.paint(Role::strong, words) + "\n";
    if (level == 1)
      result_ += context_.paint(Role::dim, std::string(static_cast<std::size_t>(columns_of(words)), '=')) + "\n";
    ++at_;
  }

  void code() {
    const std::string fence = trimmed(lines_[at_]).substr(0, 3);
    for (++at_; at_ < lines_.size() && !trimmed(lines_[at_]).starts_with(fence); ++at_) {
      result_ += lines_[at_].empty() ? "\n" : "    " + context_.paint(Role::place, lines_[at_]) + "\n";
    }
    ++at_;
  }

  void table() {
    std::vector<std::vector<std::string>> rows;
    for (; at_ < lines_.size() && trimmed(lines_[at_]).starts_with("|"); ++at_) {
      rows.push_back(table_cells(trimmed(lines_[at_])));
      for (std::string& cell : rows.back()) cell = inline_marks(context_, cell);
    }
    result_ += render_table(rows, context_, width_);
  }

  /// A paragraph, an item of a list or a quote, with the lines that continue it.
  void paragraph(const std::string& first) {
    const std::size_t mark = first.starts_with("> ") ? 2 : bullet_length(first);
    const std::size_t indent = indent_of(lines_[at_]);
    std::string words = first.substr(mark);
    for (++at_; at_ < lines_.size() && !begins_block(trimmed(lines_[at_]), first); ++at_)
      words += " " + trimmed(lines_[at_]);
    const std::string margin(indent + mark, ' ');
    std::string lead = std::string(indent, ' ') + first.substr(0, mark);
    for (const std::string& line :
         fill_lines(inline_marks(context_, words), width_ - static_cast<int>(margin.size()))) {
      result_ += lead + line + "\n";
      lead = margin;
    }
  }

  std::vector<std::string> lines_;
  const Context& context_;
  int width_;
  std::size_t at_ = 0;
  std::string result_;
};

}  // namespace

std::string render_markdown(const std::string& text, const Context& context) {
  const bool is_ascii = context.charset == report::Charset::ascii;
  return Renderer(is_ascii ? in_ascii(text) : text, context).render();
}

}  // namespace shardlings::cli::terminal
