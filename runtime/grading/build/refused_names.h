/// \file
/// Words for what is refused most often. It is no list of what is refused: that is all that allowed_symbols.h lacks.
#pragma once

#include <string_view>

namespace shardlings::grading::build {

struct RefusedSubject {
  const char* what;  ///< with its verb: "threads and locks are"
  const char* why;   ///< and what to do instead, without a full stop
};

/// What a symbol of the library is about; nullptr for one that nobody has words for.
const RefusedSubject* subject_of(std::string_view name);

}  // namespace shardlings::grading::build
