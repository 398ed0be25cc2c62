#include "front/misuse/programs.h"

#include <chrono>
#include <thread>

namespace shardlings::misuse {

Pauses::Pauses(std::uint64_t seed, int rank)
    : active_(seed != 0), random_(seed * 1009 + static_cast<std::uint64_t>(rank)) {}

void Pauses::operator()() {
  if (!active_) return;
  const std::uint64_t dice = random_() % 4;
  if (dice == 0) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 200));
  if (dice == 1) std::this_thread::yield();
}

std::vector<WrongProgram> all_programs() {
  std::vector<WrongProgram> all;
  for (const auto& some : {mismatches(), deadlocks(), desertions(), races(), leaks(), peer_deaths()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace shardlings::misuse
