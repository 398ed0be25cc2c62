#include "cli/learner/progress.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/file_lock.h"
#include "cli/system/project.h"

namespace shardlings::cli::learner {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr int kFormat = 1;
constexpr int kMost = 1'000'000;                // files, questions, answers
constexpr int kMostPoints = 200;                // of a puzzle, with those of a bonus
constexpr std::uintmax_t kMostBytes = 8 << 20;  // a hundred times what is ever noted

using Answers = std::map<std::string, PastPrediction>;

json to_json(const Answers& answers) {
  json all = json::object();
  for (const auto& [id, answer] : answers) all[id] = {{"tries", answer.tries}, {"right", answer.right}};
  return all;
}

/// A count as it can be: the file may have been written by hand.
int count_in(const json& value, const char* key, int most) {
  const json found = value.value(key, json(0));
  if (!found.is_number()) throw json::type_error::create(302, fmt::format("{} is no number", key), &found);
  return static_cast<int>(std::clamp(found.get<double>(), 0.0, static_cast<double>(most)));
}

Answers answers_in(const json& value, const char* key) {
  Answers answers;
  const json all = value.value(key, json::object());
  for (const auto& [id, answer] : all.items())
    answers[id] = {count_in(answer, "tries", kMost), answer.value("right", false)};
  return answers;
}

json to_json(const PastAnswers& past) {
  return {{"asked", past.asked}, {"answers", to_json(past.answers)}};
}

PastAnswers answers_from_json(const json& value) {
  return {answers_in(value, "answers"), count_in(value, "asked", kMost)};
}

json to_json(const std::map<std::string, CaseRecord>& bests) {
  json all = json::object();
  for (const auto& [name, best] : bests) {
    all[name] = {{"end_ns", best.end_ns},     {"peak_bytes", best.peak_bytes}, {"sent_bytes", best.sent_bytes},
                 {"idle_ppm", best.idle_ppm}, {"bound_ns", best.bound_ns},     {"of_case", best.of_case},
                 {"file", best.file}};
  }
  return all;
}

std::map<std::string, CaseRecord> bests_from_json(const json& value) {
  std::map<std::string, CaseRecord> bests;
  for (const auto& [name, best] : value.items()) {
    const auto number = [&best = best](const char* key) { return best.at(key).get<std::int64_t>(); };
    bests[name] = {number("end_ns"),
                   number("peak_bytes"),
                   number("sent_bytes"),
                   number("idle_ppm"),
                   best.value("bound_ns", std::int64_t{0}),
                   best.value("of_case", ""),
                   best.value("file", "")};
  }
  return bests;
}

json to_json(const PuzzleProgress& puzzle) {
  json diagnoses = json::array();
  for (const PastDiagnosis& diagnosis : puzzle.diagnoses) {
    diagnoses.push_back({{"id", diagnosis.id}, {"text", diagnosis.text}});
  }
  return {{"solved", puzzle.solved_hash},
          {"points", puzzle.points},
          {"last", puzzle.last_hash},
          {"attempts", puzzle.attempts},
          {"last_passed", puzzle.last_passed},
          {"last_points", puzzle.last_points},
          {"diagnoses", diagnoses},
          {"hints", puzzle.hints},
          {"solution_shown", puzzle.solution_shown},
          {"milestones", puzzle.milestones},
          {"predictions", to_json(puzzle.predicted.answers)},
          {"questions", puzzle.predicted.asked},
          {"answered", to_json(puzzle.answered)},
          {"explained", to_json(puzzle.explained)},
          {"records", puzzle.records},
          {"bests", to_json(puzzle.bests)}};
}

PuzzleProgress puzzle_from_json(const json& value) {
  PuzzleProgress puzzle;
  puzzle.solved_hash = value.value("solved", "");
  puzzle.points = count_in(value, "points", kMostPoints);
  puzzle.last_hash = value.value("last", "");
  puzzle.attempts = count_in(value, "attempts", kMost);
  puzzle.last_passed = value.value("last_passed", false);
  puzzle.last_points = count_in(value, "last_points", kMostPoints);
  puzzle.hints = value.value("hints", std::vector<std::string>());
  puzzle.solution_shown = value.value("solution_shown", false);
  puzzle.milestones = value.value("milestones", std::set<std::string>());
  puzzle.predicted = {answers_in(value, "predictions"), count_in(value, "questions", kMost)};
  puzzle.answered = answers_from_json(value.value("answered", json::object()));
  puzzle.explained = answers_from_json(value.value("explained", json::object()));
  puzzle.records = value.value("records", std::map<std::string, std::int64_t>());
  puzzle.bests = bests_from_json(value.value("bests", json::object()));
  for (const json& diagnosis : value.value("diagnoses", json::array())) {
    puzzle.diagnoses.push_back({diagnosis.value("id", ""), diagnosis.value("text", "")});
  }
  return puzzle;
}

std::optional<Progress> parse(const std::string& text) {
  try {
    const json file = json::parse(text);
    if (file.at("format").get<int>() != kFormat) return std::nullopt;
    Progress progress;
    for (const auto& [id, puzzle] : file.at("puzzles").items()) progress.puzzles[id] = puzzle_from_json(puzzle);
    const json quizzes = file.value("quizzes", json::object());
    for (const auto& [chapter, past] : quizzes.items()) progress.quizzes[chapter] = answers_from_json(past);
    return progress;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string print(const Progress& progress) {
  json puzzles = json::object();
  for (const auto& [id, puzzle] : progress.puzzles) puzzles[id] = to_json(puzzle);
  json quizzes = json::object();
  for (const auto& [chapter, past] : progress.quizzes) quizzes[chapter] = to_json(past);
  const json file = {{"format", kFormat}, {"puzzles", puzzles}, {"quizzes", quizzes}};
  // The learner may write anything into what becomes a diagnosis; a wrong byte must not lose the progress.
  return file.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string path_of(const std::string& folder) {
  return folder + "/progress.json";
}
std::string backup_of(const std::string& folder) {
  return folder + "/progress.before.json";
}
std::string damaged_of(const std::string& folder) {
  return folder + "/progress.damaged.json";
}

/// Nothing where there is no file. One that is far too large is not read, and is nothing that could be parsed.
std::optional<std::string> noted_in(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return !error && size > kMostBytes ? std::string() : read_file(path);
}

void store(const std::string& folder, const Progress& progress) {
  const std::string path = path_of(folder);
  if (const auto old = noted_in(path)) {
    if (parse(*old)) {
      write_file_atomically(backup_of(folder), *old);
    } else {
      fs::rename(path, damaged_of(folder));
    }
  }
  write_file_atomically(path, print(progress));
}

}  // namespace

int PastAnswers::right() const {
  const auto count = static_cast<int>(
      std::count_if(answers.begin(), answers.end(), [](const auto& entry) { return entry.second.right; }));
  return asked > 0 ? std::min(count, asked) : count;  // there may be answers to questions that are asked no more
}

bool PastAnswers::was_right(const std::string& id) const {
  const auto found = answers.find(id);
  return found != answers.end() && found->second.right;
}

void PastAnswers::note(const std::string& id, bool is_right) {
  PastPrediction& past = answers[id];
  ++past.tries;
  past.right = past.right || is_right;
}

const PuzzleProgress& Progress::of(const std::string& id) const {
  static const PuzzleProgress kNothing;
  const auto it = puzzles.find(id);
  return it == puzzles.end() ? kNothing : it->second;
}

Standing standing(const PuzzleProgress& progress, const std::string& hash_of_file) {
  if (!progress.solved()) return progress.last_hash.empty() ? Standing::untouched : Standing::started;
  if (hash_of_file == progress.solved_hash) return Standing::solved;
  if (hash_of_file != progress.last_hash) return Standing::changed;
  return progress.last_passed ? Standing::solved : Standing::broken;
}

std::string to_text(Standing standing) {
  switch (standing) {
    case Standing::untouched: return "untouched";
    case Standing::started: return "started";
    case Standing::solved: return "solved";
    case Standing::changed: return "changed";
    case Standing::broken: return "broken";
  }
  return "untouched";
}

Progress load_progress(const std::string& state_folder) {
  const auto text = noted_in(path_of(state_folder));
  if (text) {
    if (auto progress = parse(*text)) return *progress;
  }
  const auto before = noted_in(backup_of(state_folder));
  auto progress = before ? parse(*before) : std::nullopt;
  const bool recovered = progress.has_value();
  if (!recovered) progress = Progress();
  if (text) {
    progress->warning = fmt::format("{} is damaged; I go on with {}.", system::shown_path(path_of(state_folder)),
                                    recovered ? "the version before" : "an empty one");
  }
  return *progress;
}

Progress update_progress(const std::string& state_folder, const std::function<void(Progress&)>& change) {
  std::error_code error;
  fs::create_directories(state_folder, error);
  const FileLock lock(state_folder + "/lock");
  Progress progress = load_progress(state_folder);
  change(progress);
  store(state_folder, progress);
  return progress;
}

}  // namespace shardlings::cli::learner
