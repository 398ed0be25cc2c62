/// \file
/// What a process of a crew says of itself while it lives. One on another host than the supervisor's cannot write into
/// the file in memory, so what would stand there travels: its crash note, the black box of its ranks, and what the
/// machine lacked.
#pragma once

#include <string>
#include <string_view>

#include "submission/wire/memory_file.h"

namespace shardlings::wire {

struct ProcessWords {
  std::string host;
  int pid = 0;  ///< on that host
  /// Of the case that the rest is about, as in the FileHeader. Where `crash` is empty, it is about none: `fault` is the
  /// process's then.
  std::uint64_t number = 0;
  int first = 0;      ///< of its ranks, which are consecutive
  std::string crash;  ///< the bytes of a CrashNote; empty: the process writes into the supervisor's file itself
  std::string box;    ///< of a BlackBoxEntry for each of its ranks
  std::uint32_t exhausted = 0;  ///< as in the FileHeader
  MemoryLimits memory_limits;   ///< likewise
  std::string fault;            ///< likewise, its text
};

std::string pack_words(const ProcessWords& words);
/// Throws BadPack for anything else.
ProcessWords unpack_words(std::string_view bytes);

/// What there is to say of a process's own file, for ranks first, first + 1, …
ProcessWords words_of(const std::string& host, MappedFile& file, int first, int count);
/// Brings it into the supervisor's file of `ranks` ranks, as far as it fits there: all but the states of the ranks,
/// which the process with the control plane writes there. Notes of a crash or of a fault that are there already stay.
/// What is about another case, which is over, is left out.
void write_words(const ProcessWords& words, MappedFile& file, int ranks);

}  // namespace shardlings::wire
