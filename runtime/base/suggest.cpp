#include "base/suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace shardlings {

int edit_distance(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);  // of the prefixes of b, for the prefix of a so far
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int exchanged = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({exchanged, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string suggestion(const std::string& unknown, const std::vector<std::string>& known) {
  const std::string* best = nullptr;
  int least = static_cast<int>(std::max<std::size_t>(2, unknown.size() / 3)) + 1;
  for (const std::string& word : known) {
    if (const int distance = edit_distance(unknown, word); distance < least) {
      least = distance;
      best = &word;
    }
  }
  if (best) return fmt::format("; did you mean '{}'?", *best);
  return known.empty() ? "" : fmt::format("; known are {}", fmt::join(known, ", "));
}

}  // namespace shardlings
