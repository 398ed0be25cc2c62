#include "submission/wire/result_pack.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "submission/wire/counters_json.h"
#include "submission/wire/counters_pack.h"
#include "submission/wire/output_pack.h"
#include "submission/wire/shown_pack.h"
#include "submission/wire/trace_pack.h"

namespace shardlings::wire {
namespace {

using Json = nlohmann::json;

/// What ranks have counted: of thousands most have the same, so each is there once, and of each rank which it is.
void pack_kinds(const front::RunReport& report, Packer& out) {
  std::vector<const front::Counters*> known;
  std::vector<std::uint32_t> kinds;
  for (const front::RankReport& rank : report.ranks) {
    // From the newest on: neighbours are alike more often than not.
    const auto found = std::find_if(known.rbegin(), known.rend(),
                                    [&](const front::Counters* other) { return *other == rank.counters; });
    const auto kind = found == known.rend() ? known.size() : static_cast<std::size_t>(known.rend() - found) - 1;
    kinds.push_back(static_cast<std::uint32_t>(kind));
    if (found == known.rend()) known.push_back(&rank.counters);
  }
  out.put<std::uint64_t>(known.size());
  for (const front::Counters* counters : known) pack_counters(*counters, out);
  for (const std::uint32_t kind : kinds) out.put(kind);
}

void unpack_kinds(Unpacker& in, Result& result) {
  std::vector<front::Counters> counters;
  for (std::size_t n = in.count(sizeof(std::uint64_t)); n > 0; --n) counters.push_back(unpack_counters(in));
  for (front::RankReport& rank : result.report.ranks) {
    const auto kind = in.get<std::uint32_t>();
    if (kind >= counters.size()) throw BadPack();
    rank.counters = counters[kind];
  }
}

std::optional<front::Failure> failure_in(const std::string& text) try {
  if (text.empty()) return std::nullopt;
  return failure_from_json(Json::parse(text));
} catch (const Json::exception&) {
  throw BadPack();
}

}  // namespace

std::string pack_report(const front::RunReport& report) {
  Packer out;
  pack_kinds(report, out);
  out.text(report.failure ? failure_to_json(*report.failure).dump(-1, ' ', false, Json::error_handler_t::replace) : "");
  TracePacker traces(out);
  for (const front::RankReport& rank : report.ranks) traces.add(rank.trace);
  pack_outputs(report.ranks, out);
  for (const front::RankReport& rank : report.ranks) pack_shows(rank.shows, out);
  return out.take();
}

void unpack_report(std::string_view bytes, std::size_t ranks, Result& result) {
  Unpacker in(bytes);
  result.report.ranks.resize(ranks);
  unpack_kinds(in, result);
  result.report.failure = failure_in(in.text());
  TraceUnpacker traces(in);
  for (front::RankReport& rank : result.report.ranks) rank.trace = traces.next();
  result.outputs = assemble(unpack_outputs(ranks, in));
  for (front::RankReport& rank : result.report.ranks) rank.shows = unpack_shows(in);
  if (in.left() != 0) throw BadPack();
}

}  // namespace shardlings::wire
