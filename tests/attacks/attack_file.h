/// \file
/// Files of attacks: sections "== name -> wall, wall" and the sources below them.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace shardlings::attacks {

struct Attack {
  std::string name;
  std::vector<std::string> walls;  ///< what has to stop it; "a/b" is either
  std::string text;
  std::string file;  ///< in which it stands
};

/// All sections of a file, or of all .txt files of a folder, in order. Throws std::runtime_error.
std::vector<Attack> load_attacks(const std::string& path);

/// For names of tests: letters, digits and underscores.
std::ostream& operator<<(std::ostream& out, const Attack& attack);

}  // namespace shardlings::attacks
