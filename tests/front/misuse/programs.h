/// \file
/// Wrong programs, one for each way in which ranks misuse what they share. Their calls carry line numbers of a file
/// that does not exist, so that the reports do not depend on this one.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "front/clock/death.h"
#include "shardlings/puzzle.h"

namespace shardlings::misuse {

/// Random pauses of one rank between its calls; none for seed 0.
class Pauses {
 public:
  Pauses(std::uint64_t seed, int rank);
  void operator()();

 private:
  bool active_;
  std::mt19937_64 random_;
};

struct WrongProgram {
  const char* name;     ///< of its golden files
  const char* type;     ///< what the report must call it
  const char* mistake;  ///< in words
  void (*body)(Rank& rank, Pauses& pause);
  int classic = 0;  ///< 1 to 8: one of the eight mistakes that message-passing libraries are compared by
  std::vector<front::Death> (*deaths)(int ranks) = nullptr;  ///< of so many ranks; nullptr: nobody dies
};

std::vector<WrongProgram> mismatches();
std::vector<WrongProgram> deadlocks();
std::vector<WrongProgram> desertions();
std::vector<WrongProgram> races();
std::vector<WrongProgram> leaks();
std::vector<WrongProgram> peer_deaths();
std::vector<WrongProgram> all_programs();

/// A line of the learner's file.
constexpr Location line(int number) {
  return {"puzzle.cpp", number};
}

}  // namespace shardlings::misuse
