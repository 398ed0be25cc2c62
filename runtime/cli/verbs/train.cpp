#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <thread>

#include <fmt/format.h>

#include "base/file.h"
#include "base/kept_files.h"
#include "base/machine_fault.h"
#include "cli/error.h"
#include "cli/terminal/progress_line.h"
#include "cli/terminal/terminal_mode.h"
#include "cli/terminal/train_conversation.h"
#include "cli/verbs/backend_option.h"
#include "cli/verbs/train_settings.h"
#include "cli/verbs/verbs.h"
#include "grading/build/build_submission.h"
#include "grading/build/toolchain.h"
#include "grading/build_fault.h"
#include "grading/run/crew_watch.h"
#include "grading/run/mpirun.h"
#include "grading/run/process.h"
#include "grading/run/supervisor.h"
#include "train/trainer.h"

namespace shardlings::cli::verbs {
namespace {

namespace fs = std::filesystem;
using train::Settings;
using Clock = std::chrono::steady_clock;

/// The learner's own step, made into a program that trains.
std::string build_mine(const Context& context, const ChosenStep& step, const std::string& folder) {
  grading::build::Toolchain toolchain = grading::build::load_toolchain(context.project.build);
  toolchain.puzzle(step.puzzle);  // known, or said what to do
  // Linked like a submission, but with the trainer in the place of the harness.
  toolchain.puzzles[step.puzzle].harness = toolchain.train_objects[cases::kTrainStepWords.of(step.form.step)];
  toolchain.main_object.clear();
  const std::string source = context.project.puzzle_file(step.puzzle);
  terminal::ProgressLine line(context);
  line.show("building your step");
  grading::build::BuildOutcome built;
  try {
    built = grading::build::build_submission(toolchain, step.puzzle, source,
                                             context.project.puzzle_folder(step.puzzle) + "/harness.cpp", folder);
  } catch (const std::runtime_error& error) {
    throw MachineFault(error.what());
  }
  line.end();
  if (built.built) return built.program;
  if (const std::string fault = grading::build_fault(built.log); !fault.empty()) throw MachineFault(fault);
  throw UsageError("Your step does not build:\n" + built.log);
}

/// A folder of this process, as others may train at the same time. Those of processes that were killed go in time.
class OwnFolder {
 public:
  explicit OwnFolder(const std::string& parent) : path_(fmt::format("{}/{}", parent, getpid())) {
    constexpr std::size_t kKept = 16;
    fs::create_directories(path_);
    prune_folders(parent, kKept);
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  ~OwnFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string program_of(const Context& context, const TrainOptions& options, const ChosenStep& step,
                       const std::string& folder) {
  if (options.mine || !options.puzzle.empty()) return build_mine(context, step, folder);
  std::string program = context.project.build + "/bin/shardlings_train";
  if (fs::exists(program)) return program;
  const std::string why = "This course came without solutions, and so without a step to train with. ";
  if (fs::exists(context.project.puzzle_folder("33_three_d_parallel"))) {
    throw UsageError(why + "Solve puzzle 33, then: ./shardlings train --mine");
  }
  throw UsageError(why +
                   "Puzzle 33, whose step trains in any layout, is none of its puzzles. What your step of another "
                   "puzzle does: ./shardlings train --puzzle 01");
}

/// Passes the wish to stop on to the program that trains, as long as this lives: it ends the step at work and saves. A
/// second wish means that the user does not want to wait; and a step that takes far longer than others does not end.
/// Then this process ends, and the program with it; its checkpoint is whole.
class StopOnSignal {
 public:
  StopOnSignal(const Context& context, terminal::SignalEvents& signals, grading::run::Process& process,
               const terminal::TrainConversation& conversation)
      : thread_([&context, &signals, &process, &conversation](const std::stop_token& ending) {
          int wish = 0;
          Clock::time_point since;
          while (!ending.stop_requested()) {
            constexpr int kMilliseconds = 200;
            pollfd event{signals.descriptor(), POLLIN, 0};
            const int signal = poll(&event, 1, kMilliseconds) > 0 ? signals.next() : 0;
            const bool is_wish = signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
            if (wish != 0 && is_wish) _exit(128 + signal);
            if (wish != 0 && conversation.is_silent(since)) {
              context.err << "\nThe step at work does not end. It is given up, and what was saved last is kept.\n"
                          << std::flush;
              _exit(128 + wish);
            }
            if (!is_wish || wish != 0) continue;
            wish = signal;
            since = Clock::now();
            process.say("stop\n");
          }
        }) {}

 private:
  std::jthread thread_;
};

/// The program that trains, with the file that it notes in.
grading::run::ProcessOptions one_process(const std::string& program, const std::string& settings_file, int notes,
                                         const std::string& mark) {
  grading::run::ProcessOptions process;
  process.program = program;
  process.arguments = {settings_file, notes >= 0 ? "3" : "", mark};
  process.file = notes;
  process.environment = grading::run::clean_environment("/");
  return process;
}

/// The same over several processes; `start`: how they are started.
grading::run::ProcessOptions many_processes(const std::string& start, const std::string& program,
                                            const std::string& settings_file, int notes,
                                            const terminal::TrainConversation& conversation,
                                            const grading::run::CrewWatch& watch) {
  grading::run::MpiLaunch launch;
  static_cast<grading::run::MpiStart&>(launch) = grading::run::start_from(start);
  launch.variables = {watch.variable()};
  launch.program = program;
  const std::string file = notes >= 0 ? fmt::format("/proc/{}/fd/{}", getpid(), notes) : "";
  launch.arguments = {settings_file, file, conversation.mark(), name_of(world::Backend::mpi)};
  return grading::run::mpirun_process(launch);
}

/// `wait`: for the program to end.
grading::run::ProcessEnd run_training(const Context& context, terminal::SignalEvents& signals,
                                      terminal::TrainConversation& conversation, grading::run::ProcessOptions process,
                                      const std::function<grading::run::ProcessEnd(grading::run::Process&)>& wait) {
  process.has_input = true;
  process.kept_output = 0;
  grading::run::Process* listened_to = nullptr;
  // Not in all: somebody may print a little in each of very many steps.
  const auto prints_without_end = [&] { return conversation.printed() > grading::run::default_limits(1).output_bytes; };
  process.on_output = [&](std::string_view output) {
    conversation.listen(output);
    if (prints_without_end()) listened_to->give_up();
  };
  grading::run::Process running(process);
  listened_to = &running;
  const StopOnSignal stop(context, signals, running, conversation);
  grading::run::ProcessEnd end = wait(running);
  if (prints_without_end()) end.killed = grading::run::Kill::output_limit;
  return end;
}

/// For the supervisor, to whom the ranks are those of a case.
cases::Case case_of_ranks(const Settings& settings) {
  cases::Case kase = settings.kase;
  kase.ranks = settings.layout.ranks();
  return kase;
}

}  // namespace

/// `train`: a small GPT on a text, with the step of puzzle 33, in any layout, or with the learner's of another puzzle.
static int train(const Context& context, const TrainOptions& options) {
  const ChosenStep step = train_step_of(context, options);
  const Settings settings = train_settings(context, options, step);
  const auto choice = chosen_backend(context, options.backend, {case_of_ranks(settings)});
  const bool is_mpi = choice.backend == world::Backend::mpi;
  if (!is_mpi && choice.backend != world::Backend::cpu) {
    throw UsageError(
        fmt::format("train computes on processors: --backend cpu or mpi, not {}.", name_of(choice.backend)));
  }
  const OwnFolder folder(context.project.build + "/train/running");
  const std::string settings_file = folder.path() + "/settings.json";
  const std::string program = program_of(context, options, step, folder.path());
  write_file_atomically(settings_file, to_json(settings));
  terminal::SignalEvents signals;  // before any thread is there: all of them leave signals to it
  terminal::TrainConversation conversation(context, settings, options.json);
  const grading::run::Witness witness(case_of_ranks(settings));
  std::optional<grading::run::CrewWatch> watch;
  if (is_mpi) {
    watch.emplace(grading::run::start_from(choice.mpi).processes);
    watch->watch(witness.file(), settings.layout.ranks());
  }
  const grading::run::ProcessEnd end = run_training(
      context, signals, conversation,
      is_mpi ? many_processes(choice.mpi, program, settings_file, witness.file(), conversation, *watch)
             : one_process(program, settings_file, witness.file(), conversation.mark()),
      [&](grading::run::Process& running) { return is_mpi ? wait_watched(running, *watch, program) : running.wait(); });
  terminal::TrainReport& report = conversation.finish();
  if (!end.started) throw MachineFault(with_advice("cannot start " + program, end.error_number));
  if (!report.has_ended()) {
    wire::Result how = witness.explain(program, end);
    const bool says_why = how.ending != wire::Ending::machine_fault || witness.has_noted_fault();
    if (const auto lost = watch ? watch->lost() : std::nullopt; lost && !says_why) {
      how.explanation =
          loss_text(*lost, grading::run::start_from(choice.mpi).processes, settings.layout.ranks(), how.last_words);
    }
    report.end_early(how.explanation, can_be_judged(how.ending) ? "failed" : "fault");
  }
  context.out << (options.json ? report.as_json() : context.wrapped(report.as_text()));
  return report.status();
}

void add_train(CommandLine& line) {
  constexpr Interval kAny = {1, 1 << 20};
  auto [options, verb] = line.verb<TrainOptions>("train", "train a small GPT on a text, divided as you like", train);
  verb.number("--tp", options.tp, "ranks that divide each layer", kAny, Default::shown);
  verb.number("--pp", options.pp, "ranks of a pipeline", kAny, Default::shown);
  verb.number("--vp", options.vp, "chunks of layers on each of them: virtual stages, interleaved", kAny,
              Default::shown);
  verb.number("--dp", options.dp, "replicas, which divide the batch", kAny, Default::shown);
  verb.number("--zero", options.zero, "stage of ZeRO over the replicas: 1", {0, kAny.most}, Default::shown);
  verb.flag("--recompute", options.recompute, "compute activations again instead of keeping them");
  verb.flag("--mine", options.mine, "with your step: puzzles/33_three_d_parallel/puzzle.cpp");
  verb.text("--puzzle", options.puzzle, "with your step of another puzzle: 02, 09, 11, 12 or 13");
  verb.number("--layers", options.layers, "blocks of the model", kAny, Default::shown);
  verb.number("--hidden", options.hidden, "its width", kAny, Default::shown);
  verb.number("--heads", options.heads, "its heads", kAny, Default::shown);
  verb.number("--sequence", options.sequence, "characters of a sequence", kAny, Default::shown);
  verb.number("--batch", options.batch, "sequences of a step, over all replicas", kAny, Default::shown);
  verb.number("--micro-batches", options.micro_batches, "of each replica; without it: twice --pp", kAny);
  verb.number("--steps", options.steps, "steps in all, those of a checkpoint included", {1, train::kMostSteps},
              Default::shown);
  verb.positive("--lr", options.lr, "learning rate of Adam");
  verb.positive("--clip", options.clip, "largest norm of the gradient");
  verb.number("--seed", options.seed, "of weights and batches");
  verb.text("--text", options.text, "a file to train on; without it: eight sonnets of Shakespeare");
  verb.text("--checkpoint", options.checkpoint, "file to go on from and to save in; without it: build/train/");
  verb.flag("--fresh", options.fresh, "begin anew, whatever the checkpoint holds");
  verb.number("--save-every", options.save_every, "steps between two checkpoints", kAny, Default::shown);
  verb.text("--cluster", options.cluster, "whose virtual time and MFU to tell", Default::shown);
  add_backend_options(verb, options.backend);
  verb.flag("--json", options.json, kJsonMeaning);
}

}  // namespace shardlings::cli::verbs
