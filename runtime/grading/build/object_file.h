/// \file
/// Sections and symbols of an ELF object file (64 bits, this machine's byte order).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shardlings::grading::build {

struct ObjectSection {
  std::string name;
  bool writable = false;
  bool thread_local_storage = false;
  bool in_memory = false;  ///< part of the program at run time
  std::uint64_t size = 0;
};

struct ObjectSymbol {
  std::string name;  ///< as the linker sees it
  int section = 0;   ///< index into ObjectFile::sections; 0: undefined; -1: none
  bool global = false;
  bool weak = false;
  bool is_section = false;
};

struct ObjectFile {
  std::vector<ObjectSection> sections;
  std::vector<ObjectSymbol> symbols;
};

/// Throws std::runtime_error if the bytes are no object file.
ObjectFile parse_object(const std::string& bytes);

/// "train_step(shardlings::Rank&)" for a mangled name; the name itself if it is not mangled.
std::string demangled(const std::string& name);

}  // namespace shardlings::grading::build
