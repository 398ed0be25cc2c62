/// \file
/// The numbers that quizzes ask for, by name: each is a formula of the graders or of the map of memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "grading/verdict/unit.h"

namespace shardlings::cli::quiz {

/// What a question draws, by name: {"ranks", 4}.
using Numbers = std::map<std::string, std::int64_t>;

struct Amount {
  grading::verdict::Unit unit = grading::verdict::Unit::count;
  std::int64_t value = 0;
  std::string formula;  ///< in symbols and in numbers; may be empty
};

/// What the formula of that name comes to. Throws std::runtime_error for an unknown name, and for a number that it
/// lacks or does not know.
Amount amount_of(const std::string& formula, const Numbers& numbers);

}  // namespace shardlings::cli::quiz
