#include "grading/build/assembly_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace shardlings::grading::build {
namespace {

using std::string_view;

/// No compiler writes these for C++; with them text would come from elsewhere or be made on the way. In order.
constexpr string_view kRefused[] = {".altmacro",    ".code32",  ".eqv",     ".incbin",     ".include", ".intel_syntax",
                                    ".irp",         ".irpc",    ".macro",   ".popsection", ".print",   ".purgem",
                                    ".pushsection", ".reloc",   ".rept",    ".subsection", ".symver",  "cpuid",
                                    "int",          "int3",     "rdfsbase", "rdgsbase",    "rdpmc",    "rdrand",
                                    "rdseed",       "rdtsc",    "rdtscp",   "svc",         "syscall",  "sysenter",
                                    "sysexit",      "wrfsbase", "wrgsbase"};
static_assert(std::is_sorted(std::begin(kRefused), std::end(kRefused)));

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/// The first word of a line that is no label.
string_view first_word(string_view line) {
  while (true) {
    std::size_t begin = 0;
    while (begin < line.size() && is_blank(line[begin])) ++begin;
    std::size_t end = begin;
    while (end < line.size() && !is_blank(line[end]) && line[end] != ';') ++end;
    const string_view word = line.substr(begin, end - begin);
    if (!word.ends_with(':')) return word;
    line = line.substr(end);
  }
}

}  // namespace

std::string check_assembly(const std::string& assembly, const std::string& file) {
  for (std::size_t begin = 0; begin < assembly.size();) {
    const std::size_t end = std::min(assembly.find('\n', begin), assembly.size());
    const string_view word = first_word(string_view(assembly).substr(begin, end - begin));
    begin = end + 1;
    // GCC and clang put these around what the source has written itself.
    const bool inline_assembly = word == "#APP" || word == "//APP" || word == "@APP" || word == "/APP";
    if (!inline_assembly && !std::binary_search(std::begin(kRefused), std::end(kRefused), word)) continue;
    return fmt::format("{}: assembly is not for puzzles{}: what it does is not counted. Write C++.", file,
                       inline_assembly ? "" : fmt::format(" ({})", word));
  }
  return "";
}

}  // namespace shardlings::grading::build
