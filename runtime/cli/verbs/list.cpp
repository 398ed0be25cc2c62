#include <algorithm>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/terminal_text.h"
#include "cli/error.h"
#include "cli/kit/stubs.h"
#include "cli/learner/course.h"
#include "cli/learner/planned.h"
#include "cli/terminal/pager.h"
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
  bool newer_stub;  ///< than the one that was begun from
};

std::vector<Entry> entries_of(const Context& context, const learner::Course& course,
                              const learner::Progress& progress) {
  std::vector<Entry> entries;
  for (const Manifest& puzzle : course.puzzles()) {
    const learner::PuzzleProgress& past = progress.of(puzzle.id);
    entries.push_back({&puzzle, past, learner::standing(past, file_hash(context.project.puzzle_file(puzzle.id))),
                       kit::has_newer_stub(context.project, puzzle.id)});
  }
  return entries;
}

/// The entries of one chapter, and what it will have.
struct Chapter {
  std::string title;
  std::vector<Entry> entries;
  std::vector<learner::PlannedPuzzle> planned;

  bool has(const Manifest* puzzle) const {
    return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.puzzle == puzzle; });
  }
};

std::vector<Chapter> chapters_of(const std::vector<Entry>& entries,
                                 const std::vector<learner::PlannedPuzzle>& planned) {
  std::vector<Chapter> chapters;
  for (const Entry& entry : entries) {
    if (chapters.empty() || chapters.back().title != entry.puzzle->chapter)
      chapters.push_back({entry.puzzle->chapter, {}, {}});
    chapters.back().entries.push_back(entry);
  }
  for (const learner::PlannedPuzzle& puzzle : planned) {
    auto at = std::find_if(chapters.begin(), chapters.end(),
                           [&](const Chapter& chapter) { return chapter.title >= puzzle.chapter; });
    if (at == chapters.end() || at->title != puzzle.chapter) at = chapters.insert(at, {puzzle.chapter, {}, {}});
    at->planned.push_back(puzzle);
  }
  return chapters;
}

struct Points {
  int reached = 0, most = 0, solved = 0;
};

Points points_of(const std::vector<Entry>& entries) {
  Points sum;
  for (const Entry& entry : entries) {
    sum.reached += entry.progress.points;
    sum.most += entry.puzzle->max_points();
    sum.solved += entry.progress.solved() ? 1 : 0;
  }
  return sum;
}

json quizzes_json(const learner::Progress& progress) {
  json all = json::object();
  for (const auto& [chapter, past] : progress.quizzes) all[chapter] = {{"right", past.right()}, {"asked", past.asked}};
  return all;
}

json milestones_json(const Entry& entry) {
  json all = json::array();
  for (const cases::Milestone& milestone : entry.puzzle->milestones) {
    const bool is_done = entry.progress.solved() || entry.progress.milestones.contains(milestone.letter);
    all.push_back({{"letter", milestone.letter}, {"title", milestone.title}, {"passed", is_done}});
  }
  return all;
}

json planned_json(const std::vector<learner::PlannedPuzzle>& planned) {
  json all = json::array();
  for (const learner::PlannedPuzzle& puzzle : planned) {
    all.push_back({{"number", puzzle.number}, {"title", puzzle.title}, {"chapter", puzzle.chapter}});
  }
  return all;
}

