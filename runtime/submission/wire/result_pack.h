/// \file
/// A run's report as bytes, and a Result from them.
#pragma once

#include <string>
#include <string_view>

#include "submission/wire/result.h"

namespace shardlings::wire {

std::string pack_report(const front::RunReport& report);
/// Fills `report` and `outputs` of the result. Throws BadPack if the bytes are not those of a run of so many ranks.
void unpack_report(std::string_view bytes, std::size_t ranks, Result& result);

}  // namespace shardlings::wire
