#include "cli/learner/record.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/sha256.h"

namespace shardlings::cli::learner {

using nlohmann::ordered_json;

namespace {

std::string content_of(const std::string& path) {
  return sha256(read_file(path).value_or(""));
}

/// Each file is hashed by itself first, so that no text can move from the end of one to the beginning of the next.
std::string grader_of(const std::string& folder) {
  std::string hashes;
  for (const char* name : {"/puzzle.toml", "/harness.cpp", "/grader.cpp"}) hashes += content_of(folder + name);
  return sha256(hashes);
}

ordered_json counts(const PastAnswers& past) {
  return {{"right", past.right()}, {"asked", past.asked}};
}

}  // namespace

Graded::Graded(const system::Project& project, const std::string& puzzle, const std::string& file,
               std::string graded_for)
    : file_(file.empty() ? project.puzzle_file(puzzle) : file),
      file_sha256_(content_of(file_)),
      puzzle_sha256_(grader_of(project.puzzle_folder(puzzle))),
      graded_for_(std::move(graded_for)) {}

std::string Graded::beside(const std::string& verdict, const PuzzleProgress* past) const {
  ordered_json all = ordered_json::parse(verdict);
  all["file_sha256"] = content_of(file_) == file_sha256_ ? ordered_json(file_sha256_) : ordered_json();
  all["puzzle_sha256"] = puzzle_sha256_;
  if (!graded_for_.empty()) all["graded_for"] = graded_for_;
  if (past != nullptr) {
    all["learner"] = {{"attempts", past->attempts},
                      {"hints", past->hints.size()},
                      {"solution_shown", past->solution_shown},
                      {"predicted", counts(past->predicted)},
                      {"answered", counts(past->answered)}};
    if (past->explained.asked > 0) all["explained"] = counts(past->explained);
  }
  return all.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace shardlings::cli::learner
