/// \file
/// Which diagnoses a puzzle's grader can name.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "case/manifest.h"

namespace shardlings::cli::author {

/// The ids that the text of a grader.cpp holds as literals, and those of the shared functions that it calls
/// (grading/formulas/shared_diagnosis.h). Literals are those that are diagnosed or returned, or stand for a mistake in
/// a table of them; two words at least where they are not handed to diagnose() itself.
std::set<std::string> diagnosis_ids_in(const std::string& grader);

/// Each of them has a sentence: a misspelt id would be shown without one, and only a mutant that meets it could tell.
void check_diagnoses(const std::string& grader, const cases::Manifest& puzzle, std::vector<std::string>& problems);

}  // namespace shardlings::cli::author
