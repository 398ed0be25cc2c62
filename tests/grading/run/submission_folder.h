/// \file
/// A folder with a puzzle.cpp made of a few lines, for tests that build and run one.
#pragma once

#include <string>

#include "grading/grade.h"
#include "grading/run/supervisor.h"
#include "grading/verdict/verdict.h"
#include "submission/wire/result.h"

namespace shardlings::grading {

/// A body that is right.
inline constexpr const char* kRightSum = "  rank.world().all_reduce(data, ReduceOp::sum);";

/// Whether submissions shall run in jails (SHARDLINGS_TEST_JAILS): each test runs once like this and once not.
bool in_jails();

/// Lives in a fresh folder for temporary files.
class SubmissionFolder {
 public:
  /// `body`: of `void sum_up(Rank& rank, View data)`; `before`: what stands above it.
  explicit SubmissionFolder(const std::string& body, const std::string& before = "");
  ~SubmissionFolder();
  SubmissionFolder(const SubmissionFolder&) = delete;
  SubmissionFolder& operator=(const SubmissionFolder&) = delete;

  std::string source() const { return folder_ + "/puzzle.cpp"; }
  std::string folder() const { return folder_; }
  /// Replaces the whole text.
  void write(const std::string& text) const;
  /// The options with which it is graded, whatever verdict is there already.
  GradeOptions graded_anew() const;
  /// What it is built to; fails the test if it does not build.
  run::Submission build() const;

 private:
  std::string folder_;
};

/// The number of the source line on which `body` begins: the lines before it are fixed.
inline constexpr int kFirstLine = 11;

}  // namespace shardlings::grading
