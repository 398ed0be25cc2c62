#include "grading/build/object_file.h"

#include <cxxabi.h>
#include <elf.h>

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

ObjectSymbol symbol_from(const Image& image, const Elf64_Sym& raw, const Elf64_Shdr& names) {
  ObjectSymbol symbol;
  symbol.name = image.text(names.sh_offset + raw.st_name);
  symbol.section = raw.st_shndx >= SHN_LORESERVE ? -1 : raw.st_shndx;
  symbol.global = ELF64_ST_BIND(raw.st_info) != STB_LOCAL;
  // Inline variables and statics of templates are GNU_UNIQUE: like weak ones, any number of files may define them.
  symbol.weak = ELF64_ST_BIND(raw.st_info) == STB_WEAK || ELF64_ST_BIND(raw.st_info) == STB_GNU_UNIQUE;
  symbol.is_section = ELF64_ST_TYPE(raw.st_info) == STT_SECTION;
  return symbol;
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
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr raw = section(i);
    object.sections.push_back({image.text(names.sh_offset + raw.sh_name), (raw.sh_flags & SHF_WRITE) != 0,
                               (raw.sh_flags & SHF_TLS) != 0, (raw.sh_flags & SHF_ALLOC) != 0, raw.sh_size});
    if (raw.sh_type != SHT_SYMTAB) continue;
    const Elf64_Shdr texts = section(raw.sh_link);
    for (std::uint64_t at = sizeof(Elf64_Sym); at + sizeof(Elf64_Sym) <= raw.sh_size; at += sizeof(Elf64_Sym)) {
      object.symbols.push_back(symbol_from(image, image.at<Elf64_Sym>(raw.sh_offset + at), texts));
    }
  }
  return object;
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text ? text.get() : name;
}

}  // namespace shardlings::grading::build
