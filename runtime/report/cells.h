/// \file
/// How the cells of a timeline look in a terminal.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/style.h"
#include "report/timeline.h"

namespace shardlings::report {

/// A row's cells as text. Legible without colours: each kind of block has a texture of its own.
std::string drawn(const Row& row, const Style& style);

/// What the textures, colours and numbers of this timeline mean: texts for a terminal, each with its columns.
std::vector<std::pair<std::string, int>> legend_of(const Timeline& timeline, const Style& style);

}  // namespace shardlings::report
