// No folder includes, over whatever others, itself: each can be understood once those below it are.
#include <algorithm>
#include <map>
#include <optional>

#include "architecture/rules.h"

namespace shardlings::architecture {
namespace {

/// The include by which one folder first names another.
struct Arrow {
  std::string path;
  int line = 0;
};
using Arrows = std::map<std::string, std::map<std::string, Arrow>>;

/// "runtime/front/group/ring_traffic.h" below "runtime/front/" is of "group"; a header of the folder itself and its
/// .cpp are one without an ending, "doors.".
std::optional<std::string> folder_below(const std::string& root, const std::string& path) {
  if (!starts_with(path, root)) return std::nullopt;
  const std::size_t end = path.find('/', root.size());
  if (end == std::string::npos) return path.substr(root.size(), path.rfind('.') + 1 - root.size());
  return path.substr(root.size(), end - root.size());
}

Arrows arrows_between(const std::vector<Source>& sources, const std::string& root) {
  Arrows arrows;
  for (const Source& source : sources) {
    const auto from = folder_below(root, source.path);
    if (!from) continue;
    for (const Include& include : includes_of(source.text)) {
      const auto to = include.quoted ? folder_below(root, "runtime/" + include.name) : std::nullopt;
      if (to && *to != *from) arrows[*from].try_emplace(*to, Arrow{source.path, include.line});
    }
  }
  return arrows;
}

/// The first way back to the end of `path` from its beginning that depth-first search finds; empty if there is none.
std::vector<std::string> way_back(const Arrows& arrows, std::vector<std::string> path, std::vector<std::string>& seen) {
  const auto next = arrows.find(path.back());
  if (next == arrows.end()) return {};
  for (const auto& [folder, arrow] : next->second) {
    if (folder == path.front()) return path;
    if (std::find(seen.begin(), seen.end(), folder) != seen.end()) continue;
    seen.push_back(folder);
    path.push_back(folder);
    if (auto found = way_back(arrows, path, seen); !found.empty()) return found;
    path.pop_back();
  }
  return {};
}

std::string to_text(const std::vector<std::string>& circle) {
  std::string text;
  for (const std::string& folder : circle) text += folder + " -> ";
  return text + circle.front();
}

}  // namespace

std::vector<Violation> check_cycles(const std::vector<Source>& sources, const std::string& root) {
  const Arrows arrows = arrows_between(sources, root);
  for (const auto& [folder, targets] : arrows) {
    if (ends_with(folder, ".")) continue;  // files of the root may need one another
    std::vector<std::string> seen{folder};
    const std::vector<std::string> circle = way_back(arrows, {folder}, seen);
    if (circle.empty()) continue;
    std::vector<Violation> violations;
    for (std::size_t i = 0; i < circle.size(); ++i) {
      const Arrow& arrow = arrows.at(circle[i]).at(circle[(i + 1) % circle.size()]);
      violations.push_back({arrow.path, arrow.line, "closes a circle of folders: " + to_text(circle)});
    }
    return violations;
  }
  return {};
}

}  // namespace shardlings::architecture
