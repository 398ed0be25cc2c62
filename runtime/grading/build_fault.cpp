#include "grading/build_fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "base/machine_fault.h"
#include "base/memory_limits.h"
#include "base/text.h"
#include "grading/build/compile_sandbox.h"

namespace shardlings::grading {
namespace {

/// "c++" of "x86_64-conda-linux-gnu-c++": a compiler calls itself so where the target stands in front of its name.
std::string_view without_target(std::string_view name) {
  constexpr std::string_view kSystem = "-linux-";
  const auto system = name.find(kSystem);
  if (system == std::string_view::npos) return name;
  const auto end = name.find('-', system + kSystem.size());
  return end == std::string_view::npos ? name : name.substr(end + 1);
}

bool is_tool(std::string_view whole) {
  constexpr std::array<std::string_view, 12> kTools = {"c++",  "g++",     "clang++", "cc1plus", "as",       "ld",
                                                       "mold", "ld.mold", "ld.lld",  "ld.gold", "collect2", "clang"};
  const std::string_view name = without_target(whole);
  return std::any_of(kTools.begin(), kTools.end(), [&](std::string_view tool) {
    const auto rest = name.starts_with(tool) ? name.substr(tool.size()) : std::string_view("no");
    return rest.empty() || (rest[0] == '-' && rest.find_first_not_of("-.0123456789") == std::string_view::npos);
  });
}

/// A mistake of the compiler's own, which some correct or wrong code has brought to light.
std::string broken_compiler(const std::string& line) {
  return fmt::format(
      "the compiler itself broke ({}). That is a mistake of the compiler's, and something in the file sets it off: "
      "write "
      "what is new in it another way, or use another version of the compiler",
      line);
}

/// The programs that build speak of themselves at the beginning of a line: "c++: fatal error: Killed signal …",
/// "/usr/bin/ld: final link failed: No space left on device", "Cannot create temporary file in /tmp/: …". Of a source
/// they speak with its name and a line.
bool is_of_the_tool(const std::string& line) {
  // With the place that the compiler had come to.
  for (const char* file : {": fatal error: closing dependency file ", ": fatal error: opening dependency file ",
                           ": fatal error: error writing to ", ": fatal error: error closing "}) {
    if (line.find(file) != std::string::npos) return true;
  }
  const std::string_view speaker = std::string_view(line).substr(0, line.find(": "));
  if (line.starts_with("Cannot create temporary file")) return true;
  const std::string_view name = base_name(speaker);
  if (name.ends_with(".s") || name == "{standard input}") return true;  // what the assembler reads
  return is_tool(name);
}

/// "c++: fatal error: cannot execute 'cc1plus': …": a part of the compiler is not where it looks, as without a PATH.
bool misses_a_tool(const std::string& line) {
  return line.find(": fatal error: cannot find ") != std::string::npos ||
         line.find(": fatal error: cannot execute ") != std::string::npos;
}

std::string fault_of(const std::string& line) {
  if (const std::string advice = advice_in(line); !advice.empty()) return advice;
  if (line.find("File size limit exceeded") != std::string::npos)
    return advice_on(EFBIG);  // the machine's: ours is named before
  // A compiler that meets our own limit of processor time is told so by another signal.
  if (line.find("Killed signal") != std::string::npos) return advice_on(ENOMEM);
  const bool no_memory = line.find("out of memory") != std::string::npos ||
                         line.find("virtual memory exhausted") != std::string::npos ||
                         line.find("memory exhausted") != std::string::npos;
  if (misses_a_tool(line)) {
    return "A part of the compiler is not found: look at PATH, and at what ./shardlings doctor says.";
  }
  // A source may want all that a compiler may use.
  const std::int64_t most = build::ToolLimits().memory_bytes;
  if (no_memory && tighter_limit(memory_limits_here(), most) > 0) return advice_on(ENOMEM);
  return "";
}

/// "/usr/bin/c++ was ended by signal 9", as the compiler's sandbox says it; empty for another line.
std::string ending_of_tool(const std::string& line) {
  constexpr std::string_view kEnded = " was ended by signal ";
  const auto at = line.find(kEnded);
  if (!line.starts_with('/') || at == std::string::npos || !is_tool(base_name(line.substr(0, at)))) return "";
  if (line.substr(at + kEnded.size()) == "9") {
    return "the system killed the compiler: most likely the machine's memory has run out. " + advice_on(ENOMEM);
  }
  return broken_compiler(line);
}

/// Of "/usr/bin/c++: fatal error: …" what stands before the error.
bool is_name_of_program(std::string_view words) {
  if (!words.ends_with(": ")) return false;
  words.remove_suffix(2);
  const std::string_view name = base_name(words);
  return words.find_first_of(" :") == std::string_view::npos && !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789+.-_") == std::string_view::npos;
}

/// "puzzle.cpp:31:5: internal compiler error: …", or the driver's "c++: internal compiler error: …".
std::string internal_error(const std::string& line) {
  const auto at = line.find("internal compiler error: ");
  if (at == std::string::npos || line.find("CPU time limit exceeded") != std::string::npos) return "";
  return at == length_of_place(line) || is_name_of_program(std::string_view(line).substr(0, at)) ? broken_compiler(line)
                                                                                                 : "";
}

}  // namespace

std::string build_fault(const std::string& log) {
  // Its own words stand above that, among what the system says of a program that aborts.
  if (log.find("collect2: fatal error: ld terminated with signal") != std::string::npos) {
    const std::string advice = advice_in(log);
    return fmt::format("the linker broke. {}", advice.empty() ? "Try again when the machine has less to do." : advice);
  }
  for (const std::string& line : lines_of(log)) {
    // Of its headers, which it reads before the source: with the source's name all the same.
    if (line.ends_with(": sorry, unimplemented: PCH allocation failure") && line.find("error: ") == std::string::npos) {
      return fmt::format("the compiler could not do its work ({}). {}", line, advice_on(ENOMEM));
    }
    const std::string advice = is_of_the_tool(line) ? fault_of(line) : "";
    if (!advice.empty()) return fmt::format("the compiler could not do its work ({}). {}", line, advice);
    if (std::string text = internal_error(line); !text.empty()) return text;
    if (std::string text = ending_of_tool(line); !text.empty()) return text;
  }
  return "";
}

}  // namespace shardlings::grading
