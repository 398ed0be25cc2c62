/// \file
/// Verdicts in the forms of other programs: `--export junit=results.xml`.
#pragma once

#include <string>
#include <vector>

#include "grading/verdict/verdict.h"

namespace shardlings::cli::learner {

/// One file to write.
struct Export {
  std::string format;  ///< "junit", "gradescope", …
  std::string file;    ///< "-": standard output
};

/// What `--export FORMAT[=FILE]` asks for; without a file, standard output. Throws UsageError for an unknown format,
/// for one that needs to be told more (classroom50), and where two exports would share standard output.
std::vector<Export> exports_of(const std::vector<std::string>& arguments);

/// Those that go into files.
std::vector<Export> into_files(std::vector<Export> exports);

/// Is standard output taken, so that nothing else may be printed there?
bool takes_stdout(const std::vector<Export>& exports);

/// Writes them all: files as a whole or not at all. `graded`: the file that the verdict is about. Throws
/// std::runtime_error where a file cannot be written.
void write_exports(const std::vector<Export>& exports, const grading::verdict::Verdict& verdict,
                   const std::string& graded, std::ostream& out);

}  // namespace shardlings::cli::learner
