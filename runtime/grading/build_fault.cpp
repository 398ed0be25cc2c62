#include "grading/build_fault.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "base/machine_fault.h"
#include "base/text.h"
#include "grading/build/compile_jail.h"
#include "grading/run/process.h"

namespace shardlings::grading {
namespace {

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
  constexpr std::array<std::string_view, 12> kTools = {"c++",  "g++",     "clang++", "cc1plus", "as",       "ld",
                                                       "mold", "ld.mold", "ld.lld",  "ld.gold", "collect2", "clang"};
  return std::any_of(kTools.begin(), kTools.end(), [&](std::string_view tool) {
    const auto rest = name.starts_with(tool) ? name.substr(tool.size()) : std::string_view("no");
    return rest.empty() || (rest[0] == '-' && rest.find_first_not_of("-.0123456789") == std::string_view::npos);
  });
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
  run::ProcessLimits compiler;
  compiler.memory_bytes = build::ToolLimits().memory_bytes;  // a source may want all of that
  if (misses_a_tool(line)) {
    return "A part of the compiler is not found: look at PATH, and at what ./shardlings doctor says.";
  }
  if (no_memory && run::tighter_memory_limit(compiler) > 0) return advice_on(ENOMEM);
  return "";
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
    if (!is_of_the_tool(line)) continue;
    if (const std::string advice = fault_of(line); !advice.empty()) {
      return fmt::format("the compiler could not do its work ({}). {}", line, advice);
    }
  }
  return "";
}

}  // namespace shardlings::grading
