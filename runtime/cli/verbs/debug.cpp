#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "base/file.h"
#include "base/machine_fault.h"
#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/system/program.h"
#include "cli/terminal/progress_line.h"
#include "cli/verbs/verbs.h"
#include "grading/build/kept_build.h"
#include "grading/run/process.h"
#include "grading/run/supervisor.h"

namespace shardlings::cli::verbs {

namespace build = grading::build;
namespace fs = std::filesystem;

namespace {

struct DebugOptions {
  std::string puzzle;
  std::string case_name;              ///< empty: the first one
  std::string rank;                   ///< empty: every rank stops
  std::string file;                   ///< empty: the learner's own
  bool batch = false;                 ///< do not wait for anybody
  std::vector<std::string> commands;  ///< for gdb, once it has stopped
};

const cases::Case& chosen_case(const cases::Manifest& puzzle, const std::string& name) {
  if (name.empty()) return puzzle.cases.front();
  if (const cases::Case* found = puzzle.find_case(name)) return *found;
  std::string message = fmt::format("Puzzle {} has no case \"{}\". It has:", puzzle.id, name);
  for (const cases::Case& kase : puzzle.cases) message += "\n  " + kase.name;
  throw UsageError(message);
}

/// -1: none was asked for.
int chosen_rank(const cases::Case& kase, const std::string& text) {
  if (text.empty()) return -1;
  for (int rank = 0; rank < kase.ranks; ++rank) {
    if (text == std::to_string(rank)) return rank;
  }
  throw UsageError(fmt::format("--rank {}: the case \"{}\" has ranks 0 to {}.", text, kase.name, kase.ranks - 1));
}

/// Apart from what is graded.
build::BuildOutcome built(const Context& context, const cases::Manifest& puzzle, const build::SourceCopy& source) {
  terminal::ProgressLine line(context);
  build::BuildOptions how;
  how.for_debugger = true;
  return build::kept_build({context.project.build, "debugged", puzzle.id, context.project.puzzle_folder(puzzle.id)},
                           source, how, [&line] { line.show("building for the debugger"); });
}

/// What gdb does by itself: a breakpoint at each function of the learner's, and the run. The rank that runs on the main
/// thread is rank 0, and the others' threads are started in their order, before any of them begins.
std::vector<std::string> first_commands(const cases::Manifest& puzzle, const build::SourceCopy& source, int rank,
                                        const std::string& harness) {
  std::vector<std::string> commands = {"set startup-with-shell off", "set confirm off"};
  const std::string condition = rank < 0 ? "" : fmt::format(" if $_thread == {}", rank + 1);
  for (const std::string& function : build::learner_functions(harness)) {
    if (source.text.find(function + "(") == std::string::npos) continue;
    commands.push_back(fmt::format("break -source {} -function {}{}", source.name, function, condition));
  }
  if (commands.size() == 2)
    throw UsageError(fmt::format("{} has none of the functions of {}.", source.path, puzzle.id));
  for (const std::string& variable : grading::run::clean_environment("/")) {
    const auto equals = variable.find('=');
    const std::string name = variable.substr(0, equals);
    if (name == "PATH" || name == "HOME") continue;
    commands.push_back(fmt::format("set environment {} {}", name, variable.substr(equals + 1)));
  }
  commands.push_back("run");
  return commands;
}

std::vector<std::string> gdb_arguments(const std::vector<std::string>& commands, bool batch, const std::string& program,
                                       int case_file) {
  std::vector<std::string> arguments = {"-q", "-iex", "set debuginfod enabled off"};
  if (batch) arguments.insert(arguments.end(), {"-nx", "-batch", "-iex", "set pagination off"});
  for (const std::string& command : commands) arguments.insert(arguments.end(), {"-ex", command});
  arguments.insert(arguments.end(), {"--args", program, std::to_string(case_file), "cpu"});
  return arguments;
}

/// Nobody is asked anything: gdb does what it was told and ends. A program without end is ended, too.
int run_batch(const Context& context, const std::string& gdb, const std::vector<std::string>& commands,
              const std::string& program, const grading::run::Witness& witness) {
  constexpr int kDescriptor = 3;  // which a Process gives its file
  grading::run::ProcessOptions options;
  options.program = gdb;
  options.arguments = gdb_arguments(commands, true, program, kDescriptor);
  options.environment = grading::run::clean_environment("/");
  options.file = witness.file();
  options.on_output = [&context](std::string_view output) { context.out << output << std::flush; };
  options.limits.wall_seconds = 300;
  const grading::run::ProcessEnd end = grading::run::run_process(options);
  if (!end.started) throw MachineFault(with_advice("gdb could not be started", end.error_number));
  if (end.killed == grading::run::Kill::none) return kPassed;
  context.err << "gdb did not come to its end in five minutes, and was stopped.\n";
  return kNotJudged;
}

/// This process becomes gdb, so that the keys of the terminal are its own.
[[noreturn]] void become_gdb(const std::string& gdb, const std::vector<std::string>& commands,
                             const std::string& program, const grading::run::Witness& witness) {
  const int inherited = fcntl(witness.file(), F_DUPFD, 3);  // NOLINT: it is to be inherited
  if (inherited < 0) throw MachineFault(with_advice("there is no room for the case's files", errno));
  std::vector<std::string> command = gdb_arguments(commands, false, program, inherited);
  command.insert(command.begin(), gdb);
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  execv(gdb.c_str(), words.data());
  throw MachineFault(with_advice("gdb could not be started", errno));
}

}  // namespace

/// `debug`: one case under gdb, stopped at the learner's function.
static int debug(const Context& context, const DebugOptions& options) {
  const learner::Course course = learner::load_course(context.project);
  const cases::Manifest& puzzle =
      learner::named_or_next(course, options.puzzle, learner::load_progress(context.project.state()));
  const cases::Case& kase = chosen_case(puzzle, options.case_name);
  const int rank = chosen_rank(kase, options.rank);
  const std::string gdb = system::program_path("gdb");
  if (gdb.empty()) {
    context.err << "debug runs gdb, which is not on the PATH. To have it: sudo apt install gdb (Debian, Ubuntu), or "
                   "sudo dnf install gdb (Fedora).\n";
    return kNotJudged;
  }
  const std::string path = options.file.empty() ? context.project.puzzle_file(puzzle.id) : options.file;
  const build::SourceCopy source = build::copy_source(fs::absolute(path).string());
  const std::string harness = read_whole_file(context.project.puzzle_folder(puzzle.id) + "/harness.cpp");
  std::vector<std::string> commands = first_commands(puzzle, source, rank, harness);
  const build::BuildOutcome outcome = built(context, puzzle, source);
  if (!outcome.built) {
    context.out << outcome.log;
    return kFailed;
  }
  const grading::run::Witness witness(kase);
  if (witness.file() < 0) throw MachineFault("there is no room in memory for the case's files");
  const bool batch = options.batch || isatty(STDIN_FILENO) == 0 || !context.interactive;
  commands.insert(commands.end(), options.commands.begin(), options.commands.end());
  if (batch && options.commands.empty()) commands.emplace_back("backtrace");
  if (batch) return run_batch(context, gdb, commands, outcome.program, witness);
  context.out << std::flush;
  become_gdb(gdb, commands, outcome.program, witness);
}

void add_debug(CommandLine& line) {
  auto [options, verb] = line.verb<DebugOptions>("debug", "one case under gdb, stopped at your function", debug);
  verb.positional("PUZZLE", options.puzzle, kPuzzleMeaning);
  verb.text("--case", options.case_name, "the case of that name; without it: the first one");
  verb.text("--rank", options.rank, "stop this rank only; without it: whichever comes first");
  verb.text("--file", options.file, "another file as that puzzle");
  verb.each("--command", options.commands, "COMMAND", "for gdb, once it has stopped: bt, 'info threads'");
  verb.flag("--batch", options.batch, "wait for nobody: print what the commands say, and end");
}

}  // namespace shardlings::cli::verbs
