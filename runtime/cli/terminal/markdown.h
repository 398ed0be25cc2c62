/// \file
/// A lesson for the terminal.
#pragma once

#include <string>

#include "cli/context.h"

namespace shardlings::cli::terminal {

/// Markdown as the lessons use it (headings, paragraphs, lists, quotes, tables, fenced code, links, emphasis), wrapped
/// to the context's width and at most 100 columns. Code is never wrapped. Ends with a line end.
std::string render_markdown(const std::string& text, const Context& context);

}  // namespace shardlings::cli::terminal
