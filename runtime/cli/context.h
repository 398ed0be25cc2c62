/// \file
/// What every command is given.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "cli/grammar/grammar.h"
#include "cli/system/project.h"
#include "report/style.h"

namespace shardlings::cli {

/// A user's wish for colours: `automatic` follows the terminal and the environment.
enum class ColourChoice { automatic, always, never };

struct Context {
  system::Project project;
  std::ostream& out;
  std::ostream& err;
  report::Colour colour = report::Colour::none;
  report::Charset charset = report::Charset::unicode;
  int width = 80;                               ///< columns of the output
  bool interactive = false;                     ///< the output is a terminal
  bool rewrites_errors = false;                 ///< the errors go to a terminal: lines there may be rewritten
  std::function<grammar::Grammar()> grammar{};  ///< what may be written on the command line

  /// `text` in the colours of its role.
  std::string paint(report::Role role, std::string_view text) const {
    return report::Style(colour, charset)(role, text);
  }
  /// "✓" or "+", in colour.
  std::string tick() const;
  /// "✗" or "x", in colour.
  std::string cross() const;
  /// A line cut to the width, where it is longer.
  std::string fitted(std::string_view line) const;
  /// Prose in lines of the width, and in ASCII where there is nothing else.
  std::string wrapped(std::string_view text) const;
};

/// Columns of the standard output: those of the terminal, or COLUMNS, or 80; never so few that nothing fits.
int output_width();

/// A context for a program that writes to the standard output: colours only in a terminal and without NO_COLOR
/// (CLICOLOR_FORCE asks for them anyway), the width of the terminal (or COLUMNS, or 80).
Context make_context(const system::Project& project, std::ostream& out, std::ostream& err, ColourChoice choice);

}  // namespace shardlings::cli
