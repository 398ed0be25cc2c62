/// \file
/// Published outputs as packed bytes, and the whole that the judge assembles from the ranks' rectangles.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/pack.h"
#include "front/trace/run_report.h"
#include "submission/wire/result.h"

namespace shardlings::wire {

/// Values that equal, bit by bit, those that an earlier rank published under the same name cross once only.
void pack_outputs(const std::vector<front::RankReport>& ranks, Packer& out);
/// What every rank published. Throws BadPack.
std::vector<std::vector<front::Published>> unpack_outputs(std::size_t ranks, Unpacker& in);

/// Puts the rectangles of each name together. Extents that contradict one another, overlaps that differ and replicas
/// that differ are conflicts; elements that nobody published make it incomplete.
std::map<std::string, Output> assemble(const std::vector<std::vector<front::Published>>& by_rank);

}  // namespace shardlings::wire
