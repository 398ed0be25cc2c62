#include "cli/learner/course.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/error.h"

namespace shardlings::cli::learner {

using cases::Manifest;

namespace {

/// Letters and digits in lower case, everything else '_', so that "Data-Parallel" finds data_parallel.
std::string plain(const std::string& text) {
  std::string result;
  for (const unsigned char c : text) result += std::isalnum(c) ? static_cast<char>(std::tolower(c)) : '_';
  return result;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() <= 4 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// "data_parallel" of "09_data_parallel".
std::string without_number(const std::string& id) {
  const auto bar = id.find('_');
  return bar == std::string::npos ? id : id.substr(bar + 1);
}

/// The id in "puzzles/09_data_parallel/puzzle.cpp"; `name` itself if it is no path.
std::string id_in_path(const std::string& name, const std::vector<cases::Manifest>& puzzles) {
  if (name.find('/') == std::string::npos) return name;
  for (const auto& part : std::filesystem::path(name)) {
    for (const cases::Manifest& puzzle : puzzles) {
      if (part == puzzle.id) return puzzle.id;
    }
  }
  return name;
}

/// Insertions, deletions, replacements and swaps of neighbours between two words.
int edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<int>> cost(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = static_cast<int>(i + j);
        continue;
      }
      const int replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

std::vector<const cases::Manifest*> matches(const std::string& name, const std::vector<cases::Manifest>& puzzles) {
  const std::string wanted = plain(name);
  std::vector<const cases::Manifest*> found;
  for (const cases::Manifest& puzzle : puzzles) {
    if (puzzle.id == name || without_number(puzzle.id) == wanted) return {&puzzle};
    if (is_number(name) ? puzzle.number == std::stoi(name)
                        : plain(puzzle.id).find(wanted) != std::string::npos ||
                              plain(puzzle.title).find(wanted) != std::string::npos) {
      found.push_back(&puzzle);
    }
  }
  return found;
}

std::string no_such_puzzle(const std::string& name, const std::vector<cases::Manifest>& puzzles) {
  std::vector<std::string> ids;
  for (const cases::Manifest& puzzle : puzzles) {
    ids.push_back(puzzle.id);
    ids.push_back(without_number(puzzle.id));
  }
  const auto near = near_names(plain(name), ids);
  return fmt::format("There is no puzzle \"{}\".{} See ./shardlings list.", name,
                     near.empty() ? "" : fmt::format(" Did you mean {}?", fmt::join(near, " or ")));
}

}  // namespace

std::vector<std::string> near_names(const std::string& name, const std::vector<std::string>& candidates) {
  std::vector<std::pair<int, std::string>> ranked;
  for (const std::string& candidate : candidates) {
    const int distance = edit_distance(name, candidate);
    if (distance <= static_cast<int>(std::max(name.size(), candidate.size())) / 3) {
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

const cases::Manifest& Course::find(const std::string& name) const {
  const auto found = matches(id_in_path(name, puzzles_), puzzles_);
  if (found.size() == 1) return *found[0];
  if (found.empty() || name.empty()) throw UsageError(no_such_puzzle(name, puzzles_));
  std::vector<std::string> ids;
  for (const cases::Manifest* puzzle : found) ids.push_back(puzzle->id);
  throw UsageError(
      fmt::format("\"{}\" could be {}. Give a longer part of the name, or the number.", name, fmt::join(ids, " or ")));
}

const cases::Manifest* Course::next(const Progress& progress) const {
  for (const cases::Manifest& puzzle : puzzles_) {
    if (!progress.of(puzzle.id).solved()) return &puzzle;
  }
  return nullptr;
}

const cases::Manifest* Course::next_after(const std::string& id, const Progress& progress) const {
  const auto here =
      std::find_if(puzzles_.begin(), puzzles_.end(), [&](const cases::Manifest& p) { return p.id == id; });
  if (here == puzzles_.end()) return next(progress);
  for (auto it = here + 1; it != puzzles_.end(); ++it) {
    if (!progress.of(it->id).solved()) return &*it;
  }
  return next(progress);
}

Course load_course(const system::Project& project) {
  Course course(cases::load_manifests(project.puzzles(), project.clusters()));
  if (course.puzzles().empty())
    throw UsageError("There are no puzzles in " + system::shown_path(project.puzzles()) + ".");
  return course;
}

const cases::Manifest& named_or_next(const Course& course, const std::string& name, const Progress& progress) {
  if (!name.empty()) return course.find(name);
  const cases::Manifest* next = course.next(progress);
  return next ? *next : course.puzzles().back();
}

std::string short_name(const cases::Manifest& puzzle) {
  return fmt::format("{:02}", puzzle.number);
}

}  // namespace shardlings::cli::learner
