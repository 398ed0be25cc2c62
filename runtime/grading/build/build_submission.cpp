#include "grading/build/build_submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/leave_out.h"
#include "grading/build/assembly_check.h"
#include "grading/build/compiler_advice.h"
#include "grading/build/include_check.h"
#include "grading/build/object_check.h"
#include "grading/build/object_file.h"
#include "grading/build/source_check.h"
#include "grading/build/symbol_check.h"
#include "grading/run/process.h"

namespace shardlings::grading::build {
namespace {

namespace fs = std::filesystem;

bool succeeded(const run::ProcessEnd& end) {
  return end.exited && end.status == 0;
}

/// One source on its way to a program.
struct Build {
  const Toolchain& toolchain;
  const SourceCopy& source;
  const CompileSandbox& sandbox;
  std::string beside{};  ///< the object file that is linked with it; empty: nothing is
  bool for_debugger = false;
};

bool is_gcc(const Toolchain& toolchain) {
  return fs::path(toolchain.compiler).filename().string().find("clang") == std::string::npos;
}

/// To assembly, which is looked at before it is assembled.
run::ProcessEnd compile(const Build& build) {
  const CompileSandbox& sandbox = build.sandbox;
  std::vector<std::string> arguments = build.toolchain.compile_flags;
  if (build.for_debugger) arguments.insert(arguments.end(), {"-O0", "-g"});
  for (const std::string& folder : build.toolchain.include_folders) arguments.push_back("-I" + folder);
  // Run in the copy's folder with its bare name, so that messages and call sites say "puzzle.cpp:31"; a debugger looks
  // for it where it came from.
  arguments.insert(
      arguments.end(),
      {"-fdiagnostics-color=never", "-ffunction-sections",
       is_gcc(build.toolchain) ? "-fmax-errors=10" : "-ferror-limit=10",
       fmt::format("-fdebug-prefix-map={}={}", fs::path(sandbox.input("x")).parent_path().string(),
                   fs::path(build.source.path).parent_path().string()),
       "-MD", "-MF", sandbox.output("puzzle.d"), "-S", build.source.name, "-o", sandbox.output("puzzle.s")});
  return sandbox.compile(build.toolchain.compiler, std::move(arguments));
}

run::ProcessEnd assemble(const Build& build) {
  std::vector<std::string> command = build.toolchain.assembler;
  if (command.empty()) command = {build.toolchain.compiler, "-c"};
  command.insert(command.end(), {build.sandbox.output("puzzle.s"), "-o", build.sandbox.output("puzzle.o")});
  const std::string program = command.front();
  command.erase(command.begin());
  return build.sandbox.run(program, std::move(command));
}

/// The program that is run: with the runtime, or for a jail without. What is ours comes first: of inline functions and
/// templates that several objects bring, the first one's are taken.
run::ProcessEnd link(const Toolchain& toolchain, const Toolchain::Puzzle& puzzle, const CompileSandbox& sandbox,
                     Form form) {
  std::vector<std::string> arguments = form == Form::jail ? toolchain.jail_link_flags : toolchain.link_flags;
  if (form == Form::program) {
    arguments.push_back(puzzle.harness);
    if (!toolchain.main_object.empty()) arguments.push_back(toolchain.main_object);
  }
  arguments.insert(arguments.end(), {puzzle.beside, sandbox.input("puzzle.o"), "-Wl,-z,relro", "-o",
                                     sandbox.output(program_name(form))});
  if (form == Form::jail) {
    // Of what stands beside the learner's code, harness.h brings more than is used.
    arguments.push_back("-Wl,--gc-sections");
    arguments.insert(arguments.end(), toolchain.jail_libraries.begin(), toolchain.jail_libraries.end());
  } else {
    const std::string library_folder = fs::path(toolchain.library).parent_path().string();
    arguments.insert(arguments.end(), {toolchain.library, "-Wl,-rpath," + library_folder});
  }
  return sandbox.run(toolchain.compiler, std::move(arguments));
}

/// The files that tools read beside the copy and the headers.
std::vector<std::string> inputs_of(const Toolchain& toolchain, const Toolchain::Puzzle& puzzle) {
  std::vector<std::string> inputs{puzzle.harness, puzzle.beside};
  if (!toolchain.main_object.empty()) inputs.push_back(toolchain.main_object);
  for (const std::string& library : toolchain.jail_libraries) {
    if (library.starts_with('/')) inputs.push_back(library);
  }
  return inputs;
}

/// A compiler that lies where nobody expects it cannot be reached in a narrow sandbox.
bool looks_locked_out(const std::string& log) {
  constexpr std::array<const char*, 4> kWords = {"Permission denied", "cannot execute", "cannot open", "cannot find"};
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](const char* words) { return log.find(words) != std::string::npos; });
}

