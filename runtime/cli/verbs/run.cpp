#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <stdexcept>

#include <fmt/format.h>

#include "base/hash.h"
#include "base/text.h"
#include "case/case_numbers.h"
#include "cli/author/variants.h"
#include "cli/error.h"
#include "cli/kit/stubs.h"
#include "cli/learner/course.h"
#include "cli/learner/export.h"
#include "cli/learner/goal_picture.h"
#include "cli/learner/hidden_cases.h"
#include "cli/learner/outcome.h"
#include "cli/learner/record.h"
#include "cli/system/unfinished_build.h"
#include "cli/terminal/progress_line.h"
#include "cli/verbs/backend_option.h"
#include "cli/verbs/run.h"
#include "cli/verbs/verbs.h"
#include "grading/grade.h"
#include "grading/judge/judge.h"
#include "report/terminal.h"

namespace shardlings::cli::verbs {

using cases::Manifest;
using grading::verdict::Verdict;

namespace {

std::string to_text(grading::Phase phase) {
  switch (phase) {
    case grading::Phase::waiting: return "waiting for another run";
    case grading::Phase::building: return "building";
    case grading::Phase::running: return "running";
    case grading::Phase::done: return "";
  }
  return "";
}

using Say = std::function<void(const std::string&)>;

/// Those that were asked for; empty: all.
std::vector<std::string> names_of_cases(const Manifest& puzzle, const RunOptions& options) {
  if (!options.case_name.empty()) return {options.case_name};
  const cases::Milestone* milestone = learner::milestone_named(puzzle, options.puzzle);
  return milestone == nullptr ? std::vector<std::string>() : milestone->cases;
}

/// Only some of the cases are judged: by that nothing is passed, and there are no points.
bool leaves_cases_out(const Manifest& puzzle, const RunOptions& options) {
  const std::size_t asked = names_of_cases(puzzle, options).size();
  return asked > 0 && asked < puzzle.cases.size();
}

/// What becomes of it elsewhere is the mark of a whole puzzle.
void check_exports(const Manifest& puzzle, const RunOptions& options, const std::vector<learner::Export>& exports) {
  if (exports.empty() || !leaves_cases_out(puzzle, options)) return;
  throw UsageError(fmt::format(
      "--export is the result of a whole puzzle, and {} of the {} cases of {} would be judged. Leave one of "
      "the two out.",
      names_of_cases(puzzle, options).size(), puzzle.cases.size(), puzzle.id));
}

/// As it is told to programs: what some cases hold is no pass.
Verdict for_programs(const Manifest& puzzle, const RunOptions& options, Verdict verdict) {
  if (!leaves_cases_out(puzzle, options)) return verdict;
  verdict.passed = false;
  verdict.points = 0;
  return verdict;
}

grading::GradeOptions grade_options(const Context& context, const Manifest& puzzle, const RunOptions& options,
                                    const grading::run::BackendChoice& choice, const Say& say) {
  grading::GradeOptions grade;
  grade.puzzle_folder = context.project.puzzle_folder(puzzle.id);
  grade.build_folder = context.project.build;
  grade.case_names = names_of_cases(puzzle, options);
  grade.seed = options.seed;
  grade.set = options.set;
  grade.backend = choice.backend;
  grade.mpi = choice.mpi;
  grade.jailed = options.jail;
  grade.least_tier = options.least_tier;
  grade.keep =
      options.hidden.tells_all() && options.set.empty();  // a case that was changed has no goal to compare with
  if (!options.seed_file.empty()) grade.secret = learner::secret_of(options.seed_file);
  grade.source =
      options.file.empty() ? context.project.puzzle_file(puzzle.id) : std::filesystem::absolute(options.file).string();
  grade.progress = [say](grading::Phase phase) { say(to_text(phase)); };
  grade.warn = [&context](const std::string& text) { context.err << text << '\n'; };
  grade.cases = [say](int done, int total) { say(fmt::format("running: {} of {} cases", done, total)); };
  return grade;
}

/// Grades, saying what it is at: to who asked for it, or on the error stream.
Verdict graded(const Context& context, const Manifest& puzzle, const RunOptions& options,
               const grading::run::BackendChoice& choice) {
  std::optional<terminal::ProgressLine> line;
  if (!options.progress) line.emplace(context);
  const Say say = line ? Say([&line](const std::string& text) { line->show(text); }) : options.progress;
  system::wait_until_built(context.project, puzzle.id, say);
  return grading::grade_puzzle(grade_options(context, puzzle, options, choice, say));
}

/// Those of the puzzle that were asked for.
std::vector<cases::Case> chosen_cases(const Manifest& puzzle, const RunOptions& options) {
  const std::vector<std::string> names = names_of_cases(puzzle, options);
  if (names.empty()) return puzzle.cases;
  std::vector<cases::Case> chosen;
  for (const std::string& name : names) chosen.push_back(*puzzle.find_case(name));
  return chosen;
}

/// The command that repeats a case names the file or the variant, if it was not the learner's own file, and numbers
/// that were changed.
Verdict with_file(Verdict verdict, const RunOptions& options) {
  std::string named;
  for (const std::string& text : options.set) named += " --set " + quoted_for_shell(text);
  if (!options.file.empty() && options.mutant.empty() && options.right.empty()) {
    named += " --file " + quoted_for_shell(options.file);
  }
  if (!options.mutant.empty()) named += " --mutant " + options.mutant;
  if (!options.right.empty()) named += " --right " + options.right;
  for (grading::verdict::CaseVerdict& kase : verdict.cases) {
    if (!kase.reproduce.empty()) kase.reproduce += named;
  }
  return verdict;
}

/// The file of the mutant or the right variant, where one was asked for.
RunOptions with_variant(const Context& context, const Manifest& puzzle, RunOptions options) {
  const auto written = [&](author::VariantKind kind, const std::string& name) {
    return author::write_variant_named(context.project, puzzle, kind, name);
  };
  if (!options.mutant.empty()) options.file = written(author::VariantKind::mutant, options.mutant);
  if (!options.right.empty()) options.file = written(author::VariantKind::right, options.right);
  return options;
}

void check_file(const std::string& file) {
  std::error_code error;
  if (file.empty() || std::filesystem::exists(file, error)) return;
  if (!error) throw UsageError("There is no file " + file + ".");
  const char* link =
      error == std::errc::too_many_symbolic_link_levels ? " It is a symbolic link that leads to itself." : "";
  throw UsageError(fmt::format("The file {} cannot be read: {}.{}", file, error.message(), link));
}

/// Other numbers are for one case: of one that is announced, everything may be changed.
RunOptions with_case(const Manifest& puzzle, RunOptions options) {
  if (options.set.empty()) return options;
  if (options.case_name.empty() && !puzzle.cases.empty()) options.case_name = puzzle.cases.front().name;
  const cases::Case* kase = puzzle.find_case(options.case_name);
  if (kase == nullptr) return options;  // check_options() says so
  cases::Case changed = *kase;
  try {
    for (const std::string& text : options.set) set_number(changed, cases::number_from("--set", text));
  } catch (const std::runtime_error& error) {
    throw UsageError(error.what());
  }
  return options;
}

void check_options(const Manifest& puzzle, const RunOptions& options) {
  check_file(options.file);
  if (options.case_name.empty() || puzzle.find_case(options.case_name)) return;
  std::string message = "Puzzle " + puzzle.id + " has no case \"" + options.case_name + "\". It has:";
  for (const cases::Case& kase : puzzle.cases) message += "\n  " + kase.name;
  throw UsageError(message);
}

/// That a run of another file is no progress, where nobody should think so; nothing where that is plain.
std::string words_on_another_file(const Context& context, const RunOptions& options, const Manifest& puzzle,
                                  const Verdict& verdict) {
  if (verdict.points == 0 || options.file.empty() || options.jail) return {};
  if (!options.mutant.empty() || !options.right.empty()) return {};
  const std::string own = system::shown_path(context.project.puzzle_file(puzzle.id));
  return "\n" + context.wrapped(fmt::format("This does not count as progress: it was {}. What passes as {} counts.",
                                            options.file, own));
}

/// Whose file it was taken for, where a file came without the number of a puzzle.
std::string words_on_the_puzzle(const Context& context, const RunOptions& asked, const Manifest& puzzle) {
  if (!asked.puzzle.empty() || asked.file.empty()) return {};
  return "\n" + context.wrapped(fmt::format(
                    "It was graded as {}, the next puzzle; for another one: ./shardlings run NUMBER --file {}",
                    learner::short_name(puzzle), quoted_for_shell(asked.file)));
}

/// Notes the run where it was the learner's file. A folder that cannot be written costs the note, not the verdict.
learner::Progress remember(const Context& context, const Manifest& puzzle, const RunOptions& options,
                           const Verdict& verdict, const std::string& hash) {
  const bool as_declared = options.case_name.empty() && !options.seed && options.seed_file.empty();
  const bool whole = as_declared && names_of_cases(puzzle, options).empty();
  const bool counts =
      options.file.empty() && options.set.empty() && verdict.status != grading::verdict::Status::not_judged;
  if (!counts) return learner::load_progress(context.project.state());
  try {
    return learner::update_progress(context.project.state(), [&](learner::Progress& progress) {
      learner::PuzzleProgress& past = progress.puzzles[puzzle.id];
      if (whole) {
        learner::remember_run(past, verdict, hash);
      } else {
        learner::remember_diagnoses(past, verdict);
      }
      if (as_declared) learner::remember_milestones(past, puzzle, verdict);
    });
  } catch (const std::runtime_error& error) {
    context.err << "Your progress could not be noted: " << error.what() << '\n';
    return learner::load_progress(context.project.state());
  }
}

/// What a run of the learner's own numbers is compared with; other numbers have no goal.
std::optional<Verdict> goal_of(const Context& context, const RunOptions& options, const Manifest& puzzle,
                               const Verdict& verdict) {
  const bool has_failed = verdict.status == grading::verdict::Status::graded && !verdict.passed;
  return has_failed && options.set.empty() ? learner::load_goal(context, puzzle) : std::nullopt;
}

/// "43b": the first milestone behind this one that asks for something by the check.
std::string milestone_that_asks(const Manifest& puzzle, const cases::Milestone& here, const std::string& check) {
  const auto asks = std::find_if(puzzle.milestones.begin(), puzzle.milestones.end(), [&](const auto& milestone) {
    return milestone.letter > here.letter && std::count(milestone.unasked.begin(), milestone.unasked.end(), check) == 0;
  });
  return asks == puzzle.milestones.end() ? puzzle.id : learner::short_name(puzzle) + asks->letter;
}

/// The report, for a screen on which `lines` are taken, if they are limited, and the whole one for who wants both.
void print_report(const Context& context, const RunOptions& options, const Manifest& puzzle, const Verdict& verdict,
                  const std::string& closing, int lines) {
  const std::optional<Verdict> goal = goal_of(context, options, puzzle, verdict);
  report::TerminalOptions shown;
  shown.goal = goal ? &*goal : nullptr;
  shown.title = puzzle.title;
  if (const cases::Milestone* milestone = learner::milestone_named(puzzle, options.puzzle);
      milestone && !milestone->cases.empty()) {
    shown.title = fmt::format("{}{} {}", learner::short_name(puzzle), milestone->letter, milestone->title);
    shown.points = false;
    shown.titles = milestone->titles;
    for (const std::string& id : milestone->unasked) shown.belongs[id] = milestone_that_asks(puzzle, *milestone, id);
  }
  shown.width = context.width;
  shown.colour = context.colour;
  shown.charset = context.charset;
  shown.verbose = options.verbose;
  if (options.whole != nullptr) *options.whole << report::terminal_report(verdict, shown) << closing;
  if (options.max_lines == 0) {
    context.out << report::terminal_report(verdict, shown) << closing;
    return;
  }
  const auto rows = [](const std::string& text) { return static_cast<int>(lines_of(text).size()); };
  const int room = options.max_lines - lines;
  shown.max_lines = std::max(room - rows(verdict.passed ? closing : ""), 1);
  const std::string text = report::terminal_report(verdict, shown);
  // On a screen with keys, one of them is the way to a hint.
  context.out << text << (verdict.passed || rows(text) + rows(closing) <= room ? closing : "");
}

void tell_of_newer_stub(const Context& context, const Manifest& puzzle) {
  const std::string words = kit::words_on_newer_stub(context.project, puzzle.id);
  if (!words.empty()) context.err << context.wrapped(words);
}

int status_of(const Verdict& verdict) {
  if (verdict.status == grading::verdict::Status::not_judged) return kNotJudged;
  return verdict.passed ? kPassed : kFailed;
}

/// What was asked for, once nothing in it is against anything else.
RunOptions checked(const Context& context, const Manifest& puzzle, const RunOptions& asked,
                   const std::vector<learner::Export>& exports) {
  RunOptions options = with_case(puzzle, with_variant(context, puzzle, asked));
  check_options(puzzle, options);
  check_exports(puzzle, options, exports);
  options.hidden = learner::feedback_of(puzzle, options.feedback);
  if (options.json && learner::takes_stdout(exports)) {
    throw UsageError("--json and an export cannot both go to standard output. Name a file: --export junit=results.xml");
  }
  return options;
}

/// The learner's own file on the cases as they are: what comes next depends on it.
bool is_own_run(const RunOptions& options) {
  return options.file.empty() && options.set.empty() && options.case_name.empty() && !options.seed &&
         options.seed_file.empty();
}

}  // namespace

int run(const Context& context, const RunOptions& asked) {
  const std::vector<learner::Export> exports = learner::exports_of(asked.exports);
  const learner::Course course = learner::load_course(context.project);
  learner::tell_of_faulty(context, course);
  const Manifest& puzzle =
      learner::named_or_next(course, asked.puzzle, learner::load_progress(context.project.state()));
  const RunOptions options = checked(context, puzzle, asked, exports);
  const auto choice = chosen_backend(context, options.backend, chosen_cases(puzzle, options));

  // The result that a reader finds is this grading's, even if it is killed: never the one before.
  const std::string file = options.file.empty() ? context.project.puzzle_file(puzzle.id) : options.file;
  learner::write_exports(learner::into_files(exports),
                         grading::judge::not_judged(puzzle, "the grading has not come to its end"), file, context.out);
  if (options.file.empty()) tell_of_newer_stub(context, puzzle);
  const std::string hash = file_hash(context.project.puzzle_file(puzzle.id));
  const learner::Graded about(context.project, puzzle.id, options.file, options.graded_for);
  Verdict verdict = graded(context, puzzle, options, choice);
  conceal(verdict, options.hidden);
  const learner::Progress progress = remember(context, puzzle, options, verdict, hash);

  const Verdict repeatable = with_file(verdict, options);
  const cases::Milestone* milestone = learner::milestone_named(puzzle, options.puzzle);
  const bool is_own = is_own_run(options);
  if (options.json) {
    context.out << about.beside(to_json(for_programs(puzzle, options, repeatable)),
                                is_own ? &progress.of(puzzle.id) : nullptr)
                << '\n';
  } else if (!learner::takes_stdout(exports)) {
    const bool of_milestone = milestone != nullptr && !milestone->cases.empty();
    const std::string closing =
        is_own && of_milestone ? learner::closing_words_of_milestone(context, puzzle, *milestone, verdict)
        : is_own
            ? learner::closing_words(context, course, puzzle, verdict, progress)
            : words_on_another_file(context, options, puzzle, verdict) + words_on_the_puzzle(context, asked, puzzle);
    print_report(context, options, puzzle, repeatable, closing, static_cast<int>(course.faulty().size()));
  }
  // Who reads them knows nothing of this machine's files.
  learner::write_exports(exports, learner::without_folders(std::move(verdict), context.project), file, context.out);
  return status_of(repeatable);
}

void add_grading_options(VerbOptions& verb, RunOptions& options) {
  verb.text("--case", options.case_name, "only the case of that name");
  verb.number("--seed", options.seed, "another seed than the cases' own");
  verb.text("--seed-file", options.seed_file,
            "a file with a secret, from which hidden cases get seeds that are not told");
  verb.excludes("--seed-file", "--seed");
  verb.each("--feedback", options.feedback, "[CASE=]LEVEL",
            "what is told of hidden cases, or of the one of that name: full, law (name and law that broke) or none");
  verb.flag("--json", options.json, "print the neutral result as JSON");
  verb.each("--export", options.exports, "FORMAT[=FILE]",
            "for other programs, into a file if one is named: junit=out.xml; also gradescope, autolab, classroom50, "
            "prairielearn, submitty");
  verb.flag("-v,--verbose", options.verbose, "every failed case, and what the program printed");
}

void add_run(CommandLine& line) {
  auto [options, verb] = line.verb<RunOptions>("run", "build and grade one puzzle", run);
  verb.positional("PUZZLE", options.puzzle, kPuzzleMeaning);
  add_grading_options(verb, options);
  verb.each("--set", options.set, "NAME=NUMBER", "play with a case: another value for one of its numbers");
  verb.text("--file", options.file, "grade another file as that puzzle");
  verb.text("--mutant", options.mutant, "for authors: grade the wrong solution of that name");
  verb.excludes("--mutant", "--file");
  verb.text("--right", options.right, "for authors: grade the other right solution of that name");
  verb.excludes("--right", "--file");
  verb.excludes("--right", "--mutant");
  add_backend_options(verb, options.backend);
  verb.flag("--jail", options.jail, kJailMeaning);
  verb.excludes("--jail", "--backend");
}

}  // namespace shardlings::cli::verbs
