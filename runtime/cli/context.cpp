#include "cli/context.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "base/terminal_text.h"
#include "cli/ascii.h"

namespace shardlings::cli {

using report::Role;

namespace {

/// A variable of the environment; empty if it is not set.
std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool wants_colour(ColourChoice choice, bool terminal) {
  if (choice != ColourChoice::automatic) return choice == ColourChoice::always;
  if (!variable("NO_COLOR").empty()) return false;
  const std::string_view force = variable("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  return terminal && variable("TERM") != "dumb";
}

/// Whether the locale's characters are UTF-8. Without any locale they are taken to be: containers often have none.
bool has_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value(variable(name));
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::tolower(c); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return true;
}

int columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const std::string_view text = variable("COLUMNS");
  int value = 80;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value > 0 ? value : 80;
}

}  // namespace

std::string Context::tick() const {
  return paint(Role::good, charset == report::Charset::unicode ? "✓" : "+");
}

std::string Context::cross() const {
  return paint(Role::bad, charset == report::Charset::unicode ? "✗" : "x");
}

std::string Context::fitted(std::string_view line) const {
  return cut(line, width, charset == report::Charset::unicode ? "…" : "...");
}

std::string Context::wrapped(std::string_view text) const {
  std::string result;
  for (const std::string& line : wrap(charset == report::Charset::ascii ? in_ascii(text) : text, width)) {
    result += line + "\n";
  }
  return result;
}

int output_width() {
  return std::clamp(columns(), 40, 200);
}

Context make_context(const system::Project& project, std::ostream& out, std::ostream& err, ColourChoice choice) {
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  return Context{.project = project,
                 .out = out,
                 .err = err,
                 .colour = wants_colour(choice, terminal) ? report::Colour::sixteen : report::Colour::none,
                 .charset = has_unicode() ? report::Charset::unicode : report::Charset::ascii,
                 .width = output_width(),
                 .interactive = terminal && variable("TERM") != "dumb",
                 .rewrites_errors = isatty(STDERR_FILENO) == 1 && variable("TERM") != "dumb"};
}

}  // namespace shardlings::cli
