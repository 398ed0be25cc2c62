/// \file
/// Words and numbers of the map of memory.
#pragma once

#include <string>

#include "base/units.h"
#include "memory_map/settings.h"
#include "memory_map/transformer.h"

namespace shardlings::cli::terminal {

/// "1.56 G", "124 M", "12345".
std::string count_text(Count n);
/// "41.3 GB", "512 MB", "96 B": decimal units, three digits.
std::string size_text(Bytes bytes);
/// Gigabytes (1e9) as the ZeRO paper's table 1 prints them: whole and cut off from 100 on, below that rounded to three
/// digits or two places.
std::string table_gigabytes(Bytes bytes);
/// "96 blocks, h = 12288, 96 heads, V = 50257"; what is known otherwise.
std::string shape_text(const memory_map::Transformer& model);
/// "64 ranks: dp 8, tp 8 with sequence parallelism; ZeRO-1".
std::string parallel_text(const memory_map::Parallel& parallel);
/// "mixed precision: 2 bytes of weight, 2 of gradient, 12 of the optimizer; …".
std::string training_text(const memory_map::Transformer& model, const memory_map::Training& training);

}  // namespace shardlings::cli::terminal
