/// \file
/// A puzzle's folder: puzzle.toml and what lies beside it.
#pragma once

#include <string>
#include <vector>

#include "grading/verdict.h"

namespace shardlings::grading {

/// One step of the hint ladder. A hint with `diagnosis` is shown first when the last run was so diagnosed.
struct Hint {
  std::string level;  ///< concept, where, invariant, near-code
  std::string text;
  std::string diagnosis;
};

/// A known mistake: its id and the sentence that the learner is shown.
struct Diagnosis {
  std::string id;
  std::string text;
};

struct Manifest {
  std::string id;       ///< name of the folder, "09_data_parallel"
  int number = 0;       ///< 9
  std::string folder;   ///< absolute
  std::string title;
  std::string chapter;
  std::string summary;  ///< one line
  int answer_lines = 0; ///< size of the solution's hole
  std::vector<CheckSpec> checks;
  std::vector<Hint> hints;
  std::vector<Diagnosis> diagnoses;
  std::vector<Case> cases;

  int max_points() const;
  const CheckSpec* check(const std::string& id) const;
};

/// Reads puzzles/<id>/puzzle.toml. Throws std::runtime_error: "puzzle.toml:12: …".
Manifest load_manifest(const std::string& puzzle_folder, const std::string& clusters_folder);
/// All puzzles of a folder, by number.
std::vector<Manifest> load_manifests(const std::string& puzzles_folder, const std::string& clusters_folder);

}  // namespace shardlings::grading
