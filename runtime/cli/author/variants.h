/// \file
/// A puzzle's files of variants, beside its solution: `mutants.txt`, wrong ones that must be caught by name, and
/// `right.txt`, other ones that are right and must pass. Not every puzzle has the second one.
#pragma once

#include <string>

#include "case/manifest.h"
#include "cli/author/variant_file.h"
#include "cli/system/project.h"

namespace shardlings::cli::author {

enum class VariantKind { mutant, right };

/// The variants of a puzzle. Problems are those of the file, and variants whose heading does not fit their kind: a
/// mutant without a known diagnosis, a right variant with one.
VariantFile load_variants(const system::Project& project, const cases::Manifest& puzzle, VariantKind kind);

/// Writes a variant out as a source file below the build folder, and returns its path. Throws VariantError if it does
/// not fit the solution.
std::string write_variant(const system::Project& project, const std::string& id, VariantKind kind,
                          const Variant& variant);

/// The same for the variant of that name. Throws UsageError with the names if there is none, or if it does not fit.
std::string write_variant_named(const system::Project& project, const cases::Manifest& puzzle, VariantKind kind,
                                const std::string& name);

}  // namespace shardlings::cli::author
