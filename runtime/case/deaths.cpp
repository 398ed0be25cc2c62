#include "case/deaths.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/toml_section.h"

namespace shardlings::cases {
namespace {

Nanos ms_or_none(TomlSection& section, const std::string& key) {
  constexpr double kMost = 1e9;  // in nanoseconds, still a whole number of 64 bits
  const double ms = section.number_or(key, 0, 0);
  if (ms > kMost) section.fail(key, fmt::format("'{}' must be a number of at most {}", key, kMost));
  return Nanos(static_cast<std::int64_t>(std::llround(ms * 1e6)));
}

front::Death read_death(TomlSection& section, const Case& kase) {
  section.has_only({"rank", "at_ms", "at_call", "in_write"});
  front::Death death{section.small("rank", 0)};
  if (death.rank >= kase.ranks) section.fail("rank", fmt::format("there are {} ranks, from 0 on", kase.ranks));
  const auto is_same = [&](const front::Death& other) { return other.rank == death.rank; };
  if (std::any_of(kase.deaths.begin(), kase.deaths.end(), is_same))
    section.fail("rank", fmt::format("rank {} cannot die twice", death.rank));
  const int ways = section.has("at_ms") + section.has("at_call") + section.has("in_write");
  if (ways != 1) section.fail("rank", "one of at_ms, at_call and in_write says when the rank dies");
  if (section.has("at_ms")) death.at = ms_or_none(section, "at_ms");
  death.call = section.small_or("at_call", 0, 1);
  death.write = section.small_or("in_write", 0, 1);
  return death;
}

}  // namespace

void read_deaths(TomlSection& section, Case& kase) {
  for (TomlSection& death : section.sections("deaths")) kase.deaths.push_back(read_death(death, kase));
  kase.detection = ms_or_none(section, "detection_ms");
}

}  // namespace shardlings::cases
