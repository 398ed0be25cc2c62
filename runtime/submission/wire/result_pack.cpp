#include "submission/wire/result_pack.h"

#include <nlohmann/json.hpp>

#include "submission/wire/counters_json.h"
#include "submission/wire/output_pack.h"
#include "submission/wire/shown_pack.h"
#include "submission/wire/trace_pack.h"

namespace shardlings::wire {
namespace {

using Json = nlohmann::json;

void read_counters(const std::string& text, Result& result) try {
  const Json json = Json::parse(text);
  if (json.at("counters").size() != result.report.ranks.size()) throw BadPack();
  for (std::size_t rank = 0; rank < result.report.ranks.size(); ++rank) {
    result.report.ranks[rank].counters = counters_from_json(json.at("counters").at(rank));
  }
  if (json.contains("failure")) result.report.failure = failure_from_json(json.at("failure"));
} catch (const Json::exception&) {
  throw BadPack();
}

}  // namespace

std::string pack_report(const front::RunReport& report) {
  Json json = {{"counters", Json::array()}};
  for (const front::RankReport& rank : report.ranks) json["counters"].push_back(counters_to_json(rank.counters));
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
