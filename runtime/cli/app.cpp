#include "cli/app.h"

#include <functional>
#include <memory>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "base/suggest.h"
#include "cli/error.h"
#include "cli/verbs.h"

namespace shardlings::cli {

namespace {

/// What was asked for: the chosen verb with its options, ready to be called.
struct Request {
  std::function<int(const Context&)> verb = verbs::overview;
  ColourChoice colour = ColourChoice::automatic;
  bool ascii = false;
};

/// Adds a verb whose options live as long as the command line does.
template <typename Options>
std::pair<CLI::App*, std::shared_ptr<Options>> add_verb(CLI::App& app, Request& request, const char* name,
                                                        const char* meaning,
                                                        int (*function)(const Context&, const Options&)) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = app.add_subcommand(name, meaning);
  verb->fallthrough();
  verb->callback([&request, options, function] {
    request.verb = [options, function](const Context& context) { return function(context, *options); };
  });
  return {verb, options};
}

constexpr const char* kPuzzle = "number, id or a part of the name; without one: the next puzzle";
constexpr const char* kLastPuzzle = "number, id or a part of the name; without one: the one that was run last";
constexpr const char* kNamedPuzzle = "number, id or a part of the name";
constexpr const char* kJson = "print JSON, for programs";

void add_backend(CLI::App* verb, std::string& backend) {
  verb->add_option("--backend", backend,
                   "cpu, cuda (ranks share a GPU), nccl (a GPU for each rank) or auto; without it: SHARDLINGS_BACKEND, "
                   "or cpu");
}

void add_learner_verbs(CLI::App& app, Request& request) {
  {
    auto [verb, options] =
        add_verb<verbs::ListOptions>(app, request, "list", "chapters and puzzles, what is solved, points", verbs::list);
    verb->add_flag("--json", options->json, kJson);
  }
  {
    auto [verb, options] = add_verb<verbs::RunOptions>(app, request, "run", "build and grade one puzzle", verbs::run);
    verb->add_option("PUZZLE", options->puzzle, kPuzzle);
    verb->add_option("--case", options->case_name, "only the case of that name");
    verb->add_option("--seed", options->seed, "another seed than the cases' own");
    CLI::Option* file = verb->add_option("--file", options->file, "grade another file as that puzzle");
    verb->add_option("--mutant", options->mutant, "for authors: grade the wrong solution of that name")->excludes(file);
    verb->add_flag("--json", options->json, "print the neutral result as JSON");
    verb->add_option("--export", options->exports, "junit or gradescope, into a file if one is named: junit=out.xml")
        ->type_name("FORMAT[=FILE]")
        ->allow_extra_args(false);
    add_backend(verb, options->backend);
    verb->add_flag("-v,--verbose", options->verbose, "every failed case, and what the program printed");
  }
  {
    auto [verb, options] = add_verb<verbs::WatchOptions>(app, request, "watch", "grade on every save", verbs::watch);
    verb->add_option("PUZZLE", options->puzzle, kPuzzle);
    add_backend(verb, options->backend);
  }
  {
    auto [verb, options] =
        add_verb<verbs::TraceOptions>(app, request, "trace", "the last run, for the Perfetto viewer", verbs::trace);
    verb->add_option("PUZZLE", options->puzzle, kLastPuzzle);
    verb->add_option("--case", options->case_name, "another case than the one that the report shows");
    verb->add_option("--out", options->out, "file to write, - for standard output; without it: trace_<id>.json");
  }
  {
    auto [verb, options] = add_verb<verbs::HintOptions>(app, request, "hint", "the next hint", verbs::hint);
    verb->add_option("PUZZLE", options->puzzle, kPuzzle);
    verb->add_flag("--all", options->all, "those given so far; once solved, all of them");
    verb->add_flag("--json", options->json, kJson);
  }
  {
    auto [verb, options] =
        add_verb<verbs::ExplainOptions>(app, request, "explain", "the lesson, in the terminal", verbs::explain);
    verb->add_option("PUZZLE", options->puzzle, kPuzzle);
  }
  {
    auto [verb, options] =
        add_verb<verbs::ResetOptions>(app, request, "reset", "back to the stub; your file is kept", verbs::reset);
    verb->add_option("PUZZLE", options->puzzle, kNamedPuzzle)->required();
  }
  {
    auto [verb, options] =
        add_verb<verbs::SolutionOptions>(app, request, "solution", "the solution, once solved", verbs::solution);
    verb->add_option("PUZZLE", options->puzzle, kNamedPuzzle)->required();
    verb->add_flag("--spoil", options->spoil, "even if the puzzle is not solved");
  }
}

void add_memory_verb(CLI::App& app, Request& request) {
  constexpr Count kMost = 1 << 24;
  auto [verb, options] = add_verb<verbs::MemoryOptions>(
      app, request, "memory", "how much memory training a model takes, on each of many ranks", verbs::memory);
  verb->add_option("--model", options->models, "a named model, or layers=…,hidden=…,heads=…,vocabulary=…,sequence=…");
  verb->add_option("--parallel", options->parallel,
                   "dp=64,zero=3,shard=8,tp=8,sp,pp=4,v=2; what is left out is 1 (zero: 0)");
  verb->add_option("--precision", options->precision, "mixed, mixed-f32-grads or f32");
  verb->add_option("--optimizer", options->optimizer, "adam, momentum or sgd");
  verb->add_option("--recompute", options->recompute, "none, selective or full");
  verb->add_option("--kept-by", options->kept_by, "whose activations: megatron (with dropout) or shardlings");
  verb->add_option("--sequence", options->sequence, "tokens of a sequence; otherwise the model's")
      ->check(CLI::Range(Count{1}, kMost));
  verb->add_option("--micro-batch", options->micro_batch, "sequences of a micro-batch")
      ->check(CLI::Range(Count{1}, kMost));
  verb->add_option("--micro-batches", options->micro_batches, "of a step, for pipelines")
      ->check(CLI::Range(1, static_cast<int>(kMost)));
  verb->add_flag("--table", options->table, "states for N = 1 to 1024 ranks; the ZeRO paper's models if none is given");
  verb->add_flag("--models", options->list, "the named models and where their numbers come from");
  verb->add_flag("--json", options->json, kJson);
}

void add_train_verb(CLI::App& app, Request& request) {
  constexpr int kMost = 1 << 20;
  auto [verb, options] = add_verb<verbs::TrainOptions>(
      app, request, "train", "train a small GPT on a text, divided as you like", verbs::train);
  const auto number = [verb = verb](const char* name, auto& value, const char* meaning, int least = 1) {
    verb->add_option(name, value, meaning)->check(CLI::Range(least, kMost))->capture_default_str();
  };
  number("--tp", options->tp, "ranks that divide each layer");
  number("--pp", options->pp, "ranks of a pipeline");
  number("--vp", options->vp, "chunks of layers on each of them: virtual stages, interleaved");
  number("--dp", options->dp, "replicas, which divide the batch");
  number("--zero", options->zero, "stage of ZeRO over the replicas: 1", 0);
  verb->add_flag("--recompute", options->recompute, "compute activations again instead of keeping them");
  verb->add_flag("--mine", options->mine, "with your step: puzzles/33_three_d_parallel/puzzle.cpp");
  number("--layers", options->layers, "blocks of the model");
  number("--hidden", options->hidden, "its width");
  number("--heads", options->heads, "its heads");
  number("--sequence", options->sequence, "characters of a sequence");
  number("--batch", options->batch, "sequences of a step, over all replicas");
  verb->add_option("--micro-batches", options->micro_batches, "of each replica; without it: twice --pp")
      ->check(CLI::Range(1, kMost));
  number("--steps", options->steps, "steps in all, those of a checkpoint included");
  verb->add_option("--lr", options->lr, "learning rate of Adam")->check(CLI::PositiveNumber)->capture_default_str();
  verb->add_option("--clip", options->clip, "largest norm of the gradient")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--seed", options->seed, "of weights and batches")->capture_default_str();
  verb->add_option("--text", options->text, "a file to train on; without it: eight sonnets of Shakespeare");
  verb->add_option("--checkpoint", options->checkpoint, "file to go on from and to save in; without it: build/train/");
  verb->add_flag("--fresh", options->fresh, "begin anew, whatever the checkpoint holds");
  number("--save-every", options->save_every, "steps between two checkpoints");
  verb->add_option("--cluster", options->cluster, "whose virtual time and MFU to tell")->capture_default_str();
  verb->add_flag("--json", options->json, kJson);
}

void add_view_verbs(CLI::App& app, Request& request) {
  auto [verb, options] =
      add_verb<verbs::ViewOptions>(app, request, "view", "the last run as a page for the browser", verbs::view);
  verb->add_option("PUZZLE", options->puzzle, kLastPuzzle);
  verb->add_option("--case", options->case_name, "the case to begin with, instead of the one that the report shows");
  verb->add_option("--against", options->against, "beside it: LAST, the run before, or a file that --export wrote");
  verb->add_option("--run", options->run, "show a file that --export wrote instead of the last run");
  verb->add_option("--out", options->out, "file to write, - for standard output; without it: build/view/<id>.html");
  verb->add_option("--svg", options->svg, "write the timeline as a picture instead, - for standard output");
  verb->add_option("--export", options->to_file,
                   "write the run itself instead, to be compared with or shown elsewhere");
  verb->add_flag("--open", options->open, "open the page in the browser");
}

void add_author_verbs(CLI::App& app, Request& request) {
  {
    auto [verb, options] = add_verb<verbs::VerifyOptions>(
        app, request, "verify", "for authors: the solution passes, the stub is refused, every mutant is caught",
        verbs::verify);
    verb->add_option("PUZZLE", options->puzzles, "number, id or a part of the name; without one: all");
    verb->add_option("-j,--jobs", options->jobs, "submissions graded at once")->check(CLI::Range(1, 64));
    add_backend(verb, options->backend);
    verb->add_flag("--goals", options->goals, "write every goal.json and goal.svg anew from the solution's run");
    verb->add_flag("--json", options->json, kJson);
  }
  {
    auto [verb, options] =
        add_verb<verbs::NewOptions>(app, request, "new", "for authors: a puzzle from the template", verbs::new_puzzle);
    verb->add_option("PUZZLE", options->puzzle, "its folder's name, such as 42_my_puzzle")->required();
  }
  {
    auto [verb, options] = add_verb<verbs::DoctorOptions>(
        app, request, "doctor", "what is found and missing, and how to fix it", verbs::doctor);
    verb->add_flag("--json", options->json, kJson);
  }
  {
    auto [verb, options] = add_verb<verbs::TestOptions>(app, request, "test", "the project's own tests", verbs::test);
    verb->add_option("-R,--tests-regex", options->filter, "only tests with such a name");
  }
  {
    auto [verb, options] =
        add_verb<verbs::CheckOptions>(app, request, "check", "the outcome of one check, for ctest", verbs::check);
    verb->add_option("PUZZLE", options->puzzle, kNamedPuzzle)->required();
    verb->add_option("CHECK", options->check, "the check's id")->required();
    add_backend(verb, options->backend);
  }
}

ColourChoice colour_choice(const std::string& word) {
  if (word == "auto") return ColourChoice::automatic;
  if (word == "always") return ColourChoice::always;
  if (word == "never") return ColourChoice::never;
  throw CLI::ValidationError("--color", "takes auto, always or never, not " + word);
}

void describe(CLI::App& app, Request& request) {
  app.name("./shardlings");
  app.set_version_flag("--version", "shardlings " SHARDLINGS_VERSION);
  app.set_help_all_flag("--help-all", "the help of all commands");
  app.add_option_function<std::string>(
         "--color,--colour", [&request](const std::string& word) { request.colour = colour_choice(word); },
         "auto, always or never")
      ->option_text("WHEN");
  app.add_flag("--ascii", request.ascii, "no characters beyond ASCII (the default without a UTF-8 locale)");
  app.require_subcommand(0, 1);
  app.footer(
      "Exit status: 0 passed, 1 failed, 2 wrong use. A puzzle is named by its number, id or a part of its name.");
  add_learner_verbs(app, request);
  add_view_verbs(app, request);
  add_memory_verb(app, request);
  add_train_verb(app, request);
  add_author_verbs(app, request);
}

/// The verb among the arguments, for messages; empty if there is none.
std::string verb_of(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  return verbs.empty() ? std::string() : verbs[0]->get_name();
}

/// What the command line's library says, in words that tell what to do.
std::string explain_error(const CLI::App& app, const CLI::ParseError& error,
                          const std::vector<std::string>& arguments) {
  const std::string verb = verb_of(app);
  const std::string help = fmt::format("See ./shardlings {}--help.", verb.empty() ? "" : verb + " ");
  if (verb.empty() && !arguments.empty() && !arguments[0].starts_with("-")) {
    std::vector<std::string> names;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
      names.push_back(sub->get_name());
    const auto near = near_names(arguments[0], names);
    return fmt::format("There is no command \"{}\".{} {}", arguments[0],
                       near.empty() ? "" : fmt::format(" Did you mean {}?", fmt::join(near, " or ")), help);
  }
  const auto extras = app.remaining(true);
  if (!extras.empty() && dynamic_cast<const CLI::ExtrasError*>(&error)) {
    const char* kind = extras[0].starts_with("-") ? "option" : "argument";
    return fmt::format("{} has no {} {}. {}", verb.empty() ? "./shardlings" : verb, kind, extras[0], help);
  }
  return fmt::format("{}. {}", error.what(), help);
}

int call(const std::string& program, const Request& request, std::ostream& out, std::ostream& err) {
  try {
    Context context = make_context(system::find_project(program), out, err, request.colour);
    if (request.ascii) context.charset = report::Charset::ascii;
    const int status = request.verb(context);
    out.flush();
    return status;
  } catch (const std::exception& error) {
    err << error.what() << '\n';
    return kWrongUse;
  }
}

}  // namespace

int run_app(const std::string& program, const std::vector<std::string>& arguments, std::ostream& out,
            std::ostream& err) {
  CLI::App app("Puzzles on distributed training of neural networks");
  Request request;
  describe(app, request);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::Success& wish) {  // --help and --version
    app.exit(wish, out, err);
    return kPassed;
  } catch (const CLI::ParseError& error) {
    err << explain_error(app, error, arguments) << '\n';
    return kWrongUse;
  }
  return call(program, request, out, err);
}

}  // namespace shardlings::cli
