#include "cli/grammar/man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/terminal_text.h"
#include "cli/ascii.h"

namespace shardlings::cli::grammar {
namespace {

/// When the form of the page changed last: the macros want a date.
constexpr const char* kDate = "2026-11-23";

/// Text that means itself: no escape, nothing beyond ASCII, real minus signs.
std::string plain(std::string_view text) {
  std::string result;
  for (const char c : in_ascii(text)) {
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result;
}

/// Prose in short lines, none of which begins like a request.
std::string prose(const std::string& text) {
  constexpr int kColumns = 60;  // escapes make them longer
  std::string result;
  for (const std::string& line : fill_lines(text, kColumns)) {
    const bool is_like_a_request = line.starts_with(".") || line.starts_with("'");
    result += (is_like_a_request ? "\\&" : "") + plain(line) + "\n";
  }
  return result;
}

std::string bold(const std::string& text) {
  return "\\fB" + plain(text) + "\\fR";
}

std::string italic(const std::string& text) {
  return text.empty() ? "" : " \\fI" + plain(text) + "\\fR";
}

std::string entry(const std::string& head, const std::string& meaning) {
  return fmt::format(".TP\n{}\n{}", head, prose(meaning));
}

std::string entries(const std::vector<Option>& options) {
  std::string text;
  for (const Option& option : options) {
    std::vector<std::string> names;
    for (const std::string& name : option.names) names.push_back(bold(name));
    text += entry(fmt::format("{}{}", fmt::join(names, ", "), italic(option.form)), option.meaning);
  }
  return text;
}

/// "run [PUZZLE] [options]".
std::string heading(const Verb& verb) {
  std::string text = verb.name;
  for (const Option& argument : verb.arguments) {
    text += argument.required ? " " + argument.names.front() : " [" + argument.names.front() + "]";
  }
  return text + (verb.options.empty() ? "" : " [options]");
}

}  // namespace

std::string man_page(const Grammar& grammar, const std::string& version) {
  std::string text = fmt::format(".TH SHARDLINGS 1 {} \"shardlings {}\"\n", kDate, plain(version));
  text += ".SH NAME\nshardlings \\- " + plain(grammar.meaning) + "\n";
  text += ".SH SYNOPSIS\n.B ./shardlings\n[\\fIcommand\\fR] [\\fIoptions\\fR]\n";
  text += ".SH DESCRIPTION\nWithout a command it says where you are and what comes next.\n";
  text += ".SH OPTIONS\n" + entries(grammar.options);
  text += ".SH COMMANDS\n";
  for (const Verb& verb : grammar.verbs) {
    text += fmt::format(".SS {}\n{}", plain(heading(verb)), prose(verb.meaning));
    std::vector<Option> arguments = verb.arguments;
    for (Option& argument : arguments) argument.form.clear();
    text += entries(arguments) + entries(verb.options);
  }
  return text + ".SH NOTES\n" + prose(grammar.footer);
}

}  // namespace shardlings::cli::grammar
