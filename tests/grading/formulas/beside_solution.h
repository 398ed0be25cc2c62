/// \file
/// For tests that include a puzzle's harness and its solution: the harness calls the solution's functions as they are.
#pragma once

#include "submission/harness.h"

#undef SHARDLINGS_LEARNER_FUNCTION
#define SHARDLINGS_LEARNER_FUNCTION(name, ...) \
  using name##_type = __VA_ARGS__;             \
  name##_type name
