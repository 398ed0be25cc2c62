/// \file
/// The marks of a class as one page for a browser: who has what, and where the class fails.
#pragma once

#include <string>
#include <vector>

#include "case/manifest.h"
#include "cli/submissions/gradebook.h"

namespace shardlings::cli::submissions {

/// Whose files of a puzzle failed a check, or were told a diagnosis. Files that did not run are none of them.
struct Stumble {
  std::string what;                   ///< the check's title, or the diagnosis' sentence
  std::vector<std::string> students;  ///< ids, in the order of the gradebook
};

/// Where the class fails in one puzzle, the most frequent first. Checks that are not in `puzzle` are left out, and
/// diagnoses without a sentence.
struct Stumbles {
  std::vector<Stumble> checks, diagnoses;
};
Stumbles stumbles_of(const Gradebook& book, const cases::Manifest& puzzle);

/// The HTML, with pictures from files beside it (Mark::picture): nothing else to be fetched, nothing that runs. Names
/// and ids are the students' words, and shown as text. `title`: the folder that was graded. `puzzles`: those of the
/// gradebook, in its order.
std::string class_page(const Gradebook& book, const std::vector<cases::Manifest>& puzzles, const std::string& title);

}  // namespace shardlings::cli::submissions
