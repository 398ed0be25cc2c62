/// \file
/// In which lines of a source a call can stand: a Location that names another one is made up.
#pragma once

#include <set>
#include <string>

namespace shardlings::grading::build {

/// The lines, from 1, of statements that hold parentheses or braces, or the name of a macro, from the first word of the
/// statement to its end. A call's Location is one of these, whichever of its lines a compiler takes: an empty line, one
/// of comments or declarations, or one behind the end never is.
std::set<int> call_lines(const std::string& source);

}  // namespace shardlings::grading::build