int print_json(const Context& context, const std::vector<Entry>& entries, const learner::Course& course,
               const learner::Progress& progress, const Manifest* next) {
  json puzzles = json::array(), faulty = json::array();
  for (const cases::FaultyPuzzle& puzzle : course.faulty()) {
    faulty.push_back({{"id", puzzle.id}, {"reason", puzzle.reason}});
  }
  for (const Entry& entry : entries) {
    puzzles.push_back({{"id", entry.puzzle->id},
                       {"number", entry.puzzle->number},
                       {"title", entry.puzzle->title},
                       {"chapter", entry.puzzle->chapter},
                       {"summary", entry.puzzle->summary},
                       {"file", context.project.puzzle_file(entry.puzzle->id)},
                       {"standing", learner::to_text(entry.standing)},
                       {"newer_stub", entry.newer_stub},
                       {"solved", entry.progress.solved()},
                       {"points", entry.progress.points},
                       {"max_points", entry.puzzle->max_points()},
                       {"milestones", milestones_json(entry)},
                       {"hints_given", entry.progress.hints.size()},
                       {"predicted", entry.progress.predicted.right()},
                       {"to_predict", entry.progress.predicted.asked},
                       {"answered", entry.progress.answered.right()},
                       {"to_answer", entry.progress.answered.asked},
                       {"explained", entry.progress.explained.right()},
                       {"to_explain", entry.progress.explained.asked}});
  }
  const Points points = points_of(entries);
  const json all = {{"puzzles", puzzles},
                    {"planned", planned_json(learner::load_planned(context.project, course))},
                    {"faulty", faulty},
                    {"quizzes", quizzes_json(progress)},
                    {"points", points.reached},
                    {"max_points", points.most},
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
void add_count(const Context& context, const char* done, const learner::PastAnswers& past,
               std::vector<std::string>& remarks) {
  if (past.answers.empty()) return;
  remarks.push_back(context.paint(Role::dim, fmt::format("{} {} of {}", done, past.right(), past.asked)));
}

/// What is to be said of a puzzle beside its points.
std::string remarks_of(const Context& context, const Entry& entry) {
  std::vector<std::string> remarks;
  if (std::string remark = remark_of(context, entry); !remark.empty()) remarks.push_back(std::move(remark));
  if (entry.newer_stub) remarks.push_back(context.paint(Role::warning, "its stub has changed since you began"));
  add_count(context, "predicted", entry.progress.predicted, remarks);
  add_count(context, "answered", entry.progress.answered, remarks);
  return fmt::format("{}", fmt::join(remarks, ", "));
}

std::string puzzle_line(const Context& context, const Entry& entry, bool is_next) {
  return fmt::format("{} {} {} {:>3}/{}  {}", mark_of(context, entry, is_next), learner::short_name(*entry.puzzle),
                     padded(entry.puzzle->title, 28), entry.progress.points, entry.puzzle->max_points(),
                     remarks_of(context, entry));
}

/// "     17a Attention ✓, 17b Vocabulary": of a puzzle that is still to be solved.
std::string milestones_line(const Context& context, const Entry& entry) {
  if (entry.progress.solved() || entry.puzzle->milestones.empty()) return {};
  std::vector<std::string> names;
  for (const cases::Milestone& milestone : entry.puzzle->milestones) {
    const bool is_done = entry.progress.milestones.contains(milestone.letter);
    names.push_back(fmt::format("{}{} {}{}", learner::short_name(*entry.puzzle), milestone.letter, milestone.title,
                                is_done ? " " + context.tick() : ""));
  }
  return context.fitted(fmt::format("     {}", fmt::join(names, ", "))) + "\n";
}

/// "quiz 4 of 7", once something of the chapter's was answered.
std::string quiz_of(const Context& context, const std::string& title, const learner::Progress& progress) {
  const auto found = progress.quizzes.find(title.substr(0, title.find(' ')));
  if (found == progress.quizzes.end()) return {};
  return context.paint(Role::dim, fmt::format("  quiz {} of {}", found->second.right(), found->second.asked));
}

/// "3 Data parallel and sharding     2 of 7 solved, 2 planned": a chapter whose puzzles are not listed.
std::string closed_line(const Context& context, const Chapter& chapter) {
  const std::string planned = chapter.planned.empty() ? "" : fmt::format("{} planned", chapter.planned.size());
  if (chapter.entries.empty()) {
    return fmt::format("  {} {:>9}  {}", padded(chapter.title, 30), "", context.paint(Role::dim, planned));
  }
  const Points points = points_of(chapter.entries);
  const bool is_solved = points.solved == std::ssize(chapter.entries);
  return fmt::format("{} {} {:>4}/{:<3}  {} of {} solved{}", is_solved ? context.tick() : " ",
                     padded(chapter.title, 30), points.reached, points.most, points.solved, chapter.entries.size(),
                     planned.empty() ? "" : context.paint(Role::dim, ", " + planned));
}

/// "     planned: 39 Gathers in 8 bits, 43 Data and seeds", in lines of the terminal's width.
std::string planned_lines(const Context& context, const Chapter& chapter) {
  if (chapter.planned.empty()) return {};
  std::vector<std::string> names;
  for (const learner::PlannedPuzzle& puzzle : chapter.planned) {
    names.push_back(fmt::format("{} {}", puzzle.number, puzzle.title));
  }
  std::string text;
  constexpr int kIndent = 5;
  for (const std::string& line :
       fill_lines(fmt::format("planned: {}", fmt::join(names, ", ")), context.width - kIndent)) {
    text += spaces(kIndent) + context.paint(Role::dim, line) + "\n";
  }
  return text;
}

std::string text_of(const Context& context, const std::vector<Chapter>& chapters, const learner::Progress& progress,
                    const Manifest* next, bool all) {
  std::string text;
  Points points;
  for (const Chapter& chapter : chapters) {
    const Points of_chapter = points_of(chapter.entries);
    points.reached += of_chapter.reached;
    points.most += of_chapter.most;
    if (!all && !chapter.has(next)) {
      text += context.fitted(closed_line(context, chapter) + quiz_of(context, chapter.title, progress)) + "\n";
      continue;
    }
    const bool is_apart = all && !text.empty();
    text += (is_apart ? "\n  " : "  ") + context.paint(Role::strong, chapter.title) +
            quiz_of(context, chapter.title, progress) + "\n";
    for (const Entry& entry : chapter.entries) {
      text += context.fitted(puzzle_line(context, entry, entry.puzzle == next)) + "\n";
      text += milestones_line(context, entry);
    }
    text += planned_lines(context, chapter);
  }
  text += fmt::format("\n{} of {} points.", points.reached, points.most);
  if (next) text += fmt::format(" Next: {}. Go on with ./shardlings watch", next->id);
  if (const auto post = progress.quizzes.find("post"); post != progress.quizzes.end()) {
    text += fmt::format("\nWrong claims found in the post: {} of {}.", post->second.right(), post->second.asked);
  }
  return text + (all ? "\n" : "\nEvery chapter with its puzzles: ./shardlings list --all\n");
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
  if (options.json) return print_json(context, entries, course, progress, next);
  const auto chapters = chapters_of(entries, learner::load_planned(context.project, course));
  terminal::print_paged(context, text_of(context, chapters, progress, next, options.all));
  print_faulty(context, course);
  return kPassed;
}

void add_list(CommandLine& line) {
  auto [options, verb] = line.verb<ListOptions>("list", "chapters and puzzles, what is solved, points", list);
  verb.flag("--all", options.all, "every chapter with its puzzles");
  verb.flag("--json", options.json, kJsonMeaning);
}

}  // namespace shardlings::cli::verbs
