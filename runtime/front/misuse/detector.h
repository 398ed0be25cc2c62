/// \file
/// Why nobody can go on: classifies a world in which no rank is runnable, and writes the report.
///
/// It is called only when nobody can go on and no receive from any rank can be given a message. Every program here is a
/// Kahn network from one such grant to the next (no polling, no host time), and grants are the same in every run. So
/// the set of blocked ranks and their places is unique, and so is the report.
#pragma once

#include <optional>
#include <string>

#include "front/misuse/situation.h"

namespace shardlings::front {

/// The primary error, or nothing if all ranks have finished in order.
std::optional<Failure> detect(const Situation& situation);

/// The report on an operation that all its members have joined, and of which the fabric says that it will never end.
/// Unlike detect(), this may be called at any time, whatever the ranks are doing.
Failure hang(const ToldOperation& operation, const std::string& why);
/// The same where the fabric cannot say which operation it is about.
Failure hang(const std::string& why);

}  // namespace shardlings::front
