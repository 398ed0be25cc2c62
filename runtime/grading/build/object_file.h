/// \file
/// Sections, symbols and relocations of an ELF object file (64 bits, this machine's byte order).
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
  bool executable = false;
  std::uint32_t type = 1;  ///< SHT_… of <elf.h>
};

struct ObjectSymbol {
  std::string name;  ///< as the linker sees it
  int section = 0;   ///< index into ObjectFile::sections; 0: undefined; -1: none
  bool global = false;
  bool weak = false;
  bool is_section = false;
  int type = 0;                  ///< STT_… of <elf.h>
  std::uint64_t size = 0;        ///< bytes
  std::uint64_t visibility = 0;  ///< where in the file the byte with the visibility lies
};

/// A place that the linker fills in.
struct ObjectRelocation {
  int section = 0;           ///< whose bytes are filled in
  std::uint32_t type = 0;    ///< R_… of <elf.h>
  std::uint32_t symbol = 0;  ///< index into ObjectFile::symbols; 0: none
};

struct ObjectFile {
  std::vector<ObjectSection> sections;
  std::vector<ObjectSymbol> symbols;  ///< with the empty one at the beginning
  std::vector<ObjectRelocation> relocations;
  int machine = 0;  ///< EM_… of <elf.h>
};

/// Throws std::runtime_error if the bytes are no object file.
ObjectFile parse_object(const std::string& bytes);

/// Makes everything that the object defines its program's own affair: no library's call ends there.
void hide_definitions(const ObjectFile& object, std::string& bytes);

/// "train_step(shardlings::Rank&)" for a mangled name; the name itself if it is not mangled.
std::string demangled(const std::string& name);

}  // namespace shardlings::grading::build
