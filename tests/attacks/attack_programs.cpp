#include "attacks/attack_programs.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "grading/build/toolchain.h"
#include "grading/run/process.h"

namespace shardlings::attacks {
namespace {

namespace fs = std::filesystem;
using grading::build::Toolchain;

grading::run::ProcessEnd run_tool(const Toolchain& toolchain, std::vector<std::string> arguments) {
  grading::run::ProcessOptions options;
  options.program = toolchain.compiler;
  options.arguments = std::move(arguments);
  options.environment = grading::run::clean_environment("/");
  return grading::run::run_process(options);
}

bool succeeded(const grading::run::ProcessEnd& end) {
  return end.exited && end.status == 0;
}

/// A function for each attack, and sum_up(), which calls the one that is asked for.
std::string shared_text(const std::vector<Attack>& attacks) {
  std::string functions, choices;
  for (std::size_t i = 0; i < attacks.size(); ++i) {
    functions +=
        fmt::format("static void attack_{}([[maybe_unused]] Rank& rank, [[maybe_unused]] View data) {{\n{}}}\n",
                    attacks[i].name, attacks[i].text);
    choices += fmt::format("    case {}: say(\"tried {}\"); attack_{}(rank, data); break;\n", i + kFirstCount,
                           attacks[i].name, attacks[i].name);
  }
  return functions + "void sum_up(Rank& rank, View data) {\n  switch (data.size()) {\n" + choices + "  }\n}\n";
}

}  // namespace

AttackFolder::AttackFolder() {
  std::string pattern = (fs::temp_directory_path() / "shardlings-attack-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no folder for temporary files");
  path_ = pattern;
  fs::permissions(path_, fs::perms::others_exec | fs::perms::others_read, fs::perm_options::add);
}

AttackFolder::~AttackFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

AttackPrograms::AttackPrograms(std::string canary)
    : toolchain_(grading::build::load_toolchain(SHARDLINGS_TEST_BUILD)), canary_(std::move(canary)) {
  const std::string header = folder_.path() + "/attacker.h";
  std::ofstream(header) << "#pragma once\n#include \"attacks/jail/attacker.h\"\n";
  compile({"-x", "c++-header", header, "-o", header + ".gch"});  // saves time, if it works
}

grading::run::ProcessEnd AttackPrograms::compile(const std::vector<std::string>& what) const {
  std::vector<std::string> arguments = toolchain_.compile_flags;
  for (const std::string& folder : toolchain_.include_folders) arguments.push_back("-I" + folder);
  arguments.insert(arguments.end(), {"-I" SHARDLINGS_SOURCE_FOLDER "/runtime", "-I" SHARDLINGS_SOURCE_FOLDER "/tests",
                                     "-DCANARY=\"" + canary_ + "\"", fmt::format("-DBUILDER={}", getuid()),
                                     fmt::format("-DIS_ROOT={}", geteuid() == 0), "-w"});
  arguments.insert(arguments.end(), what.begin(), what.end());
  return run_tool(toolchain_, arguments);
}

AttackPrograms::Program AttackPrograms::build(const std::string& name, const std::string& text) const {
  const std::string source = folder_.path() + "/" + name + ".cpp", object = source + ".o";
  std::ofstream(source) << "#include \"attacker.h\"\n" << text;
  Program program;
  const grading::run::ProcessEnd compiled = compile({"-c", source, "-o", object});
  program.log = compiled.output;
  if (!succeeded(compiled)) return program;
  std::vector<std::string> link = toolchain_.jail_link_flags;
  link.insert(link.end(), {toolchain_.puzzle("50_sum").beside, object, "-Wl,-z,relro", "-o", source + ".jail"});
  link.insert(link.end(), toolchain_.jail_libraries.begin(), toolchain_.jail_libraries.end());
  const grading::run::ProcessEnd linked = run_tool(toolchain_, link);
  program.log += linked.output;
  if (succeeded(linked)) program.path = source + ".jail";
  return program;
}

AttackPrograms::Program AttackPrograms::overhearing(const Toolchain::Puzzle& puzzle, const std::string& source,
                                                    std::uint64_t number) const {
  const std::string base = folder_.path() + "/overhearing", ear = base + ".ear.o", object = base + ".o";
  Program program;
  for (const std::vector<std::string>& what :
       {std::vector<std::string>{"-c", source, "-o", object},
        {fmt::format("-DHEARD={}ULL", number), "-c", SHARDLINGS_ATTACKS "/jail/overhearing.cpp", "-o", ear}}) {
    const grading::run::ProcessEnd compiled = compile(what);
    program.log += compiled.output;
    if (!succeeded(compiled)) return program;
  }
  std::vector<std::string> link = toolchain_.jail_link_flags;
  link.insert(link.end(), {puzzle.beside, object, ear, "-Wl,--wrap=_ZN10shardlings8boundary7Mailbox5awaitEv", "-o",
                           base + ".jail"});
  link.insert(link.end(), toolchain_.jail_libraries.begin(), toolchain_.jail_libraries.end());
  const grading::run::ProcessEnd linked = run_tool(toolchain_, link);
  program.log += linked.output;
  if (succeeded(linked)) program.path = base + ".jail";
  return program;
}

const AttackPrograms::Program& AttackPrograms::build_shared(const std::string& file,
                                                            const std::vector<Attack>& attacks) {
  const std::string name = fs::path(file).stem().string();
  const auto known = built_.find(name);
  return known != built_.end() ? known->second : built_.emplace(name, build(name, shared_text(attacks))).first->second;
}

AttackPrograms::Program AttackPrograms::of(const Attack& attack) {
  if (fs::path(attack.file).filename() == "startup.txt") {
    const bool has_function = attack.text.find("sum_up(") != std::string::npos;
    Program program = build(attack.name, attack.text + (has_function ? "" : "void sum_up(Rank&, View) {}\n"));
    program.mark = "constructor";
    return program;
  }
  const std::vector<Attack> together = load_attacks(attack.file);
  Program program = build_shared(attack.file, together);
  const auto found =
      std::find_if(together.begin(), together.end(), [&](const Attack& one) { return one.name == attack.name; });
  program.index = static_cast<int>(found - together.begin());
  program.mark = attack.name;
  return program;
}

AttackPrograms::Program AttackPrograms::honest() {
  return of(load_attacks(kHonestInJails).front());
}

}  // namespace shardlings::attacks
