#include "cli/verbs/grade_class.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <ostream>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/machine_fault.h"
#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/learner/hidden_cases.h"
#include "cli/submissions/changes.h"
#include "cli/submissions/class_grading.h"
#include "cli/submissions/class_page.h"
#include "cli/submissions/part.h"
#include "cli/submissions/roster.h"
#include "cli/terminal/progress_line.h"
#include "cli/verbs/class_summary.h"

namespace shardlings::cli::verbs {

namespace fs = std::filesystem;
using cases::Manifest;
using submissions::Gradebook;
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

std::vector<submissions::Enrolled> roster_of(const std::string& file) {
  const auto text = read_file(file);
  if (!text) throw UsageError(fmt::format("--roster: {} is no file that can be read.", file));
  return submissions::roster_from(*text, file);
}

/// Said once, and before anybody waits: a user of its own for each jail is root's to give.
void check_walls(int least_tier) {
  if (least_tier == 0 || geteuid() == 0) return;
  throw MachineFault(
      "Nothing was graded: only root can put up the walls that a stranger's code is run behind. Grade as root, for "
      "example in a container, or answer for all of the code yourself: add --trust.");
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

/// Where results go. Among the submissions they would be taken for a student's.
std::string results_folder(const std::string& submissions, const ClassOptions& options) {
  const std::string out = options.out.empty() ? submissions + ".graded" : without_slash(options.out);
  if (!(out + "/").starts_with(submissions + "/")) return out;
  throw UsageError(
      fmt::format("--out {}: results among the submissions would be taken for a student's. Name a folder "
                  "elsewhere.",
                  options.out));
}

/// Those that were asked for; without a choice, those that anybody has handed in.
std::vector<Manifest> graded_puzzles(std::vector<Manifest> puzzles, const submissions::Submissions& all,
                                     const std::string& asked, const ClassOptions& options) {
  if (options.puzzles.empty()) puzzles = handed_in(puzzles, all);
  if (!puzzles.empty()) return puzzles;
  throw UsageError(
      fmt::format("Nobody in {} has handed in a puzzle. A file is for puzzle 09 if it is called 09.cpp, "
                  "or puzzle.cpp in a folder 09_data_parallel.",
                  asked));
}

submissions::ClassGrading grading_of(const learner::Course& course, std::vector<Manifest> puzzles,
                                     const ClassOptions& options, const ClassRules& rules) {
  submissions::ClassGrading grading;
  grading.puzzles = std::move(puzzles);
  grading.weights = weights_of(course, grading.puzzles, options.weights);
  grading.due_text = options.due;
  grading.due = due_of(options.due);
  if (!rules.seed_file.empty()) grading.secret = learner::secret_of(rules.seed_file);
  grading.at_once = options.jobs;
  grading.least_tier = rules.least_tier;
  grading.bonus = !options.no_bonus;
  return grading;
}

/// Its files in that folder. Marks are nobody else's affair.
constexpr std::array kResultFiles = {"/results.csv", "/results.json", "/class.html"};

void write_results(const std::string& out, const Gradebook& book, const submissions::ClassGrading& grading,
                   const ClassOptions& options) {
  write_file_atomically(out + "/results.json", to_json(book));
  const std::string mark = options.byte_order_mark ? submissions::kByteOrderMark : "";
  write_file_atomically(out + "/results.csv", mark + to_csv(book));
  write_file_atomically(out + "/class.html",
                        class_page(book, grading.puzzles, "Class: " + fs::path(grading.folder).filename().string()));
  for (const char* name : kResultFiles) fs::permissions(out + name, fs::perms::owner_read | fs::perms::owner_write);
}

std::optional<submissions::Part> part_of(const ClassOptions& options, const ClassRules& rules) {
  if (options.part.empty()) return std::nullopt;
  if (rules.json) throw UsageError("--json prints the table, and --part makes none: leave one of them.");
  return submissions::part_from(options.part);
}

/// Parts are graded at the same time, and each opens the archives of the class.
std::string unpacked_folder(const std::string& out, const std::optional<submissions::Part>& part) {
  return out + "/unpacked" + (part ? fmt::format("_{}_of_{}", part->number, part->count) : "");
}

/// The gradebook, and how the grading stood when the last submission had been judged.
std::pair<Gradebook, submissions::Progress> graded_class(const Context& context,
                                                         const submissions::ClassGrading& grading,
                                                         const submissions::Submissions& all) {
  submissions::Progress last;
  terminal::ProgressLine line(context);
  line.show("grading");
  Gradebook book = submissions::grade_class(context.project, grading, all, [&](const submissions::Progress& progress) {
    last = progress;
    line.show(to_text(progress));
  });
  return {std::move(book), last};
}

int status_of(const Gradebook& book) {
  return submissions::count_of(book, Outcome::not_judged) == 0 ? kPassed : kNotJudged;
}

}  // namespace

int grade_class(const Context& context, const std::string& asked, const ClassOptions& options,
                const ClassRules& rules) {
  check_walls(rules.least_tier);
  const std::optional<submissions::Part> part = part_of(options, rules);
  const learner::Course course = learner::load_course(context.project);
  learner::tell_of_faulty(context, course);
  const std::string folder = without_slash(asked), out = results_folder(folder, options);
  std::vector<Manifest> puzzles = learner::puzzles_named(course, options.puzzles);
  const std::string unpacked = unpacked_folder(out, part);
  submissions::Submissions all = submissions::read_submissions(folder, unpacked, puzzles);
  const ClassSummary summary(context, all);
  summary.tell_of_left_out();
  if (!options.roster.empty()) summary.tell_of_strangers(enrol(all, roster_of(options.roster)), options.roster);
  submissions::ClassGrading grading =
      grading_of(course, graded_puzzles(std::move(puzzles), all, asked, options), options, rules);
  grading.folder = folder;
  grading.kept = out + "/kept";
  const std::optional<Gradebook> earlier = earlier_of(options.diff);
  if (part) {
    keep_part(all, *part);
    const auto [book, last] = graded_class(context, grading, all);
    summary.print_part(book, submissions::pace_of(last, static_cast<int>(book.rows.size())), *part);
    fs::remove_all(unpacked);
    return status_of(book);
  }
  // What one finds after a grading that was killed is never an older one's.
  for (const char* name : kResultFiles) fs::remove(out + name);

  auto [book, last] = graded_class(context, grading, all);
  if (earlier) book.changes = changes_between(*earlier, book);
  write_results(out, book, grading, options);
  if (rules.json) {
    context.out << to_json(book);
  } else {
    summary.print(book, submissions::pace_of(last, static_cast<int>(book.rows.size())), out);
  }
  return status_of(book);
}

void add_class_options(VerbOptions& verb, ClassOptions& options) {
  verb.several("--puzzles", options.puzzles, "PUZZLES",
               "of a folder: these puzzles, as in 01-07 09; without it: those that anybody has handed in");
  verb.several("--weights", options.weights, "PUZZLE=NUMBER",
               "of a folder: what all points of a puzzle count in the sum, as in 01=10 02=20");
  verb.text("--due", options.due, "of a folder: what is late, as in 2026-12-01T18:00:00Z; points stay as they are");
  verb.text("--diff", options.diff, "of a folder: whose marks have changed since this results.json, and why");
  verb.text("--roster", options.roster,
            "of a folder: a table of the class, id and name: who has handed nothing in gets a line, too");
  verb.flag("--no-bonus", options.no_bonus, "of a folder: points of bonus checks do not count");
  verb.flag("--bom", options.byte_order_mark, "of a folder: results.csv begins with a byte order mark, for Excel");
  verb.text("--out", options.out, "of a folder: where results go; without it: FOLDER.graded");
  verb.text(
      "--part", options.part,
      "of a folder: only this part of the students, as in 3/16, and no table: the command without --part makes it "
      "from what all parts have graded");
  verb.number("-j,--jobs", options.jobs, "of a folder: submissions graded at once", {1, 64});
}

}  // namespace shardlings::cli::verbs
