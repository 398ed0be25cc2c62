#include "grading/build/build_submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>

#include "base/file.h"
#include "grading/build/include_check.h"
#include "grading/build/object_check.h"
#include "grading/build/object_file.h"
#include "grading/run/process.h"

namespace shardlings::grading::build {
namespace {

namespace fs = std::filesystem;

/// A compiler that may take its time, but not for ever (a template can recurse endlessly).
run::ProcessEnd run_tool(const std::string& program, std::vector<std::string> arguments, const std::string& folder) {
  run::ProcessOptions options;
  options.program = program;
  options.arguments = std::move(arguments);
  const char* path = std::getenv("PATH");
  options.environment = path ? run::clean_environment("/", path) : run::clean_environment("/");
  options.folder = folder;
  options.limits.cpu_seconds = 60;
  options.limits.memory_bytes = std::int64_t{4} << 30;
  run::ProcessEnd end = run::run_process(options);
  if (!end.started) throw std::runtime_error(fmt::format("cannot start {}: {}", program, end.error));
  if (!end.exited) end.output += fmt::format("\n{} was ended by signal {}", program, end.signal);
  return end;
}

bool succeeded(const run::ProcessEnd& end) {
  return end.exited && end.status == 0;
}

struct Paths {
  fs::path source, object, rule, program;
};

run::ProcessEnd compile(const Toolchain& toolchain, const Paths& paths) {
  std::vector<std::string> arguments = toolchain.compile_flags;
  for (const std::string& folder : toolchain.include_folders) arguments.push_back("-I" + folder);
  // Run in the source's folder with its bare name, so that messages and call sites say "puzzle.cpp:31".
  arguments.insert(arguments.end(), {"-fdiagnostics-color=never", "-fmax-errors=10", "-MMD", "-MF", paths.rule.string(),
                                     "-c", paths.source.filename().string(), "-o", paths.object.string()});
  return run_tool(toolchain.compiler, std::move(arguments), paths.source.parent_path().string());
}

run::ProcessEnd link(const Toolchain& toolchain, const Toolchain::Puzzle& puzzle, const Paths& paths) {
  std::vector<std::string> arguments = toolchain.link_flags;
  const std::string library_folder = fs::path(toolchain.library).parent_path().string();
  arguments.insert(arguments.end(), {paths.object.string(), puzzle.harness});
  if (!toolchain.main_object.empty()) arguments.push_back(toolchain.main_object);
  arguments.insert(arguments.end(), {toolchain.library, "-Wl,-rpath," + library_folder, "-o", paths.program.string()});
  return run_tool(toolchain.compiler, std::move(arguments), "");
}

/// The function that the harness calls and nobody defines, in a linker's words; empty if there is none.
std::string missing_function(const std::string& log) {
  for (const std::string marker : {"undefined symbol: ", "undefined reference to "}) {
    const auto found = log.find(marker);
    if (found == std::string::npos) continue;
    const auto begin = log.find_first_not_of("`'\" ", found + marker.size());
    const auto end = log.find_first_of("\n'`", begin);
    if (begin != std::string::npos) return log.substr(begin, end - begin);
  }
  return "";
}

/// The object defines a function of this name with other parameters than those that are missing.
bool defines_another(const ObjectFile& object, const std::string& name) {
  return std::any_of(object.symbols.begin(), object.symbols.end(), [&](const ObjectSymbol& symbol) {
    return symbol.global && symbol.section > 0 && demangled(symbol.name).starts_with(name + "(");
  });
}

std::string link_log(const std::string& log, const std::string& puzzle_id, const Paths& paths,
                     const std::string& harness_source) {
  const std::string missing = missing_function(log), file = paths.source.filename().string();
  const std::string name = missing.substr(0, missing.find('('));
  const std::string declaration = name.empty() ? "" : declaration_of(name, read_file(harness_source).value_or(""));
  if (declaration.empty()) return log;
  const std::string must = fmt::format("{} must define `{}`, with exactly this signature.\n", file, declaration);
  if (!defines_another(parse_object(read_whole_file(paths.object)), name)) return must;
  return must + fmt::format(
                    "It defines {0} with other parameters. If the puzzle's have changed since you wrote yours: "
                    "`./shardlings reset {1}` keeps your\nfile and brings the puzzle as it is now; then put what "
                    "you have in the hole into the new one.\n",
                    name, puzzle_id);
}

/// Sanitizers put data and constructors of their own into every object.
bool is_sanitized(const Toolchain& toolchain) {
  return std::any_of(toolchain.compile_flags.begin(), toolchain.compile_flags.end(),
                     [](const std::string& flag) { return flag.starts_with("-fsanitize"); });
}

/// What is refused before linking: a sentence, or nothing.
std::string refusal(const Paths& paths, const Toolchain& toolchain) {
  const std::string file = paths.source.filename().string();
  if (auto text = check_dependencies(read_whole_file(paths.rule), paths.source.string(), toolchain.include_folders);
      !text.empty()) {
    return text;
  }
  return is_sanitized(toolchain) ? "" : check_object(parse_object(read_whole_file(paths.object)), file);
}

}  // namespace

std::string declaration_of(const std::string& function, const std::string& harness_text) {
  std::istringstream lines(harness_text);
  std::string line, declaration;
  while (std::getline(lines, line)) {
    if (declaration.empty()) {
      const auto at = line.find(function + "(");
      // A declaration has a type before the name; a call has only white space or punctuation.
      if (at == std::string::npos || at < 2 || line[0] == ' ' || line[0] == '/') continue;
      declaration = line;
    } else {
      declaration += " " + line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    }
    if (const auto end = declaration.find(';'); end != std::string::npos) return declaration.substr(0, end);
  }
  return "";
}

BuildOutcome build_submission(const Toolchain& toolchain, const std::string& puzzle_id, const std::string& source,
                              const std::string& harness_source, const std::string& output_folder) {
  const fs::path folder = output_folder;
  const Paths paths{source, folder / "puzzle.o", folder / "puzzle.d", folder / "submission"};
  const std::string file = paths.source.filename().string();
  const Toolchain::Puzzle& puzzle = toolchain.puzzle(puzzle_id);
  BuildOutcome outcome;
  if (!fs::exists(source)) throw std::runtime_error(fmt::format("there is no file {}", source));
  outcome.log = check_includes(read_whole_file(source), file);
  if (!outcome.log.empty()) return outcome;
  const run::ProcessEnd compiled = compile(toolchain, paths);
  outcome.log = compiled.output;
  if (!succeeded(compiled)) return outcome;
  if (std::string refused = refusal(paths, toolchain); !refused.empty()) {
    outcome.log = refused + "\n";
    return outcome;
  }
  const run::ProcessEnd linked = link(toolchain, puzzle, paths);
  if (!succeeded(linked)) {
    outcome.log = link_log(linked.output, puzzle_id, paths, harness_source);
    return outcome;
  }
  outcome.program = paths.program.string();
  outcome.built = true;
  return outcome;
}

}  // namespace shardlings::grading::build
