#include "cli/verbs/grade_class.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <ostream>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/learner/hidden_cases.h"
#include "cli/submissions/changes.h"
#include "cli/submissions/class_grading.h"
#include "cli/submissions/class_page.h"
#include "cli/terminal/progress_line.h"
#include "report/harmless.h"

namespace shardlings::cli::verbs {

namespace fs = std::filesystem;
using cases::Manifest;
using submissions::Gradebook;
using submissions::Mark;
using submissions::Outcome;

namespace {

/// A copy of the whole repository holds every puzzle's stub: that it lies there asks for no mark.
bool is_stub(const std::string& file, const std::vector<Manifest>& puzzles, const std::string& id) {
  const auto puzzle = std::find_if(puzzles.begin(), puzzles.end(), [&id](const Manifest& one) { return one.id == id; });
  std::error_code error;
  const std::string stub = puzzle->folder + "/puzzle.cpp";
  return fs::file_size(file, error) == fs::file_size(stub, error) && !error && read_file(file) == read_file(stub);
}

/// Without a choice, a puzzle counts once anybody has handed something of their own in.
std::vector<Manifest> handed_in(const std::vector<Manifest>& puzzles, const submissions::Submissions& all) {
  std::set<std::string> handed;
  for (const submissions::Student& student : all.students) {
    for (const submissions::Handed& file : student.files) {
      if (handed.contains(file.puzzle) || is_stub(file.file, puzzles, file.puzzle)) continue;
      handed.insert(file.puzzle);
    }
  }
  std::vector<Manifest> chosen;
  for (const Manifest& puzzle : puzzles) {
    if (handed.contains(puzzle.id)) chosen.push_back(puzzle);
  }
  return chosen;
}

/// One for each puzzle, or none at all. A puzzle without one would silently count nothing.
std::vector<double> weights_of(const learner::Course& course, const std::vector<Manifest>& puzzles,
                               const std::vector<std::string>& asked) {
  if (asked.empty()) return {};
  constexpr double kMost = 1e6;  // so that sums of them stay numbers
  std::vector<double> weights(puzzles.size(), -1);
  for (const std::string& text : asked) {
    const auto equals = text.find('=');
    double weight = -1;
    if (equals != std::string::npos) {
      const char* end = text.data() + text.size();
      const auto read = std::from_chars(text.data() + equals + 1, end, weight);
      if (read.ec != std::errc() || read.ptr != end || !(weight <= kMost)) weight = -1;
    }
    if (weight < 0) throw UsageError(fmt::format("--weights {}: write a puzzle and a number, as in 09=30.", text));
    const std::string id = course.find(text.substr(0, equals)).id;
    const auto at = std::find_if(puzzles.begin(), puzzles.end(), [&id](const Manifest& one) { return one.id == id; });
    if (at == puzzles.end()) throw UsageError(fmt::format("--weights {}: {} is not graded here.", text, id));
    if (weights[static_cast<std::size_t>(at - puzzles.begin())] >= 0) {
      throw UsageError(fmt::format("--weights {}: {} has a weight already.", text, id));
    }
    weights[static_cast<std::size_t>(at - puzzles.begin())] = weight;
  }
  for (std::size_t i = 0; i < puzzles.size(); ++i) {
    if (weights[i] >= 0) continue;
    throw UsageError(
        fmt::format("--weights: {} has none. Give each puzzle one, 0 for a puzzle that does not count: "
                    "--weights {}=0",
                    puzzles[i].id, learner::short_name(puzzles[i])));
  }
  return weights;
}

std::string without_slash(const std::string& folder) {
  const fs::path path = fs::absolute(folder).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).string();
}

std::optional<std::int64_t> due_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  if (const auto due = submissions::time_from(text)) return due;
  throw UsageError(fmt::format(
      "--due {}: write the time with its zone, as in 2026-12-01T18:00:00Z or 2026-12-01T18:00:00+01:00.", text));
}

void tell(const Context& context, const std::string& text) {
  context.err << report::harmless_line(text, context.charset) << '\n';
}

/// What was left out, so that nobody loses points by a name that was not understood.
void tell_of_left_out(const Context& context, const submissions::Submissions& all) {
  constexpr std::size_t kMostOfOne = 5;
  for (const std::string& what : all.left_out) tell(context, "left out: " + what);
  for (const submissions::Student& student : all.students) {
    const std::size_t told = std::min(student.left_out.size(), kMostOfOne);
    for (std::size_t i = 0; i < told; ++i) tell(context, "left out: " + student.left_out[i]);
    const std::size_t more = student.left_out.size() - told;
    if (more > 0) tell(context, fmt::format("left out: {} more files of {}", more, student.id));
  }
}

int count_of(const Gradebook& book, Outcome outcome) {
  int count = 0;
  for (const submissions::Row& row : book.rows) {
    count += static_cast<int>(std::count_if(row.marks.begin(), row.marks.end(),
                                            [outcome](const Mark& mark) { return mark.outcome == outcome; }));
  }
  return count;
}

/// The grading to compare with. It may be the one that this one replaces.
std::optional<Gradebook> earlier_of(const std::string& file) {
  if (file.empty()) return std::nullopt;
  const auto text = read_file(file);
  if (!text) throw UsageError(fmt::format("--diff: {} is no file that can be read.", file));
  try {
    return submissions::gradebook_from_json(*text);
  } catch (const std::runtime_error& error) {
    throw UsageError(fmt::format("--diff: {} is no results.json of an earlier grading: {}", file, error.what()));
  }
}

