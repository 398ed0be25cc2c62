#include "grading/build/object_file.h"

#include <cxxabi.h>
#include <elf.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace shardlings::grading::build {
namespace {

/// Bytes that are looked at as structs; every access is checked.
class Image {
 public:
  explicit Image(const std::string& bytes) : bytes_(bytes) {}

  template <class T>
  T at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T))
      throw std::runtime_error("a truncated object file");
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  std::string text(std::uint64_t offset) const {
    if (offset >= bytes_.size()) throw std::runtime_error("a truncated object file");
    return {bytes_.data() + offset, strnlen(bytes_.data() + offset, bytes_.size() - offset)};
  }

 private:
  const std::string& bytes_;
};

ObjectSymbol symbol_from(const Image& image, std::uint64_t at, const Elf64_Shdr& names) {
  const auto raw = image.at<Elf64_Sym>(at);
  ObjectSymbol symbol;
  symbol.name = image.text(names.sh_offset + raw.st_name);
  symbol.section = raw.st_shndx >= SHN_LORESERVE ? -1 : raw.st_shndx;
  symbol.global = ELF64_ST_BIND(raw.st_info) != STB_LOCAL;
  // Inline variables and statics of templates are GNU_UNIQUE: like weak ones, any number of files may define them.
  symbol.weak = ELF64_ST_BIND(raw.st_info) == STB_WEAK || ELF64_ST_BIND(raw.st_info) == STB_GNU_UNIQUE;
  symbol.type = ELF64_ST_TYPE(raw.st_info);
  symbol.is_section = symbol.type == STT_SECTION;
  symbol.size = raw.st_size;
  symbol.visibility = at + offsetof(Elf64_Sym, st_other);
  return symbol;
}

ObjectSection section_from(const Image& image, const Elf64_Shdr& raw, const Elf64_Shdr& names) {
  ObjectSection section;
  section.name = image.text(names.sh_offset + raw.sh_name);
  section.writable = (raw.sh_flags & SHF_WRITE) != 0;
  section.thread_local_storage = (raw.sh_flags & SHF_TLS) != 0;
  section.in_memory = (raw.sh_flags & SHF_ALLOC) != 0;
  section.executable = (raw.sh_flags & SHF_EXECINSTR) != 0;
  section.size = raw.sh_size;
  section.type = raw.sh_type;
  return section;
}

void read_relocations(const Image& image, const Elf64_Shdr& raw, ObjectFile& object) {
  for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= raw.sh_size; at += sizeof(Elf64_Rela)) {
    const auto entry = image.at<Elf64_Rela>(raw.sh_offset + at);
    object.relocations.push_back({static_cast<int>(raw.sh_info), static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info)),
                                  static_cast<std::uint32_t>(ELF64_R_SYM(entry.r_info))});
  }
}

}  // namespace

ObjectFile parse_object(const std::string& bytes) {
  const Image image(bytes);
  const auto header = image.at<Elf64_Ehdr>(0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_type != ET_REL) {
    throw std::runtime_error("not an object file");
  }
  const auto section = [&](std::uint64_t i) { return image.at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)); };
  const Elf64_Shdr names = section(header.e_shstrndx);
  ObjectFile object;
  object.machine = header.e_machine;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr raw = section(i);
    object.sections.push_back(section_from(image, raw, names));
    if (raw.sh_type == SHT_RELA) read_relocations(image, raw, object);
    if (raw.sh_type != SHT_SYMTAB) continue;
    if (!object.symbols.empty()) throw std::runtime_error("an object file with two tables of symbols");
    const Elf64_Shdr texts = section(raw.sh_link);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= raw.sh_size; at += sizeof(Elf64_Sym)) {
      object.symbols.push_back(symbol_from(image, raw.sh_offset + at, texts));
    }
  }
  return object;
}

void hide_definitions(const ObjectFile& object, std::string& bytes) {
  for (const ObjectSymbol& symbol : object.symbols) {
    if (symbol.global && symbol.section != 0) bytes.at(symbol.visibility) = STV_HIDDEN;
  }
}

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // "i" would be read as the type int
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text ? text.get() : name;
}

}  // namespace shardlings::grading::build
