/// \file
/// Text of unknown origin, made harmless before anything shows it.
#pragma once

#include <string>
#include <string_view>

#include "report/style.h"

namespace shardlings::report {

/// Text that moves no cursor and hides nothing: control characters, invisible and direction-changing code points and
/// broken UTF-8 become visible (`\x1b`, `\u{202e}`), tabs become spaces, line ends stay. In ASCII everything else
/// becomes '?'.
std::string harmless(std::string_view text, Charset charset);

/// The same as one line: line ends become visible, too. For names of files and cases.
std::string harmless_line(std::string_view text, Charset charset);

/// Harmless text between tags of XML or HTML, or between double quotes inside of one.
std::string markup(std::string_view text);

}  // namespace shardlings::report
