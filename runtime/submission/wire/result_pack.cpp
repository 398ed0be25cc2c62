#include "submission/wire/result_pack.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "submission/wire/counters_json.h"
#include "submission/wire/output_pack.h"
#include "submission/wire/shown_pack.h"
#include "submission/wire/trace_pack.h"

namespace shardlings::wire {
namespace {

using Json = nlohmann::json;

void read_counters(const std::string& text, Result& result) try {
  const Json json = Json::parse(text);
  if (json.at("kinds").size() != result.report.ranks.size()) throw BadPack();
  std::vector<front::Counters> counters;
  for (const Json& one : json.at("counters")) counters.push_back(counters_from_json(one));
  for (std::size_t rank = 0; rank < result.report.ranks.size(); ++rank) {
    const auto kind = json.at("kinds").at(rank).get<std::size_t>();
    if (kind >= counters.size()) throw BadPack();
    result.report.ranks[rank].counters = counters[kind];
  }
  if (json.contains("failure")) result.report.failure = failure_from_json(json.at("failure"));
} catch (const Json::exception&) {
  throw BadPack();
}

/// What ranks have counted: of thousands most have the same, so each is there once, and of each rank which it is.
Json counters_of(const front::RunReport& report) {
  Json counters = Json::array(), kinds = Json::array();
  std::vector<const front::Counters*> known;
  for (const front::RankReport& rank : report.ranks) {
    // From the newest on: neighbours are alike more often than not.
    const auto found = std::find_if(known.rbegin(), known.rend(),
                                    [&](const front::Counters* other) { return *other == rank.counters; });
    kinds.push_back(found == known.rend() ? known.size() : static_cast<std::size_t>(known.rend() - found) - 1);
    if (found != known.rend()) continue;
    known.push_back(&rank.counters);
    counters.push_back(counters_to_json(rank.counters));
  }
  return {{"counters", std::move(counters)}, {"kinds", std::move(kinds)}};
}

}  // namespace

std::string pack_report(const front::RunReport& report) {
  Json json = counters_of(report);
  if (report.failure) json["failure"] = failure_to_json(*report.failure);
  Packer out;
  out.text(json.dump(-1, ' ', false, Json::error_handler_t::replace));
  TracePacker traces(out);
  for (const front::RankReport& rank : report.ranks) traces.add(rank.trace);
  pack_outputs(report.ranks, out);
  for (const front::RankReport& rank : report.ranks) pack_shows(rank.shows, out);
  return out.take();
}

void unpack_report(std::string_view bytes, std::size_t ranks, Result& result) {
  Unpacker in(bytes);
  result.report.ranks.resize(ranks);
  read_counters(in.text(), result);
  TraceUnpacker traces(in);
  for (front::RankReport& rank : result.report.ranks) rank.trace = traces.next();
  result.outputs = assemble(unpack_outputs(ranks, in));
  for (front::RankReport& rank : result.report.ranks) rank.shows = unpack_shows(in);
  if (in.left() != 0) throw BadPack();
}

}  // namespace shardlings::wire
