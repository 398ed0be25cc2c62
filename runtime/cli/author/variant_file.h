/// \file
/// Files of variants: a stanza for each, to be read by people first.
/// \code
///   # a comment
///
///   == averaged -> averaged
///   Takes the mean of what was divided by the tokens of all ranks already.
///   -    reduced[l] = world.all_reduce_async(state.grads[l], ReduceOp::sum);
///   +    reduced[l] = world.all_reduce_async(state.grads[l], ReduceOp::mean);
///
///   == work_overwritten -> leak
///   One Work for all layers: each new one drops the one before.
///   -  std::vector<Work> reduced(layers);
///   +  Work reduced;
///   ...
///        reduced[l].wait();
///   +    reduced[l] = {};
///
///   == nothing_reduced -> not_reduced (whole hole)
///   Every rank trains on its own.
///   +  lines that stand in the hole, and nothing else does
/// \endcode
/// The heading gives a name and the diagnosis that the variant must get (a variant that is right has none). Below it
/// stands what is different, in plain words, and then the edits: `-` for a line that goes, `+` for one that comes, a
/// space for one that stays and says where. `...` stands for the lines between two edits. Lines of an edit stand
/// together in the solution, and there only.
#pragma once

#include <string>
#include <vector>

#include "cli/author/variant.h"

namespace shardlings::cli::author {

/// What a file of variants holds.
struct VariantFile {
  std::vector<Variant> variants;      ///< those that could be read
  std::vector<std::string> problems;  ///< what is wrong with the others, each with file and line

  /// The variant of that name; nullptr if there is none.
  const Variant* find(const std::string& name) const;
};

/// Reads a file of variants; messages call it `file`.
VariantFile parse_variants(const std::string& text, const std::string& file);

}  // namespace shardlings::cli::author
