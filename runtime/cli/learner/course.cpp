#include "cli/learner/course.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <ostream>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/machine_fault.h"
#include "base/suggest.h"
#include "cli/error.h"
#include "cli/learner/build_log.h"

namespace shardlings::cli::learner {

using cases::FaultyPuzzle;
using cases::Manifest;

namespace {

/// What a name may stand for: one of the two.
struct Candidate {
  std::string id;
  int number = 0;
  std::string title;  ///< of a faulty one unknown
  const Manifest* puzzle = nullptr;
  const FaultyPuzzle* faulty = nullptr;
};

std::vector<Candidate> candidates_of(const std::vector<Manifest>& puzzles, const std::vector<FaultyPuzzle>& faulty) {
  std::vector<Candidate> candidates;
  for (const Manifest& puzzle : puzzles)
    candidates.push_back({puzzle.id, puzzle.number, puzzle.title, &puzzle, nullptr});
  for (const FaultyPuzzle& puzzle : faulty) candidates.push_back({puzzle.id, puzzle.number, "", nullptr, &puzzle});
  return candidates;
}

/// Letters and digits in lower case, everything else '_', so that "Data-Parallel" finds data_parallel.
std::string plain(const std::string& text) {
  std::string result;
  for (const unsigned char c : text) result += std::isalnum(c) ? static_cast<char>(std::tolower(c)) : '_';
  return result;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() <= 4 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// "data_parallel" of "09_data_parallel".
std::string without_number(const std::string& id) {
  const auto bar = id.find('_');
  return bar == std::string::npos ? id : id.substr(bar + 1);
}

/// The id in "puzzles/09_data_parallel/puzzle.cpp"; `name` itself if it is no path.
std::string id_in_path(const std::string& name, const std::vector<Candidate>& candidates) {
  if (name.find('/') == std::string::npos) return name;
  for (const auto& part : std::filesystem::path(name)) {
    for (const Candidate& puzzle : candidates) {
      if (part == puzzle.id) return puzzle.id;
    }
  }
  return name;
}

std::vector<Candidate> matches(const std::string& name, const std::vector<Candidate>& candidates) {
  const std::string wanted = plain(name);
  std::vector<Candidate> found;
  for (const Candidate& puzzle : candidates) {
    if (puzzle.id == name || without_number(puzzle.id) == wanted) return {puzzle};
    if (is_number(name) ? puzzle.number == std::stoi(name)
                        : plain(puzzle.id).find(wanted) != std::string::npos ||
                              plain(puzzle.title).find(wanted) != std::string::npos) {
      found.push_back(puzzle);
    }
  }
  return found;
}

/// "33" and "a" of "33a"; nothing where the name is of another form.
std::optional<std::pair<std::string, std::string>> number_and_letter(const std::string& name) {
  if (name.size() < 2 || name.back() < 'a' || name.back() > 'z') return std::nullopt;
  const std::string number = name.substr(0, name.size() - 1);
  return is_number(number) ? std::optional(std::pair(number, name.substr(name.size() - 1))) : std::nullopt;
}

/// "33" for "33a", if the puzzle has that milestone; every other name as it is.
std::string without_milestone(const std::string& name, const std::vector<Manifest>& puzzles) {
  const auto split = number_and_letter(name);
  if (!split) return name;
  for (const Manifest& puzzle : puzzles) {
    if (puzzle.number != std::stoi(split->first)) continue;
    if (puzzle.milestone(split->second)) return split->first;
    std::vector<std::string> names;
    for (const cases::Milestone& milestone : puzzle.milestones) names.push_back(split->first + milestone.letter);
    throw UsageError(
        names.empty()
            ? fmt::format("Puzzle {} has no milestones: ./shardlings run {}", puzzle.id, split->first)
            : fmt::format("Puzzle {} has the milestones {}, and no {}.", puzzle.id, fmt::join(names, ", "), name));
  }
  return name;
}

std::string no_such_puzzle(const std::string& name, const std::vector<Candidate>& candidates) {
  std::vector<std::string> ids;
  for (const Candidate& puzzle : candidates) {
    ids.push_back(puzzle.id);
    ids.push_back(without_number(puzzle.id));
  }
  return fmt::format("There is no puzzle \"{}\".{} See ./shardlings list.", name, did_you_mean(plain(name), ids));
}

std::string to_text(const FaultyPuzzle& puzzle) {
  return fmt::format("The puzzle {} is faulty: {}", puzzle.id, puzzle.reason);
}

/// A puzzle that reads well but does not build is faulty, too.
void set_aside(cases::Puzzles& puzzles, const std::vector<BuildFailure>& failures) {
  for (const BuildFailure& failure : failures) {
    const auto place = std::find_if(puzzles.whole.begin(), puzzles.whole.end(),
                                    [&](const Manifest& puzzle) { return puzzle.id == failure.id; });
    if (place == puzzles.whole.end()) continue;
    puzzles.faulty.push_back(
        {place->id, place->number, fmt::format("its {} does not build: {}", failure.part, failure.reason)});
    puzzles.whole.erase(place);
  }
  std::sort(puzzles.faulty.begin(), puzzles.faulty.end(),
            [](const FaultyPuzzle& a, const FaultyPuzzle& b) { return a.id < b.id; });
}

/// "01-13" is both ends and the puzzles between them; anything else is one puzzle's name.
std::set<int> numbers_of(const Course& course, const std::string& named) {
  const auto dash = named.find('-');
  if (dash == std::string::npos) return {course.find(named).number};
  const int first = course.find(named.substr(0, dash)).number;
  const int last = course.find(named.substr(dash + 1)).number;
  if (first > last) throw UsageError(fmt::format("--puzzles {}: the first one comes after the last one.", named));
  std::set<int> numbers;
  for (const Manifest& puzzle : course.puzzles()) {
    if (puzzle.number >= first && puzzle.number <= last) numbers.insert(puzzle.number);
  }
  return numbers;
}

}  // namespace

const Manifest& Course::find(const std::string& asked) const {
  const auto candidates = candidates_of(puzzles_, faulty_);
  const std::string name = without_milestone(asked, puzzles_);
  const auto found = matches(id_in_path(name, candidates), candidates);
  if (found.size() == 1 && found[0].faulty) throw MachineFault(to_text(*found[0].faulty));
  if (found.size() == 1) return *found[0].puzzle;
  if (found.empty() || name.empty()) throw UsageError(no_such_puzzle(name, candidates));
  std::vector<std::string> ids;
  for (const Candidate& puzzle : found) ids.push_back(puzzle.id);
  throw UsageError(
      fmt::format("\"{}\" could be {}. Give a longer part of the name, or the number.", name, fmt::join(ids, " or ")));
}

const cases::Milestone* milestone_named(const Manifest& puzzle, const std::string& name) {
  const auto split = number_and_letter(name);
  return split && std::stoi(split->first) == puzzle.number ? puzzle.milestone(split->second) : nullptr;
}

const Manifest* Course::next(const Progress& progress) const {
  for (const Manifest& puzzle : puzzles_) {
    if (!progress.of(puzzle.id).solved()) return &puzzle;
  }
  return nullptr;
}

const Manifest* Course::next_after(const std::string& id, const Progress& progress) const {
  const auto here = std::find_if(puzzles_.begin(), puzzles_.end(), [&](const Manifest& p) { return p.id == id; });
  if (here == puzzles_.end()) return next(progress);
  for (auto it = here + 1; it != puzzles_.end(); ++it) {
    if (!progress.of(it->id).solved()) return &*it;
  }
  return next(progress);
}

Course load_course(const system::Project& project) {
  cases::Puzzles puzzles = cases::load_puzzles(project.puzzles(), project.clusters());
  set_aside(puzzles, build_failures(project));
  if (puzzles.whole.empty()) {
    std::string message = "There are no puzzles in " + system::shown_path(project.puzzles()) + ".";
    for (const FaultyPuzzle& puzzle : puzzles.faulty) message += "\n" + to_text(puzzle);
    throw UsageError(message);
  }
  return Course(std::move(puzzles.whole), std::move(puzzles.faulty));
}

void tell_of_faulty(const Context& context, const Course& course) {
  for (const FaultyPuzzle& puzzle : course.faulty()) context.err << to_text(puzzle) << '\n';
}

std::vector<Manifest> puzzles_named(const Course& course, const std::vector<std::string>& asked) {
  if (asked.empty()) return course.puzzles();
  std::set<int> numbers;
  for (const std::string& named : asked) numbers.merge(numbers_of(course, named));
  std::vector<Manifest> chosen;
  for (const Manifest& puzzle : course.puzzles()) {
    if (numbers.contains(puzzle.number)) chosen.push_back(puzzle);
  }
  return chosen;
}

const Manifest& named_or_next(const Course& course, const std::string& name, const Progress& progress) {
  if (!name.empty()) return course.find(name);
  const Manifest* next = course.next(progress);
  return next ? *next : course.puzzles().back();
}

std::string short_name(const Manifest& puzzle) {
  return fmt::format("{:02}", puzzle.number);
}

}  // namespace shardlings::cli::learner
