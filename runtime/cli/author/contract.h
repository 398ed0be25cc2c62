/// \file
/// A puzzle's contract: the sentences of its stub that the judge holds a learner to, each with its proof.
///
/// A sentence that nothing checks is either missing from the grader or should not stand in the stub. So
/// `solutions/<id>/contract.toml` names for each one the check that fails when it is broken, and mutants that break it.
#pragma once

#include <string>
#include <vector>

#include "case/manifest.h"
#include "cli/author/variant_file.h"
#include "cli/system/project.h"

namespace shardlings::cli::author {

/// A sentence of the stub, or a part of one.
struct Promise {
  std::string sentence;              ///< words of the stub, as they stand there but for line breaks
  std::string check;                 ///< the check that fails where it is broken
  std::vector<std::string> mutants;  ///< which break it: at least one
};

/// A puzzle's contract.toml as far as it is sound, and what is not.
struct Contract {
  std::vector<Promise> promises;
  std::vector<std::string> problems;
};

/// What the comment of a stub promises under a label: of "/// Wire    one all-reduce" the text "one all-reduce", with
/// the lines that are indented as far. White space between words is one space.
std::vector<std::string> labelled_promises(const std::string& stub);

/// Reads `solutions/<id>/contract.toml`. Problems are a sentence that the stub does not say, a check or a mutant that
/// does not exist, and a labelled promise of the stub of which no word is named.
Contract load_contract(const system::Project& project, const cases::Manifest& puzzle, const std::string& stub,
                       const VariantFile& mutants);

}  // namespace shardlings::cli::author
