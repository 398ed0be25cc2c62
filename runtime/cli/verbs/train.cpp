#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
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
#include "cli/verbs/verbs.h"
#include "grading/build/build_submission.h"
#include "grading/build/toolchain.h"
#include "grading/build_fault.h"
#include "grading/run/process.h"
#include "grading/run/supervisor.h"
#include "train/text.h"
#include "train/trainer.h"

namespace shardlings::cli::verbs {
namespace {

struct TrainOptions {
  int tp = 1, pp = 1, dp = 1;  ///< ranks of each axis
  int vp = 1;                  ///< chunks of layers on each rank of a pipeline
  int zero = 1;                ///< stage of ZeRO
  bool recompute = false;
  bool mine = false;  ///< with the learner's step
  int layers = 4;     ///< blocks
  Count hidden = 64;
  int heads = 4;
  Count sequence = 64;
  Count batch = 16;       ///< sequences of a step, over all replicas
  int micro_batches = 0;  ///< of each replica; 0: twice the ranks of a pipeline, as far as the batch can be cut so
  int steps = 300;
  float lr = 3e-3F;
  float clip = 1.0F;
  std::uint64_t seed = 1;
  std::string text;        ///< path; empty: the one that comes with the project
  std::string checkpoint;  ///< path; empty: below the build folder
  bool fresh = false;      ///< begin anew where there is one
  int save_every = 50;     ///< steps
  std::string cluster = "dgx_h100";
  bool json = false;
};

namespace fs = std::filesystem;
using train::Settings;
using Clock = std::chrono::steady_clock;

constexpr const char* kPuzzle = "33_three_d_parallel";

void check_layout(const TrainOptions& options) {
  if (options.zero != 1) {
    throw UsageError(
        "The step of puzzle 33 divides the optimizer's states over the replicas: --zero 1 is all it does.");
  }
  // Three factors of up to 2^20 each: two fit into a Count, and three once the first two have been found small enough.
  const Count of_replica = Count{options.tp} * options.pp;
  if (of_replica > train::kMostRanks || of_replica * options.dp > train::kMostRanks) {
    throw UsageError(fmt::format("--tp {} times --pp {} times --dp {} are more than {} ranks.", options.tp, options.pp,
                                 options.dp, train::kMostRanks));
  }
  if (options.tp > options.heads) {
    throw UsageError(fmt::format("{} heads cannot be divided over --tp {}. Give it more: --heads {}.", options.heads,
                                 options.tp, options.tp));
  }
  if (options.vp > 1 && options.pp == 1) {
    throw UsageError(fmt::format(
        "--vp {} divides what each rank of a pipeline has, and --pp 1 is no pipeline. Give it more ranks: --pp 2.",
        options.vp));
  }
  const std::int64_t layers = options.layers + 2, stages = std::int64_t{options.pp} * options.vp;
  if (stages > layers) {
    throw UsageError(
        fmt::format("A model of {} blocks, embedding and head cannot be cut into {} stages. Give it more "
                    "blocks: --layers {}.",
                    options.layers, stages, stages - 2));
  }
  if (options.hidden % options.heads != 0) {
    throw UsageError(fmt::format("--hidden {} cannot be divided into {} heads.", options.hidden, options.heads));
  }
}

/// A pipeline of chunks takes its micro-batches in groups, one for each rank.
int group_of_micro_batches(const TrainOptions& options) {
  return options.vp > 1 ? options.pp : 1;
}

/// Micro-batches of each replica: as many as were asked for, or twice the ranks of a pipeline if the batch allows it.
int micro_batches_of(const TrainOptions& options) {
  if (options.batch % options.dp != 0) {
    throw UsageError(
        fmt::format("--batch {} sequences cannot be dealt out to --dp {} replicas.", options.batch, options.dp));
  }
  const Count of_replica = options.batch / options.dp;
  const int group = group_of_micro_batches(options);
  if (options.micro_batches > 0) {
    if (options.micro_batches % group != 0) {
      throw UsageError(
          fmt::format("With --vp {} the number of micro-batches is a multiple of --pp {}, which {} is not.", options.vp,
                      options.pp, options.micro_batches));
    }
    if (of_replica % options.micro_batches == 0) return options.micro_batches;
    throw UsageError(fmt::format("The {} sequences of a replica cannot be cut into {} micro-batches.", of_replica,
                                 options.micro_batches));
  }
  int m = options.pp == 1 ? 1 : static_cast<int>(std::min<Count>(2 * options.pp, of_replica));
  while (m > 0 && (m % group != 0 || of_replica % m != 0)) --m;
  if (m > 0) return m;
  throw UsageError(fmt::format(
      "With --vp {} the number of micro-batches is a multiple of --pp {}, and the {} sequences of a replica "
      "cannot be cut so. Give it another batch: --batch {}.",
      options.vp, options.pp, of_replica, 2 * options.pp * options.dp));
}

model::ModelSpec model_of(const TrainOptions& options, const train::Text& text) {
  model::ModelSpec model;
  model.family = model::ModelSpec::Family::gpt;
  model.layers = options.layers;
  model.hidden = options.hidden;
  model.heads = options.heads;
  model.sequence = options.sequence;
  model.outputs = text.vocabulary();
  model.tied = true;
  model.optimizer = model::ModelSpec::Optimizer::adam;
  model.lr = options.lr;
  model.eps = 1e-8F;
  model.clip = options.clip;
  return model;
}

Settings settings_of(const Context& context, const TrainOptions& options) {
  check_layout(options);
  Settings settings;
  settings.layout = {options.tp, options.pp, options.dp, options.recompute, options.vp};
  settings.text =
      options.text.empty() ? context.project.root + "/runtime/train/text.txt" : fs::absolute(options.text).string();
  const train::Text text = train::Text::read(settings.text);
  cases::Case& kase = settings.kase;
  kase.puzzle = kPuzzle;
  kase.name = "train";
  kase.ranks = settings.layout.ranks();
  kase.model = model_of(options, text);
  kase.micro_batches = micro_batches_of(options);
  kase.batch = options.batch / options.dp / kase.micro_batches;
  kase.batches = options.dp;
  kase.steps = options.steps;
  kase.seed = options.seed;
  kase.cluster = front::load_cluster(context.project.clusters(), options.cluster);
  kase.capacity = kase.cluster.device_memory;
  settings.checkpoint =
      fs::absolute(options.checkpoint.empty() ? context.project.build + "/train/checkpoint" : options.checkpoint)
          .string();
  settings.fresh = options.fresh;
  settings.save_every = options.save_every;
  return settings;
}

/// The learner's own step, made into a program that trains.
std::string build_mine(const Context& context, const std::string& folder) {
  grading::build::Toolchain toolchain = grading::build::load_toolchain(context.project.build);
  toolchain.puzzle(kPuzzle);  // known, or said what to do
  // Linked like a submission, but with the trainer in the place of the harness.
  toolchain.puzzles[kPuzzle].harness = toolchain.train_object;
  toolchain.main_object.clear();
  const std::string source = context.project.puzzle_file(kPuzzle);
  terminal::ProgressLine line(context);
  line.show("building your step");
  grading::build::BuildOutcome built;
  try {
    built = grading::build::build_submission(toolchain, kPuzzle, source,
                                             context.project.puzzle_folder(kPuzzle) + "/harness.cpp", folder);
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

std::string program_of(const Context& context, const TrainOptions& options, const std::string& folder) {
  if (options.mine) return build_mine(context, folder);
  std::string program = context.project.build + "/bin/shardlings_train";
  if (fs::exists(program)) return program;
  throw UsageError(
      "This course came without solutions, and so without a step to train with. Solve puzzle 33, then: "
      "./shardlings train --mine");
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

grading::run::ProcessEnd run_training(const Context& context, terminal::SignalEvents& signals,
                                      terminal::TrainConversation& conversation, const std::string& program,
                                      const std::string& settings_file, int notes) {
  grading::run::ProcessOptions process;
  process.program = program;
  process.arguments = {settings_file, notes >= 0 ? "3" : "", conversation.mark()};
  process.file = notes;
  process.environment = grading::run::clean_environment("/");
  process.has_input = true;
  process.kept_output = 0;
  process.on_output = [&](std::string_view output) { conversation.listen(output); };
  grading::run::Process running(process);
  const StopOnSignal stop(context, signals, running, conversation);
  return running.wait();
}

/// For the supervisor, to whom the ranks are those of a case.
cases::Case case_of_ranks(const Settings& settings) {
  cases::Case kase = settings.kase;
  kase.ranks = settings.layout.ranks();
  return kase;
}

}  // namespace

/// `train`: a small GPT on a text, with the step of puzzle 33, in any layout.
static int train(const Context& context, const TrainOptions& options) {
  const Settings settings = settings_of(context, options);
  const OwnFolder folder(context.project.build + "/train/running");
  const std::string settings_file = folder.path() + "/settings.json";
  const std::string program = program_of(context, options, folder.path());
  write_file_atomically(settings_file, to_json(settings));
  terminal::SignalEvents signals;  // before any thread is there: all of them leave signals to it
  terminal::TrainConversation conversation(context, settings, options.json);
  const grading::run::Witness witness(case_of_ranks(settings));
  const grading::run::ProcessEnd end =
      run_training(context, signals, conversation, program, settings_file, witness.file());
  terminal::TrainReport& report = conversation.finish();
  if (!end.started) throw MachineFault(with_advice("cannot start " + program, end.error_number));
  if (!report.has_ended()) {
    const wire::Result how = witness.explain(program, end);
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
  verb.flag("--json", options.json, kJsonMeaning);
}

}  // namespace shardlings::cli::verbs
