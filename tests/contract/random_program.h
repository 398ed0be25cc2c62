/// \file
/// Correct communication programs, made at random: what each rank does, and what must come out.
///
/// A program is one list of steps in a global order; each rank makes those that concern it, in that order. So none can
/// deadlock: of all blocked ranks, the one at the earliest step waits for somebody who is further on.
#pragma once

#include <cstdint>
#include <vector>

#include "back/fabric/fabric.h"
#include "shardlings/puzzle.h"

namespace shardlings::contract {

/// Tensors that every rank has, all of the same size.
inline constexpr int kRegisters = 5;

struct RandomStep {
  enum class Kind : std::uint8_t { collective, message, scale, add, copy, wait };
  Kind kind = Kind::scale;
  int group = 0;  ///< index into RandomProgram::groups
  back::Collective collective = back::Collective::barrier;
  ReduceOp reduce = ReduceOp::sum;
  int root = 0;              ///< collectives; in the group
  int from = 0, to = 0;      ///< messages; in the group
  Count count = 0;           ///< elements used, from the registers' beginning
  std::vector<int> in, out;  ///< by member (messages: sender's in[0], receiver's out[0]): register
  std::vector<bool> async;   ///< by member (messages: sender, receiver)
  int rank = 0;              ///< scale, add, copy and wait: whose step it is
  int step = 0;              ///< wait: for which step
};

struct RandomProgram {
  int ranks = 1;
  Count size = 0;                        ///< of the registers
  std::vector<std::vector<int>> groups;  ///< world ranks in order; the first is the world, the others come from splits
  std::vector<RandomStep> steps;
};

/// How many random programs run on each kind of world: SHARDLINGS_RANDOM_PROGRAMS.
int number_of_programs();

/// The same for the same seed.
RandomProgram make_random_program(std::uint64_t seed, int ranks);

/// What register `index` of a rank holds at the beginning.
std::vector<float> first_values(const RandomProgram& program, int rank, int index);
/// What all registers of all ranks hold at the end: by rank, then by register. Computed step by step in one thread.
std::vector<std::vector<std::vector<float>>> simulate(const RandomProgram& program);
/// Runs a rank's part, with random pauses of the host if `delays` is not 0, and publishes its registers "0", "1", …
void run_program(Rank& rank, const RandomProgram& program, std::uint64_t delays);

}  // namespace shardlings::contract
