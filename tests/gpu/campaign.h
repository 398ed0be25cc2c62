/// \file
/// All solutions and wrong solutions on every backend: what ./shardlings verify does, without compiler and build
/// folder, so that it runs on a GPU machine that has neither.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "grading/verdict/verdict.h"
#include "world/backend.h"
#include "world/machine.h"

namespace shardlings::gpu_tests {

/// Where everything lies. A package has these folders side by side.
struct Tree {
  std::string graders;      ///< grader_<id>
  std::string submissions;  ///< <id>/<name>/submission: made by build_submissions()
  std::string puzzles;
  std::string solutions;  ///< for the diagnoses that mutants declare
  std::string clusters;

  /// The folders of a package.
  static Tree of_package(const std::string& folder);
};

/// Compiles and links the solution and every mutant of every puzzle for `folder`, so many at a time; they find their
/// libraries in lib/ of the package that holds the folder. Returns how many. Throws std::runtime_error if one does not
/// build. `library`, if any, comes before the C library in each: several_of_one.cpp.
std::size_t build_submissions(const std::string& build_folder, const std::string& source_folder,
                              const std::string& folder, const std::string& library, int jobs);

/// Ids of the puzzles that have submissions, in order.
std::vector<std::string> puzzles_of(const Tree& tree);

/// One submission graded on a backend, with its traces: all cases, or the one of that name. Throws std::runtime_error
/// if the grader breaks.
grading::verdict::Verdict graded(const Tree& tree, const std::string& id, const std::string& name,
                                 world::Backend backend, const std::string& case_name = "");

/// The names of the cases that a backend can run on this machine.
std::vector<std::string> cases_that_fit(const Tree& tree, const std::string& id, world::Backend backend,
                                        const world::Machine& machine);

struct Outcome {
  int passed = 0;
  int skipped = 0;
  std::vector<std::string> failures;
  std::vector<std::string> skips;  ///< why, each reason once
};

/// The solution passes, and is alike on the CPU.
Outcome try_solution(const Tree& tree, const std::string& id, world::Backend backend, const world::Machine& machine);

/// A wrong solution, and the diagnosis that it declares.
struct Mutant {
  std::string name, diagnosis;
};
std::vector<Mutant> mutants_of(const Tree& tree, const std::string& id);
/// The mutant fails with the diagnosis that it declares.
Outcome try_mutant(const Tree& tree, const std::string& id, const Mutant& mutant, world::Backend backend,
                   const world::Machine& machine);

}  // namespace shardlings::gpu_tests