void print_changes(const Context& context, const Gradebook& book) {
  if (!book.changes) return;
  context.out << fmt::format("{} marks have changed\n", book.changes->size());
  for (const submissions::Change& one : *book.changes) {
    const std::string text =
        fmt::format("  {} {}: {} -> {} ({})", one.student, one.puzzle, one.before.empty() ? "nothing" : one.before,
                    one.now.empty() ? "nothing" : one.now, one.why);
    context.out << report::harmless_line(text, context.charset) << '\n';
  }
}

void print_summary(const Context& context, const Gradebook& book, const std::string& pace, const std::string& out) {
  std::string counts;
  for (const Outcome outcome : {Outcome::passed, Outcome::failed, Outcome::not_implemented, Outcome::did_not_build,
                                Outcome::missing, Outcome::not_judged}) {
    std::string word = submissions::kOutcomeWords.of(outcome);
    std::replace(word.begin(), word.end(), '_', ' ');
    if (const int count = count_of(book, outcome)) counts += fmt::format("  {:<16}{:>5}\n", word, count);
  }
  context.out << fmt::format("{} students, {} puzzles\n{}", book.rows.size(), book.puzzles.size(), counts);
  for (const submissions::Row& row : book.rows) {
    for (const Mark& mark : row.marks) {
      if (mark.outcome != Outcome::not_judged) continue;
      const std::string text = fmt::format("not judged: {} {}: {}", row.student, mark.puzzle, mark.reason);
      context.out << report::harmless_line(text, context.charset) << '\n';
    }
  }
  print_changes(context, book);
  if (!pace.empty()) context.out << pace << '\n';
  context.out << fmt::format("{0}/results.csv, {0}/results.json, {0}/class.html\n", system::shown_path(out));
}

}  // namespace

int grade_class(const Context& context, const std::string& asked, const ClassOptions& options,
                const ClassRules& rules) {
  const learner::Course course = learner::load_course(context.project);
  learner::tell_of_faulty(context, course);
  submissions::ClassGrading grading;
  grading.folder = without_slash(asked);
  grading.puzzles = learner::puzzles_named(course, options.puzzles);
  const std::string out = options.out.empty() ? grading.folder + ".graded" : without_slash(options.out);
  if ((out + "/").starts_with(grading.folder + "/")) {
    throw UsageError(
        fmt::format("--out {}: results among the submissions would be taken for a student's. Name a folder "
                    "elsewhere.",
                    options.out));
  }
  const submissions::Submissions all =
      submissions::read_submissions(grading.folder, out + "/unpacked", grading.puzzles);
  tell_of_left_out(context, all);
  if (options.puzzles.empty()) grading.puzzles = handed_in(grading.puzzles, all);
  if (grading.puzzles.empty()) {
    throw UsageError(
        fmt::format("Nobody in {} has handed in a puzzle. A file is for puzzle 09 if it is called 09.cpp, "
                    "or puzzle.cpp in a folder 09_data_parallel.",
                    asked));
  }
  grading.weights = weights_of(course, grading.puzzles, options.weights);
  grading.due_text = options.due;
  grading.due = due_of(options.due);
  if (!rules.seed_file.empty()) grading.secret = learner::secret_of(rules.seed_file);
  grading.at_once = options.jobs;
  grading.least_tier = rules.least_tier;
  const std::optional<Gradebook> earlier = earlier_of(options.diff);
  grading.kept = out + "/kept";
  // What one finds after a grading that was killed is never an older one's.
  for (const char* name : {"/results.csv", "/results.json", "/class.html"}) fs::remove(out + name);

  submissions::Progress last;
  Gradebook book;
  {
    terminal::ProgressLine line(context);
    line.show("grading");
    book = submissions::grade_class(context.project, grading, all, [&](const submissions::Progress& progress) {
      last = progress;
      line.show(to_text(progress));
    });
  }
  if (earlier) book.changes = changes_between(*earlier, book);
  write_file_atomically(out + "/results.json", to_json(book));
  write_file_atomically(out + "/results.csv", to_csv(book));
  write_file_atomically(out + "/class.html",
                        class_page(book, grading.puzzles, "Class: " + fs::path(grading.folder).filename().string()));
  for (const char* name : {"/results.csv", "/results.json", "/class.html"}) {  // marks are nobody else's affair
    fs::permissions(out + name, fs::perms::owner_read | fs::perms::owner_write);
  }
  if (rules.json) {
    context.out << to_json(book);
  } else {
    print_summary(context, book, submissions::pace_of(last, static_cast<int>(book.rows.size())), out);
  }
  return count_of(book, Outcome::not_judged) == 0 ? kPassed : kNotJudged;
}

void add_class_options(VerbOptions& verb, ClassOptions& options) {
  verb.each("--puzzles", options.puzzles, "PUZZLES",
            "of a folder: these puzzles, as in 09 or 01-13; without it: those that anybody has handed in");
  verb.each("--weights", options.weights, "PUZZLE=NUMBER", "of a folder: what all points of a puzzle count in the sum");
  verb.text("--due", options.due, "of a folder: what is late, as in 2026-12-01T18:00:00Z; points stay as they are");
  verb.text("--diff", options.diff, "of a folder: whose marks have changed since this results.json, and why");
  verb.text("--out", options.out, "of a folder: where results go; without it: FOLDER.graded");
  verb.number("-j,--jobs", options.jobs, "of a folder: submissions graded at once", {1, 64});
}

}  // namespace shardlings::cli::verbs
