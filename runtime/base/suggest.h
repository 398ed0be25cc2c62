/// \file
/// "did you mean …?": the known words nearest to an unknown one.
#pragma once

#include <string>
#include <vector>

namespace shardlings {

/// Letters to insert, delete, exchange or swap with their neighbour to get from one word to the other: optimal string
/// alignment (Boytsov, ACM J. Exp. Algorithmics 16, 2011, section 2.1), since swapped letters are one slip of the hand.
int edit_distance(const std::string& a, const std::string& b);

/// The `known` words that `word` may have been meant to be, nearest first, at most three; none where all are far.
std::vector<std::string> near_names(const std::string& word, const std::vector<std::string>& known);

/// " Did you mean a or b?" with a space before it; empty if no known word is near.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

/// "; did you mean 'ranks'?" if a known word is near enough, else "; known are …".
std::string suggestion(const std::string& unknown, const std::vector<std::string>& known);

}  // namespace shardlings
