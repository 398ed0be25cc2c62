/// \file
/// Traces as packed bytes: for the submission's result and for the file that reports read.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/pack.h"
#include "front/trace/event.h"

namespace shardlings::wire {

/// Packs the traces of one run, one after another. A list of members is written once, by the first rank that has it or
/// one that is equal: ranks of several processes share none.
class TracePacker {
 public:
  explicit TracePacker(Packer& out) : out_(out) {}
  void add(const front::RankTrace& trace);

 private:
  void add_members(const front::GroupMembers& members);

  Packer& out_;
  std::unordered_map<front::GroupMembers, std::uint64_t> lists_;  ///< with their numbers
  std::map<std::vector<int>, std::uint64_t> contents_;            ///< of those that differ
};

/// Reads them in that order; ranks share their lists again.
class TraceUnpacker {
 public:
  explicit TraceUnpacker(Unpacker& in) : in_(in) {}
  /// Throws BadPack; what it returns is consistent (every index inside its table), whatever the bytes were.
  front::RankTrace next();

 private:
  front::GroupMembers next_members();

  Unpacker& in_;
  std::vector<front::GroupMembers> lists_;
};

}  // namespace shardlings::wire
