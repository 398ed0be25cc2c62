/// \file
/// A puzzle's mutants: `solutions/<id>/mutants.txt`, variants of its solution that must be caught by name.
#pragma once

#include <string>

#include "case/manifest.h"
#include "cli/author/variant_file.h"
#include "cli/system/project.h"

namespace shardlings::cli::author {

/// The mutants of a puzzle. Problems are those of the file, and mutants whose diagnosis is missing or unknown.
VariantFile load_mutants(const system::Project& project, const cases::Manifest& puzzle);

/// Writes a mutant out as a source file below the build folder, and returns its path. Throws VariantError if it does
/// not fit the solution.
std::string write_mutant(const system::Project& project, const std::string& id, const Variant& mutant);

/// The same for the mutant of that name. Throws UsageError with the names if there is none, or if it does not fit.
std::string write_mutant_named(const system::Project& project, const cases::Manifest& puzzle, const std::string& name);

}  // namespace shardlings::cli::author
