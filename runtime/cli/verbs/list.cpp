#include <ostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/terminal_text.h"
#include "cli/error.h"
#include "cli/learner/course.h"
#include "cli/verbs/list.h"
#include "cli/verbs/verbs.h"

namespace shardlings::cli::verbs {

using cases::Manifest;
using nlohmann::json;
using report::Role;

namespace {

struct Entry {
  const Manifest* puzzle;
  learner::PuzzleProgress progress;
  learner::Standing standing;
};

std::vector<Entry> entries_of(const Context& context, const learner::Course& course,
                              const learner::Progress& progress) {
  std::vector<Entry> entries;
  for (const Manifest& puzzle : course.puzzles()) {
    const learner::PuzzleProgress& past = progress.of(puzzle.id);
    entries.push_back({&puzzle, past, learner::standing(past, file_hash(context.project.puzzle_file(puzzle.id)))});
  }
  return entries;
}

int print_json(const Context& context, const std::vector<Entry>& entries, const learner::Course& course,
               const Manifest* next) {
  json puzzles = json::array(), faulty = json::array();
  for (const cases::FaultyPuzzle& puzzle : course.faulty()) {
    faulty.push_back({{"id", puzzle.id}, {"reason", puzzle.reason}});
  }
  int points = 0, max_points = 0;
  for (const Entry& entry : entries) {
    points += entry.progress.points;
    max_points += entry.puzzle->max_points();
    puzzles.push_back({{"id", entry.puzzle->id},
                       {"number", entry.puzzle->number},
                       {"title", entry.puzzle->title},
                       {"chapter", entry.puzzle->chapter},
                       {"summary", entry.puzzle->summary},
                       {"file", context.project.puzzle_file(entry.puzzle->id)},
                       {"standing", learner::to_text(entry.standing)},
                       {"solved", entry.progress.solved()},
                       {"points", entry.progress.points},
                       {"max_points", entry.puzzle->max_points()},
                       {"hints_given", entry.progress.hints.size()},
                       {"predicted", entry.progress.predicted()},
                       {"to_predict", entry.progress.questions}});
  }
  const json all = {{"puzzles", puzzles},
                    {"faulty", faulty},
                    {"points", points},
                    {"max_points", max_points},
                    {"next", next ? json(next->id) : json(nullptr)}};
  context.out << all.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
  return kPassed;
}

std::string mark_of(const Context& context, const Entry& entry, bool is_next) {
  if (entry.standing == learner::Standing::broken) return context.cross();
  if (entry.progress.solved()) return context.tick();
  return is_next ? context.paint(Role::strong, ">") : " ";
}

std::string remark_of(const Context& context, const Entry& entry) {
  switch (entry.standing) {
    case learner::Standing::broken: return context.paint(Role::bad, "solved before; the file fails now");
    case learner::Standing::changed: return context.paint(Role::dim, "solved; edited since");
    case learner::Standing::started: return context.paint(Role::warning, "started");
    case learner::Standing::solved:
    case learner::Standing::untouched: return {};
  }
  return {};
}

/// "predicted 2 of 3", once something was answered.
std::string predicted_of(const Context& context, const Entry& entry) {
  if (entry.progress.predictions.empty()) return {};
  return context.paint(Role::dim,
                       fmt::format("predicted {} of {}", entry.progress.predicted(), entry.progress.questions));
}

/// What is to be said of a puzzle beside its points.
std::string remarks_of(const Context& context, const Entry& entry) {
  const std::string remark = remark_of(context, entry), predicted = predicted_of(context, entry);
  return remark + (remark.empty() || predicted.empty() ? "" : ", ") + predicted;
}

void print_text(const Context& context, const std::vector<Entry>& entries, const Manifest* next) {
  std::string chapter;
  int points = 0, max_points = 0;
  for (const Entry& entry : entries) {
    const Manifest& puzzle = *entry.puzzle;
    if (puzzle.chapter != chapter) {
      context.out << (chapter.empty() ? "" : "\n") << context.paint(Role::strong, puzzle.chapter) << '\n';
      chapter = puzzle.chapter;
    }
    const std::string line =
        fmt::format("{} {} {} {:>3}/{}  {}", mark_of(context, entry, entry.puzzle == next), learner::short_name(puzzle),
                    padded(puzzle.title, 28), entry.progress.points, puzzle.max_points(), remarks_of(context, entry));
    context.out << cut(line, context.width) << '\n';
    points += entry.progress.points;
    max_points += puzzle.max_points();
  }
  context.out << fmt::format("\n{} of {} points.", points, max_points);
  if (next) context.out << fmt::format(" Next: {}. Go on with ./shardlings watch", next->id);
  context.out << '\n';
}

/// What is wrong stands in full: an author who mends it needs the file and the line.
void print_faulty(const Context& context, const learner::Course& course) {
  if (course.faulty().empty()) return;
  context.out << '\n' << context.paint(Role::strong, "Faulty, and left out") << '\n';
  for (const cases::FaultyPuzzle& puzzle : course.faulty()) {
    context.out << context.cross() << ' ' << puzzle.id << '\n';
    for (const std::string& line : fill_lines(puzzle.reason, context.width - 4)) context.out << "    " << line << '\n';
  }
}

}  // namespace

int list(const Context& context, const ListOptions& options) {
  const learner::Course course = learner::load_course(context.project);
  const learner::Progress progress = learner::load_progress(context.project.state());
  if (!progress.warning.empty()) context.err << progress.warning << '\n';
  const auto entries = entries_of(context, course, progress);
  const Manifest* next = course.next(progress);
  if (options.json) return print_json(context, entries, course, next);
  print_text(context, entries, next);
  print_faulty(context, course);
  return kPassed;
}

void add_list(CommandLine& line) {
  auto [options, verb] = line.verb<ListOptions>("list", "chapters and puzzles, what is solved, points", list);
  verb.flag("--json", options.json, kJsonMeaning);
}

}  // namespace shardlings::cli::verbs
