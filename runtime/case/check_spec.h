/// \file
/// A check of a puzzle, as puzzle.toml declares it.
#pragma once

#include <string>
#include <vector>

namespace shardlings::cases {

/// A check of a puzzle as its manifest declares it.
struct CheckSpec {
  std::string id;     ///< "output"
  std::string kind;   ///< output, memory, communication, time, rules
  std::string title;  ///< what it asks for, one line
  int points = 0;
  std::vector<std::string> after;  ///< ids of checks without which this one cannot be judged
};

}  // namespace shardlings::cases
