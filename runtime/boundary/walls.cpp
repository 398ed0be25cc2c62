#include "boundary/walls.h"

#include <algorithm>
#include <array>

namespace shardlings::boundary {
namespace {

struct Wall {
  bool Walls::*stands;
  const char* word;
};
constexpr std::array<Wall, 9> kWalls = {{{&Walls::own_process, "own process"},
                                         {&Walls::own_user, "own user"},
                                         {&Walls::no_privileges, "no new privileges"},
                                         {&Walls::system_calls, "few system calls"},
                                         {&Walls::no_files, "no files"},
                                         {&Walls::no_clocks, "no clocks"},
                                         {&Walls::limits, "limits"},
                                         {&Walls::namespaces, "own network"},
                                         {&Walls::cgroup, "control group"}}};

}  // namespace

Walls common(const Walls& a, const Walls& b) {
  Walls both;
  for (const Wall& wall : kWalls) both.*wall.stands = a.*wall.stands && b.*wall.stands;
  return both;
}

std::vector<std::string> words_of(const Walls& walls) {
  std::vector<std::string> words;
  for (const Wall& wall : kWalls) {
    if (walls.*wall.stands) words.emplace_back(wall.word);
  }
  return words;
}

Walls walls_of(const std::vector<std::string>& words) {
  Walls walls;
  for (const Wall& wall : kWalls) walls.*wall.stands = std::find(words.begin(), words.end(), wall.word) != words.end();
  return walls;
}

}  // namespace shardlings::boundary
