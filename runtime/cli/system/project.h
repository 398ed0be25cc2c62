/// \file
/// Where everything lies: the repository and its build folder.
#pragma once

#include <string>

namespace shardlings::cli::system {

/// What makes a folder a handout: its course as data (kit/course_file.h).
inline constexpr const char* kHandoutFile = "/handout.toml";
/// Holds the path of the folder into which a course has written its handout. Git ignores it, so that no clone has it,
/// and of a copy elsewhere the path is another one.
inline constexpr const char* kWrittenHere = "/.shardlings/written_here";

/// Absolute paths, without a slash at the end.
struct Project {
  std::string root;   ///< holds puzzles/, solutions/ and runtime/
  std::string build;  ///< CMake's build folder; in a handout, what its parts were set up in
  /// A course's repository for students: no solutions and no graders' sources, and the learner's files beside the
  /// stubs, so that an update of the course meets none of them.
  bool is_handout = false;
  /// The handout where the course itself has written it, from where students clone it. What is tried there must not be
  /// committed into their folder.
  bool is_courses_own = false;
  /// A folder with puzzles/ and solutions/ of its own, in place of the repository's; empty: none.
  std::string collection{};

  const std::string& home() const { return collection.empty() ? root : collection; }
  std::string puzzles() const { return home() + "/puzzles"; }
  std::string solutions() const { return home() + "/solutions"; }
  std::string clusters() const { return root + "/runtime/front/clock/clusters"; }
  std::string stacks() const { return root + "/runtime/front/clock/stacks"; }
  std::string transformers() const { return root + "/runtime/memory_map/models.toml"; }
  std::string puzzle_template() const { return root + "/runtime/cli/template"; }
  std::string kit_template() const { return root + "/runtime/cli/kit/template"; }
  /// What is remembered about the learner; ignored by git.
  std::string state() const { return home() + "/.shardlings"; }

  std::string puzzle_folder(const std::string& id) const { return puzzles() + "/" + id; }
  /// The learner's file.
  std::string puzzle_file(const std::string& id) const {
    const std::string handed_out = root + (is_courses_own ? "/.shardlings/look/" : "/work/") + id;
    return (is_handout ? handed_out : puzzle_folder(id)) + "/puzzle.cpp";
  }
  /// In a handout: the file as the learner gets it.
  std::string stub_file(const std::string& id) const { return puzzle_folder(id) + "/stub.cpp"; }
  /// The lesson, and its second part, which is for those who have passed.
  std::string lesson_file(const std::string& id) const { return puzzle_folder(id) + "/README.md"; }
  std::string after_file(const std::string& id) const { return puzzle_folder(id) + "/after.md"; }
  /// Lesson 00: what is divided, what travels, and the words that all lessons use.
  std::string map_file() const { return root + "/docs/map.md"; }
  /// The quizzes of the chapters.
  std::string quizzes() const { return root + "/docs/quiz"; }
  /// Puzzles that are not there yet.
  std::string planned_file() const { return home() + "/docs/planned.toml"; }
  /// The solution's run as data, to be shown beside the learner's.
  std::string goal_file(const std::string& id) const { return puzzle_folder(id) + "/goal.json"; }
  /// The same as a picture, for the lesson.
  std::string goal_picture_file(const std::string& id) const { return puzzle_folder(id) + "/goal.svg"; }
  std::string solution_folder(const std::string& id) const { return solutions() + "/" + id; }
  std::string solution_file(const std::string& id) const { return solution_folder(id) + "/solution.cpp"; }
  /// Ways to get the puzzle wrong, as edits of the solution.
  std::string mutants_file(const std::string& id) const { return solution_folder(id) + "/mutants.txt"; }
  /// Other ways to get it right, likewise; not every puzzle has the file.
  std::string right_file(const std::string& id) const { return solution_folder(id) + "/right.txt"; }
  /// What proves each sentence of the stub's contract.
  std::string contract_file(const std::string& id) const { return solution_folder(id) + "/contract.toml"; }
};

/// The project of a program at BUILD/bin/PROGRAM: the source folder is the one that the build folder was configured
/// for. Environment variables SHARDLINGS_ROOT and SHARDLINGS_BUILD, where set, win.
/// Throws UsageError where there is no such folder.
Project find_project(const std::string& program);

/// Throws UsageError where the project is a handout, which has nothing for the verb to work on.
void refuse_in_handout(const Project& project, const std::string& verb);

/// The value of NAME:TYPE=value in a build folder's CMakeCache.txt; empty if there is none.
std::string cmake_cache_value(const std::string& build, const std::string& name);

/// `path` as seen from the working folder where that is shorter, for messages.
std::string shown_path(const std::string& path);

}  // namespace shardlings::cli::system
