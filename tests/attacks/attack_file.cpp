#include "attacks/attack_file.h"

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <sstream>
#include <stdexcept>

#include "base/file.h"

namespace shardlings::attacks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kArrow = " -> ";

Attack attack_of_title(const std::string& title) {
  Attack attack;
  const auto arrow = title.find(kArrow);
  attack.name = title.substr(0, arrow);
  if (arrow == std::string::npos) return attack;
  std::istringstream walls(title.substr(arrow + 4));
  for (std::string wall; std::getline(walls, wall, ',');) {
    attack.walls.push_back(wall.substr(std::min(wall.find_first_not_of(' '), wall.size())));
  }
  return attack;
}

void load_file(const fs::path& path, std::vector<Attack>& attacks) {
  std::istringstream lines(read_whole_file(path.string()));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("== ")) {
      attacks.push_back(attack_of_title(line.substr(3)));
      attacks.back().file = path.string();
    } else if (!attacks.empty()) {
      attacks.back().text += line + "\n";
    } else {
      throw std::runtime_error(path.string() + " does not begin with a section");
    }
  }
}

}  // namespace

std::vector<Attack> load_attacks(const std::string& path) {
  std::vector<fs::path> files{path};
  if (fs::is_directory(path)) {
    files.clear();
    for (const auto& entry : fs::directory_iterator(path)) {
      if (entry.path().extension() == ".txt") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
  }
  std::vector<Attack> attacks;
  for (const fs::path& file : files) load_file(file, attacks);
  return attacks;
}

std::ostream& operator<<(std::ostream& out, const Attack& attack) {
  return out << attack.name;
}

}  // namespace shardlings::attacks
