#include "grading/judge/suspects.h"

#include <algorithm>
#include <cstddef>

namespace shardlings::grading::judge {
namespace {

/// A mistake is no chance if others come to the same on all cases not more than once in so many times.
constexpr double kProves = 6;
/// One that stands for others as well needs more.
constexpr double kProvesMany = 1e5;

/// Those of `earlier` that are in `later` as well.
std::vector<Suspect> in_both(const std::vector<Suspect>& earlier, const std::vector<Suspect>& later) {
  std::vector<Suspect> both;
  for (const Suspect& suspect : earlier) {
    const auto again =
        std::find_if(later.begin(), later.end(), [&](const auto& other) { return other.which == suspect.which; });
    if (again == later.end()) continue;
    both.push_back(suspect);
    both.back().chance *= again->chance;
  }
  return both;
}

/// What this id says is true of all of them, and proved by those that have it.
bool says_it(const std::string& id, const std::vector<Suspect>& common) {
  const auto is_it = [&](const Suspect& suspect) { return suspect.id == id; };
  const double proof = std::all_of(common.begin(), common.end(), is_it) ? kProves : kProvesMany;
  return std::all_of(common.begin(), common.end(), [&](const Suspect& suspect) {
    return is_it(suspect) ? suspect.chance * proof <= 1 : suspect.covered_by == id;
  });
}

}  // namespace

std::string common_suspect(const std::vector<std::vector<Suspect>>& by_case) {
  if (by_case.empty()) return {};
  std::vector<Suspect> common = by_case.front();
  for (std::size_t i = 1; i < by_case.size(); ++i) common = in_both(common, by_case[i]);
  const auto cause = std::find_if(common.begin(), common.end(), [&](const Suspect& suspect) {
    return !suspect.id.empty() && says_it(suspect.id, common);
  });
  return cause == common.end() ? std::string() : cause->id;
}

}  // namespace shardlings::grading::judge
