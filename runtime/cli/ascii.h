/// \file
/// Lessons for terminals that have ASCII only.
#pragma once

#include <string>
#include <string_view>

namespace shardlings::cli {

/// The text with every character beyond ASCII written otherwise: lines of drawings as - | +, letters and signs of
/// formulas by name ("alpha", "<="). What has no other form becomes '?'. One character stays one column wide where it
/// may be part of a drawing.
std::string in_ascii(std::string_view text);

}  // namespace shardlings::cli
