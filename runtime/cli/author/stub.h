/// \file
/// The hole of a puzzle: what the stub leaves out of the solution.
///
/// Stub and solution are the same text but for the lines between the two marks
/// \code
///   // >>> your code (about 8 lines)
///   // <<<
/// \endcode
/// The stub has `not_implemented();` there; where the marks stand at the margin and the hole holds whole functions, it
/// has that in the body of each. The solution may end with a comment that the stub does not have.
///
/// Where a learner is to mend what is there, the stub's hole holds programs with faults. Then the solution's last
/// comment has them, line by line up to the first line that is no comment:
/// \code
/// // In the stub's hole:
/// // int twice(int n) {
/// //   return n + 1;
/// // }
/// \endcode
#pragma once

#include <optional>
#include <string>

namespace shardlings::cli::author {

/// A source file, cut at its hole.
struct Holed {
  std::string before;  ///< with the line of the opening mark
  std::string hole;
  std::string after;  ///< from the line of the closing mark on
};

/// Cuts a file at its marks; nothing if there are none, or several.
std::optional<Holed> cut_at_hole(const std::string& text);

/// The stub that belongs to a solution; nothing if the solution has no hole.
std::optional<std::string> stub_of_solution(const std::string& solution);

/// Whether a solution has its stub's hole in a comment: programs to mend, in the place of not_implemented().
bool gives_hole(const std::string& solution);

/// The first line that differs outside of the hole, "line 12: …"; empty if stub and solution belong together.
std::string difference_outside_hole(const std::string& stub, const std::string& solution);

}  // namespace shardlings::cli::author
