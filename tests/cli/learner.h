/// \file
/// A learner's copy of the repository, and the real command to use in it.
#pragma once

#include <string>
#include <vector>

#include "cli/folder.h"

namespace shardlings::cli {

inline constexpr const char* kFirst = "01_training_step";

/// Puzzles and solutions in a temporary folder with a space in its name, every puzzle at its stub. Graded with the
/// harnesses and graders of the build folder that the tests belong to.
class Learner {
 public:
  Learner();

  /// Runs `./shardlings arguments…` with extra variables "NAME=value" in its environment.
  Answer operator()(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {}) const;
  /// The same on a machine that is let down before; status kNotSet where it cannot be.
  Answer when(const std::function<bool()>& let_down, const std::vector<std::string>& arguments) const;
  /// The learner writes the solution (or one of its mutants) as puzzle.cpp.
  void solve(const std::string& id) const;
  void blunder(const std::string& id, const std::string& mutant) const;
  /// puzzle.cpp as a path below folder().
  static std::string file_of(const std::string& id) { return "puzzles/" + id + "/puzzle.cpp"; }

  const TemporaryFolder& folder() const { return folder_; }
  /// Variables with which the command finds this copy.
  std::vector<std::string> environment() const;

 private:
  Answer run(const std::vector<std::string>& arguments, const std::vector<std::string>& environment,
             const std::function<bool()>& before) const;

  TemporaryFolder folder_{"a learner's copy"};
};

/// The path of the real command.
std::string command_path();

}  // namespace shardlings::cli
