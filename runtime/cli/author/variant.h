/// \file
/// A variant of a solution: what somebody wrote instead of it, as edits of its text.
///
/// Variants are written down as edits because a reader wants to see what is different, and because a solution that is
/// rewritten must not leave old copies of itself behind: an edit that does not fit any more is found and named.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace shardlings::cli::author {

/// Some lines that stand together in the solution, and what stands there instead.
struct Edit {
  /// A line of the file of variants, without the sign that begins it.
  struct Line {
    int number;
    std::string text;
  };
  std::vector<Line> before;  ///< as the solution has it, with the lines that stay
  std::vector<Line> after;   ///< as the variant has it, likewise
};

/// What the heading of a mutant declares that must fail without any cause being named: "== name -> nothing".
inline constexpr const char* kNoCause = "nothing";

/// A stanza of a file of variants (author/variant_file.h).
struct Variant {
  std::string name;
  std::string diagnosis;    ///< the one that it must get; empty if the heading names none
  std::string sentence;     ///< what is different
  std::string milestone;    ///< the letter of one that it passes all the same: "== name -> diagnosis (passes a)"
  bool whole_hole = false;  ///< nothing of the hole stays: there is one edit, whose `after` is the new hole
  std::vector<Edit> edits;  ///< from the top of the solution to its end
  std::string file;         ///< the file of variants, as messages name it
  int line = 0;             ///< of the heading, in that file
};

/// A stanza that cannot be read or does not fit the solution. The message says where and why:
/// "solutions/09_data_parallel/mutants.txt:14: averaged: the solution has no line …".
class VariantError : public std::runtime_error {
 public:
  VariantError(const Variant& variant, int line, const std::string& what);
  /// Of something that belongs to no variant.
  VariantError(const std::string& file, int line, const std::string& what);
};

/// The text of a variant. The lines of each edit must stand in the solution together and once only, in the order of the
/// edits. Throws VariantError that says what does not fit.
std::string applied(const Variant& variant, const std::string& solution);

}  // namespace shardlings::cli::author
