/// \file
/// The quiz of a chapter: a file of docs/quiz, with numbers drawn from a seed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "grading/verdict/prediction.h"

namespace shardlings::cli::quiz {

struct Chapter {
  std::string title;
  std::vector<grading::verdict::Question> questions;
  std::map<std::string, std::string> explanations;  ///< by the question's id: sentences
};

/// Reads the chapter's file of docs/quiz. Throws UsageError if there is none, std::runtime_error naming file and key at fault.
Chapter load_chapter(const std::string& folder, const std::string& chapter, std::uint64_t seed);

/// "1", "2", …: the chapters that have a quiz, in order.
std::vector<std::string> chapters_in(const std::string& folder);

}  // namespace shardlings::cli::quiz
