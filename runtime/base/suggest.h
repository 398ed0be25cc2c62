/// \file
/// "did you mean …?": the known word nearest to an unknown one.
#pragma once

#include <string>
#include <vector>

namespace shardlings {

/// Letters to insert, delete or exchange to get from one word to the other (Levenshtein 1966).
int edit_distance(const std::string& a, const std::string& b);

/// "; did you mean 'ranks'?" if a known word is near enough, else "; known are …".
std::string suggestion(const std::string& unknown, const std::vector<std::string>& known);

}  // namespace shardlings
