#include "base/suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace shardlings {

int edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<int>> cost(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = static_cast<int>(i + j);
        continue;
      }
      const int exchanged = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, exchanged});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

std::vector<std::string> near_names(const std::string& word, const std::vector<std::string>& known) {
  std::vector<std::pair<int, std::string>> ranked;
  for (const std::string& candidate : known) {
    const int distance = edit_distance(word, candidate);
    if (distance <= static_cast<int>(std::max(word.size(), candidate.size())) / 3) {
      ranked.emplace_back(distance, candidate);
    }
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> names;
  for (const auto& [distance, candidate] : ranked) {
    if (names.size() < 3) names.push_back(candidate);
  }
  return names;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const std::vector<std::string> near = near_names(word, known);
  return near.empty() ? "" : fmt::format(" Did you mean {}?", fmt::join(near, " or "));
}

std::string suggestion(const std::string& unknown, const std::vector<std::string>& known) {
  const std::vector<std::string> near = near_names(unknown, known);
  if (!near.empty()) return fmt::format("; did you mean '{}'?", near.front());
  return known.empty() ? "" : fmt::format("; known are {}", fmt::join(known, ", "));
}

}  // namespace shardlings
