#include "grading/build/object_check.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "grading/build/source_place.h"
#include "grading/build/symbol_check.h"

namespace shardlings::grading::build {
namespace {

using std::string_view;

/// What <iostream> brings along, once for each file that includes it.
constexpr string_view kStreamInit = "_ZStL8__ioinit";

/// The compiler's own: the address of the routine that unwinds exceptions.
bool is_compilers(const ObjectSymbol& symbol) {
  return symbol.name.starts_with("DW.ref.") || symbol.name == kStreamInit;
}

/// Each also with a dot and more behind it.
constexpr string_view kSections[] = {"",
                                     ".bss",
                                     ".comment",
                                     ".data",
                                     ".eh_frame",
                                     ".gcc_except_table",
                                     ".group",
                                     ".init_array",
                                     ".llvm_addrsig",
                                     ".note.GNU-stack",
                                     ".note.gnu.property",
                                     ".rela",
                                     ".rodata",
                                     ".shstrtab",
                                     ".strtab",
                                     ".symtab",
                                     ".text"};

constexpr std::uint32_t kClangsTable = 0x6fff4c03;  // which addresses matter; newer than some <elf.h>
constexpr std::uint32_t kSectionTypes[] = {SHT_NULL, SHT_PROGBITS,      SHT_SYMTAB,  SHT_STRTAB,
                                           SHT_RELA, SHT_NOBITS,        SHT_GROUP,   SHT_INIT_ARRAY,
                                           SHT_NOTE, SHT_X86_64_UNWIND, kClangsTable};

bool is_allowed_section(const ObjectSection& section) {
  const string_view name = section.name;
  const bool known =
      name.starts_with(".debug_") || std::any_of(std::begin(kSections), std::end(kSections), [&](string_view allowed) {
        return name == allowed || (!allowed.empty() && name.starts_with(allowed) && name[allowed.size()] == '.');
      });
  const bool type =
      std::find(std::begin(kSectionTypes), std::end(kSectionTypes), section.type) != std::end(kSectionTypes);
  const bool code = section.executable && (section.writable || !name.starts_with(".text"));
  return known && type && !code;
}

/// Addresses of functions that run before or after main(), or the code itself.
bool holds_early_code(string_view section) {
  constexpr std::array<string_view, 5> kNames = {".init", ".preinit", ".fini", ".ctors", ".dtors"};
  return std::any_of(kNames.begin(), kNames.end(), [&](string_view name) { return section.starts_with(name); });
}

std::string early_text(const SourceCopy& source) {
  return fmt::format("{}: something in it would run before or after main(): a puzzle is a function, nothing else.",
                     source.name);
}

std::string section_text(const ObjectFile& object, const SourceCopy& source) {
  for (const ObjectSection& section : object.sections) {
    const bool early = section.name.starts_with(".init") && section.type != SHT_INIT_ARRAY && section.size > 0;
    if (is_allowed_section(section) && !early) continue;
    if (holds_early_code(section.name)) return early_text(source);
    return fmt::format(
        "{}: it has a section {}, which no compiler makes of a puzzle. Leave attributes out that name one.",
        source.name, section.name);
  }
  return "";
}

bool is_static_data(const ObjectSection& section) {
  const string_view name = section.name;
  const bool exempt = name.starts_with(".data.rel.ro") || holds_early_code(name);
  return section.in_memory && section.size > 0 && (section.writable || section.thread_local_storage) && !exempt;
}

/// A static local is called "f(int)::counter"; its guard variable is not worth a word.
std::string static_variable_text(const ObjectSymbol& symbol, const SourceCopy& source) {
  const std::string name = demangled(symbol.name);
  const bool is_local = symbol.name.starts_with("_ZZ");
  return fmt::format(
      "{}: {} is a global or static variable. All ranks would share it (here they are threads of one process), and on "
      "real machines they could not.\n{}, or make it `constexpr`.",
      place_of_variable(source, name), name.empty() ? "a variable" : fmt::format("'{}'", last_part(name)),
      is_local ? "Leave `static` or `thread_local` out" : "Keep it inside the function");
}

std::string static_data_text(const ObjectFile& object, const SourceCopy& source) {
  for (std::size_t i = 0; i < object.sections.size(); ++i) {
    if (!is_static_data(object.sections[i])) continue;
    std::uint64_t compilers = 0;
    for (const ObjectSymbol& symbol : object.symbols) {
      if (symbol.section != static_cast<int>(i) || symbol.is_section || symbol.name.starts_with("_ZGV")) continue;
      if (!is_compilers(symbol)) return static_variable_text(symbol, source);
      compilers += symbol.size;
    }
    if (object.sections[i].size > compilers) {
      return fmt::format("{}: there is writable static data in section {}. Keep it inside the function.", source.name,
                         object.sections[i].name);
    }
  }
  return "";
}

// --- relocations -----------------------------------------------------------------------------------------------------

/// Of x86-64: addresses, and calls, directly or through the table that the linker makes. Nothing of threads' memory.
constexpr std::uint32_t kPlainX86[] = {R_X86_64_NONE,      R_X86_64_64,           R_X86_64_PC32,     R_X86_64_PLT32,
                                       R_X86_64_32,        R_X86_64_32S,          R_X86_64_GOTPCREL, R_X86_64_PC64,
                                       R_X86_64_GOTPCRELX, R_X86_64_REX_GOTPCRELX};
/// The same of 64-bit Arm: everything below those of threads' memory.
constexpr std::uint32_t kFirstThreadsArm = 512;

bool is_plain_relocation(int machine, std::uint32_t type) {
  if (machine == EM_X86_64) return std::find(std::begin(kPlainX86), std::end(kPlainX86), type) != std::end(kPlainX86);
  return machine != EM_AARCH64 || type < kFirstThreadsArm;
}

const ObjectSection& section_at(const ObjectFile& object, int index) {
  static const ObjectSection kNone;
  return index >= 0 && index < std::ssize(object.sections) ? object.sections[static_cast<std::size_t>(index)] : kNone;
}

/// A function that the compiler writes to prepare static variables. Each function has a section of its own
/// (-ffunction-sections), so that every call from one to another is a relocation.
bool is_startup(const ObjectSymbol& symbol) {
  return symbol.name.starts_with("_GLOBAL__sub_I_") || symbol.name.starts_with("__cxx_global_var_init") ||
         symbol.name.starts_with("_Z41__static_initialization_and_destruction_0");
}

/// For each section whether it has such a function.
std::vector<bool> startup_sections(const ObjectFile& object) {
  std::vector<bool> startup(object.sections.size(), false);
  for (const ObjectSymbol& symbol : object.symbols) {
    if (symbol.section > 0 && is_startup(symbol)) startup.at(static_cast<std::size_t>(symbol.section)) = true;
  }
  return startup;
}

bool has_index(const std::vector<bool>& sections, int index) {
  return index > 0 && index < std::ssize(sections) && sections[static_cast<std::size_t>(index)];
}

/// What the preparation of <iostream> needs.
bool is_startup_symbol(const ObjectFile& object, const std::vector<bool>& startup, const ObjectSymbol& symbol) {
  constexpr std::array<string_view, 6> kNames = {
      "_ZNSt8ios_base4InitC1Ev", "_ZNSt8ios_base4InitD1Ev", "__cxa_atexit", "__dso_handle", kStreamInit,
      "_GLOBAL_OFFSET_TABLE_"};
  return std::find(kNames.begin(), kNames.end(), symbol.name) != kNames.end() || has_index(startup, symbol.section) ||
         (symbol.section > 0 && section_at(object, symbol.section).name.starts_with(".bss"));
}

std::string relocation_text(const ObjectFile& object, const SourceCopy& source) {
  const std::vector<bool> startup = startup_sections(object);
  for (const ObjectRelocation& relocation : object.relocations) {
    const ObjectSection& place = section_at(object, relocation.section);
    if (!place.in_memory) continue;  // for debuggers
    if (relocation.symbol >= object.symbols.size()) throw std::runtime_error("a damaged object file");
    const ObjectSymbol& symbol = object.symbols[relocation.symbol];
    if (!is_plain_relocation(object.machine, relocation.type)) {
      return fmt::format(
          "{}: it refers to {} in a way (relocation {}) that is not for puzzles. Leave thread_local and attributes "
          "out.",
          source.name, symbol.name.empty() ? "something" : demangled(symbol.name), relocation.type);
    }
    const bool early = has_index(startup, relocation.section) || place.name.starts_with(".init_array");
    if (early && !is_startup_symbol(object, startup, symbol)) return early_text(source);
    const bool streams = symbol.name == kStreamInit || (symbol.section > 0 && symbol.is_section &&
                                                        section_at(object, symbol.section).name.starts_with(".bss"));
    const bool final = symbol.name == "__cxa_atexit" || symbol.name == "__dso_handle";
    if (!early && final) return early_text(source);
    if (!early && streams) {
      return fmt::format("{}: it uses writable static data. Keep what you remember inside the function.", source.name);
    }
  }
  return "";
}

std::string early_code_text(const ObjectFile& object, const SourceCopy& source) {
  // As much as the preparation of <iostream> takes: one address, and a small function.
  constexpr std::uint64_t kMostCode = 128;
  const bool has_streams = std::any_of(object.symbols.begin(), object.symbols.end(),
                                       [](const ObjectSymbol& s) { return s.name == kStreamInit; });
  const std::vector<bool> startup = startup_sections(object);
  std::uint64_t addresses = 0, code = 0;
  for (std::size_t i = 0; i < object.sections.size(); ++i) {
    if (object.sections[i].name.starts_with(".init_array")) addresses += object.sections[i].size;
    if (startup[i]) code += object.sections[i].size;
  }
  const bool good = addresses <= (has_streams ? sizeof(void*) : 0) && (addresses == 0 || code <= kMostCode);
  return good ? "" : early_text(source);
}

}  // namespace

std::string check_object(const ObjectFile& object, const SourceCopy& source, const std::set<std::string>& offered) {
  for (const auto check : {static_data_text, section_text, check_defined_symbols, early_code_text, relocation_text}) {
    if (std::string text = check(object, source); !text.empty()) return text;
  }
  return check_used_symbols(object, offered, source);
}

}  // namespace shardlings::grading::build
