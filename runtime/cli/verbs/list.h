/// \file
/// `list` as a function: `watch` calls it when `l` is pressed.
#pragma once

#include "cli/context.h"

namespace shardlings::cli::verbs {

struct ListOptions {
  bool all = false;  ///< every chapter with its puzzles, not only the one of the next puzzle
  bool json = false;
};

/// `list`: chapters and puzzles, what is solved, points.
int list(const Context& context, const ListOptions& options);

}  // namespace shardlings::cli::verbs