/// A file that nobody but us has written shows whether the compiler works in the sandbox.
bool compiler_works(const Toolchain& toolchain, const CompileSandbox& sandbox) {
  const SourceCopy own{"probe.cpp", "probe.cpp", "#include <vector>\nint f() { return 1; }\n"};
  sandbox.put(own.name, own.text);
  return succeeded(compile({toolchain, own, sandbox})) && succeeded(assemble({toolchain, own, sandbox}));
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

std::string link_log(const std::string& log, const std::string& puzzle_id, const std::string& file,
                     const ObjectFile& object, const std::string& harness_source) {
  const std::string missing = missing_function(log);
  const std::string name = missing.substr(0, missing.find('('));
  const std::string declaration = name.empty() ? "" : declaration_of(name, read_file(harness_source).value_or(""));
  if (declaration.empty()) return log;
  const std::string must = fmt::format("{} must define `{}`, with exactly this signature.\n", file, declaration);
  if (!defines_another(object, name)) return must;
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

ReadableFiles readable_files(const Build& build) {
  ReadableFiles readable{build.sandbox.input(build.source.name), build.toolchain.include_folders, {}};
  for (const std::string& file : files_of_rule(read_whole_file(build.toolchain.allowed_headers))) {
    readable.system.insert(fs::path(file).lexically_normal().string());
  }
  return readable;
}

BuildOutcome stopped(Wall wall, std::string log) {
  BuildOutcome outcome;
  outcome.wall = wall;
  outcome.log = std::move(log);
  if (!outcome.log.ends_with('\n')) outcome.log += '\n';
  return outcome;
}

/// What a tool said that did not succeed.
BuildOutcome stopped_tool(const Build& build, const run::ProcessEnd& end, const char* doing) {
  const std::string limit = build.sandbox.limit_text(end, doing);
  return limit.empty() ? stopped(Wall::compiler, end.output + advice_on(end.output))
                       : stopped(Wall::limits, fmt::format("{}: {}", build.source.name, limit));
}

/// Empty if the object is in order, which hides its definitions; else a sentence.
std::string check_and_hide(const Build& build, std::string& bytes) {
  const std::set<std::string> offered = offered_functions(parse_object(read_whole_file(build.beside)));
  try {
    const ObjectFile parsed = parse_object(bytes);
    std::string text = is_sanitized(build.toolchain) ? "" : check_object(parsed, build.source, offered);
    if (text.empty()) hide_definitions(parsed, bytes);
    return text;
  } catch (const std::logic_error& damaged) {
    return fmt::format("{}: what the compiler made of it cannot be read: {}.", build.source.name, damaged.what());
  } catch (const std::runtime_error& damaged) {
    return fmt::format("{}: what the compiler made of it cannot be read: {}.", build.source.name, damaged.what());
  }
}

/// Compiles, and looks at the result at each step. The object's bytes go to `object`.
BuildOutcome compile_checked(const Build& build, std::string& object) {
  const std::string& file = build.source.name;
  const run::ProcessEnd compiled = compile(build);
  if (!succeeded(compiled)) return stopped_tool(build, compiled, "compiling");
  const auto rule = build.sandbox.bytes("puzzle.d"), assembly = build.sandbox.bytes("puzzle.s");
  if (!rule || !assembly) return stopped(Wall::limits, fmt::format("{}: what the compiler made is too long.", file));
  if (auto text = check_dependencies(*rule, readable_files(build), build.source.text); !text.empty()) {
    return stopped(Wall::headers, text);
  }
  if (auto text = check_assembly(*assembly, file); !text.empty()) return stopped(Wall::assembly, text);
  const run::ProcessEnd assembled = assemble(build);
  if (!succeeded(assembled)) return stopped_tool(build, assembled, "assembling");
  auto bytes = build.sandbox.bytes("puzzle.o");
  if (!bytes) return stopped(Wall::limits, fmt::format("{}: what the compiler made is too long.", file));
  if (std::string text = build.for_debugger ? "" : check_and_hide(build, *bytes); !text.empty()) {
    return stopped(Wall::object, text);
  }
  object = std::move(*bytes);
  BuildOutcome outcome;
  outcome.log = compiled.output;
  return outcome;
}

}  // namespace

/// "void train_step(Rank& rank)" of "train_step" and " void(Rank& rank)".
static std::string as_declaration(const std::string& function, const std::string& type) {
  const auto begin = type.find_first_not_of(' '), parameters = type.find('(');
  return fmt::format("{} {}{}", type.substr(begin, parameters - begin), function, type.substr(parameters));
}

std::string declaration_of(const std::string& function, const std::string& harness_text) {
  std::istringstream lines(harness_text);
  std::string line, declaration;
  const std::string macro = "SHARDLINGS_LEARNER_FUNCTION(" + function + ",";
  bool by_macro = false;
  while (std::getline(lines, line)) {
    if (declaration.empty() && line.starts_with(macro)) {
      by_macro = true;
      declaration = line;
    } else if (declaration.empty()) {
      const auto at = line.find(function + "(");
      // A declaration has a type before the name; a call has only white space or punctuation.
      if (at == std::string::npos || at < 2 || line[0] == ' ' || line[0] == '/') continue;
      declaration = line;
    } else {
      declaration += " " + line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    }
    const auto end = declaration.find(';');
    if (end == std::string::npos) continue;
    return by_macro ? as_declaration(function, declaration.substr(macro.size(), end - macro.size() - 1))
                    : declaration.substr(0, end);
  }
  return "";
}

std::vector<std::string> learner_functions(const std::string& harness_text) {
  constexpr std::string_view kMacro = "SHARDLINGS_LEARNER_FUNCTION(";
  std::istringstream lines(harness_text);
  std::vector<std::string> functions;
  for (std::string line; std::getline(lines, line);) {
    const auto end = line.find(',');
    if (!line.starts_with(kMacro) || end == std::string::npos) continue;
    functions.push_back(line.substr(kMacro.size(), end - kMacro.size()));
  }
  return functions;
}

static BuildOutcome built(const Toolchain& toolchain, const std::string& puzzle_id, const SourceCopy& source,
                          const std::string& harness_source, const std::string& output_folder,
                          const BuildOptions& options) {
  const Toolchain::Puzzle& puzzle = toolchain.puzzle(puzzle_id);
  if (!options.skips_source_check) {
    if (std::string text = check_source(source.text, source.name); !text.empty()) return stopped(Wall::source, text);
  }
  const fs::path folder = output_folder;
  write_file_atomically((folder / source.name).string(), source.text, Outlives::kill);
  std::optional<CompileSandbox> sandbox;
  const auto enter_sandbox = [&](SandboxWish wish) {
    sandbox.emplace(toolchain, (folder / "tools").string(), inputs_of(toolchain, puzzle), options.limits, wish);
    sandbox->put(source.name, source.text);
  };
  enter_sandbox(SandboxWish::all);
  std::string object;
  BuildOutcome outcome = compile_checked({toolchain, source, *sandbox, puzzle.beside, options.for_debugger}, object);
  if (outcome.wall == Wall::compiler && looks_locked_out(outcome.log) && !compiler_works(toolchain, *sandbox)) {
    enter_sandbox(SandboxWish::limits_only);
    outcome = compile_checked({toolchain, source, *sandbox, puzzle.beside, options.for_debugger}, object);
  }
  outcome.sandbox = sandbox->report();
  if (outcome.wall != Wall::none) return outcome;
  sandbox->put("puzzle.o", object);
  run::ProcessEnd linked = link(toolchain, puzzle, *sandbox, options.form);
  if (!succeeded(linked) && looks_locked_out(linked.output)) {
    // Everything that is linked has been looked at: a linker that lies elsewhere may have all files.
    enter_sandbox(SandboxWish::limits_only);
    sandbox->put("puzzle.o", object);
    linked = link(toolchain, puzzle, *sandbox, options.form);
  }
  if (!succeeded(linked)) {
    const std::string limit = sandbox->limit_text(linked, "linking");
    outcome.wall = limit.empty() ? Wall::linker : Wall::limits;
    outcome.log = !limit.empty()
                      ? fmt::format("{}: {}\n", source.name, limit)
                      : link_log(linked.output, puzzle_id, source.name, parse_object(object), harness_source);
    return outcome;
  }
  outcome.program = (folder / program_name(options.form)).string();
  sandbox->move_out(program_name(options.form), outcome.program);
  outcome.built = true;
  return outcome;
}

BuildOutcome build_submission(const Toolchain& toolchain, const std::string& puzzle_id, const SourceCopy& source,
                              const std::string& harness_source, const std::string& output_folder,
                              const BuildOptions& options) {
  BuildOutcome outcome = built(toolchain, puzzle_id, source, harness_source, output_folder, options);
  if (!toolchain.root.empty()) leave_out(outcome.log, toolchain.root + "/");  // "runtime/include/shardlings/ops.h:31"
  return outcome;
}

BuildOutcome build_submission(const Toolchain& toolchain, const std::string& puzzle_id, const std::string& source,
                              const std::string& harness_source, const std::string& output_folder, Form form) {
  BuildOptions options;
  options.form = form;
  return build_submission(toolchain, puzzle_id, copy_source(source), harness_source, output_folder, options);
}

}  // namespace shardlings::grading::build
