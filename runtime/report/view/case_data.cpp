#include "report/view/case_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "report/blocks.h"
#include "report/harmless.h"
#include "report/shown_text.h"
#include "report/totals.h"
#include "report/view/grid_axes.h"
#include "report/view/lanes.h"
#include "report/view/traffic.h"

namespace shardlings::report {
namespace {

using Json = nlohmann::ordered_json;
using grading::verdict::CaseVerdict;
using grading::verdict::CheckVerdict;

std::string shown(const std::string& text) {
  return harmless(text, Charset::unicode);
}

/// "puzzle.cpp:31"; empty where nothing is known.
std::string place_text(const std::string& file, int line) {
  return file.empty() ? "" : fmt::format("{}:{}", harmless_line(base_name(file), Charset::unicode), line);
}

Json passed_to_json(const std::optional<bool>& passed) {
  return passed ? Json(*passed) : Json(nullptr);
}

Json bounds_to_json(const std::vector<grading::verdict::Bound>& bounds) {
  Json list = Json::array();
  for (const grading::verdict::Bound& bound : bounds) {
    list.push_back({{"what", shown(bound.what)},
                    {"relation", name_of(bound.relation)},
                    {"bound", bound.bound},
                    {"found", bound.found},
                    {"unit", name_of(bound.unit, bound.counted)},
                    {"formula", shown(bound.formula)},
                    {"held", bound.held}});
  }
  return list;
}

Json check_to_json(const CheckVerdict& check) {
  Json details = Json::array();
  for (const std::string& line : check.details) details.push_back(shown(line));
  return {{"id", check.id},
          {"passed", passed_to_json(check.passed)},
          {"expected", shown(check.expected)},
          {"found", shown(check.found)},
          {"details", std::move(details)},
          {"where", place_text(check.where.file, check.where.line)},
          {"diagnosis", shown(check.diagnosis_text)},
          {"blockedBy", check.blocked_by},
          {"bounds", bounds_to_json(check.bounds)}};
}

Json kinds_to_json(const front::KindBytes& bytes) {
  Json list = Json::array();
  for (const Bytes of_kind : bytes) list.push_back(of_kind.value());
  return list;
}

Json rank_to_json(const CaseVerdict& kase, int rank) {
  const front::Counters& counters = kase.counters[static_cast<std::size_t>(rank)];
  Json busy = Json::array();
  for (const Nanos time : counters.busy) busy.push_back(time.value());
  Bytes received;
  for (const auto& [key, traffic] : counters.traffic) received += traffic.received;
  const std::optional<Bytes> budget = peak_budget(kase, rank);
  return {{"peak", counters.peak.value()},
          {"peakByKind", kinds_to_json(counters.peak_by_kind)},
          {"peakAt", place_text(counters.peak_file, counters.peak_line)},
          {"budget", budget ? Json(budget->value()) : Json(nullptr)},
          {"end", counters.end.value()},
          {"busy", std::move(busy)},
          {"peers", counters.waited_for_peers.value()},
          {"exposed", counters.exposed_transfer.value()},
          {"overlapped", counters.overlapped_transfer.value()},
          {"sent", counters.bytes_sent().value()},
          {"received", received.value()},
          {"flops", counters.flops.value()},
          {"operations", counters.operations}};
}

Json totals_to_json(const Totals& totals) {
  return {{"end", totals.end.value()},
          {"idle", totals.idle},
          {"computes", totals.computes},
          {"transfer", totals.transfer.value()},
          {"overlapped", totals.overlapped.value()},
          {"peak", totals.peak.value()},
          {"peakRank", totals.peak_rank},
          {"peakAt", place_text(totals.peak_file, totals.peak_line)},
          {"slowestRank", totals.slowest_rank},
          {"sent", totals.sent.value()},
          {"sentByMost", totals.sent_by_most.value()}};
}

Json json_of(ColumnRange range) {
  return Json::array({range.first, range.count});
}

Json lane_to_json(const PackedLane& lane) {
  Json levels = Json::array();
  for (const PackedLevel& level : lane.levels) {
    levels.push_back({{"bins", level.bins}, {"segments", json_of(level.segments)}});
  }
  const LaneName name = name_of(lane.lane);
  return {{"rank", lane.rank},
          {"label", name.label},
          {"name", name.name},
          {"program", lane.lane == front::Lane::compute},
          {"inside", lane.inside},
          {"rows", lane.rows},
          {"events", json_of(lane.events)},
          {"levels", std::move(levels)}};
}

/// Of each rank its part of the columns of memory, which are added here.
Json add_memory(const std::vector<front::RankTrace>& traces, PackedColumns& columns) {
  Json ranks = Json::array();
  std::size_t first = 0;
  std::vector<std::int64_t> times;
  std::array<std::vector<std::int64_t>, kNumKinds> live;
  for (const front::RankTrace& trace : traces) {
    for (const front::MemoryPoint& point : trace.memory) {
      times.push_back(point.time.value());
      for (std::size_t kind = 0; kind < live.size(); ++kind) live[kind].push_back(point.live[kind].value());
    }
    ranks.push_back(json_of({first, times.size() - first}));
    first = times.size();
  }
  columns.add("memoryTime", times);
  for (std::size_t kind = 0; kind < live.size(); ++kind) columns.add(fmt::format("memory{}", kind), live[kind]);
  return ranks;
}

Json traffic_to_json(const std::vector<TrafficPart>& parts) {
  Json list = Json::array();
  for (const TrafficPart& part : parts) {
    Json cells = Json::array();
    for (const auto& [ranks, sent] : part.cells) {
      cells.push_back({ranks.first, ranks.second, sent.bytes.value(), sent.calls});
    }
    list.push_back({{"operation", harmless_line(part.operation, Charset::unicode)},
                    {"group", harmless_line(part.group, Charset::unicode)},
                    {"members", part.members},
                    {"lane", name_of(part.lane).name},
                    {"total", part.total.value()},
                    {"cells", std::move(cells)}});
  }
  return list;
}

Json columns_to_json(const PackedColumns& columns) {
  Json list = Json::array();
  for (const PackedColumn& column : columns.columns()) {
    list.push_back({{"name", column.name}, {"count", column.count}, {"wide", column.wide}});
    if (column.constant) list.back()["constant"] = *column.constant;
  }
  return list;
}

const char* text_of(Numbering numbering) {
  switch (numbering) {
    case Numbering::micro_batch: return "micro";
    case Numbering::layer: return "layer";
    case Numbering::none: break;
  }
  return "none";
}

const char* text_of(Colouring colouring) {
  switch (colouring) {
    case Colouring::layer: return "layer";
    case Colouring::stage: return "stage";
    case Colouring::none: break;
  }
  return "none";
}

/// Colours by layer: [[layer, hue], …].
Json hues_to_json(const std::vector<front::RankTrace>& traces, const Looks& looks) {
  std::set<std::pair<int, int>> hues;
  for (const front::RankTrace& trace : traces) {
    for (const front::Event& event : trace.events) {
      if (const int hue = looks.hue_of(event); hue >= 0) hues.emplace(event.label.layer, hue);
    }
  }
  Json list = Json::array();
  for (const auto& [layer, hue] : hues) list.push_back({layer, hue});
  return list;
}

Json axes_to_json(const std::vector<GridAxis>& axes) {
  Json list = Json::array();
  for (const GridAxis& axis : axes) {
    list.push_back({{"name", harmless_line(axis.name, Charset::unicode)}, {"coordinates", axis.coordinates}});
  }
  return list;
}

Json text_part(const CaseVerdict& kase) {
  Json checks = Json::array();
  for (const CheckVerdict& check : kase.checks) checks.push_back(check_to_json(check));
  Json ranks = Json::array();
  for (std::size_t rank = 0; rank < kase.counters.size(); ++rank) {
    ranks.push_back(rank_to_json(kase, static_cast<int>(rank)));
  }
  return {
      {"name", shown(kase.kase.name)},
      {"hidden", kase.kase.hidden},
      {"ending", name_of(kase.ending)},
      {"explanation", shown(kase.explanation)},
      {"stdout", shown(kase.stdout_text)},
      {"shown", fmt::format("{}", fmt::join(shown_lines(kase, Style(Colour::none, Charset::unicode), {120, 0}), "\n"))},
      {"reproduce", shown(kase.reproduce)},
      {"checks", std::move(checks)},
      {"ranks", std::move(ranks)},
      {"totals", totals_to_json(totals_of(kase.counters))}};
}

}  // namespace

CaseData case_data(const CaseVerdict& kase) {
  Json json = text_part(kase);
  if (kase.traces.empty()) return {json.dump(-1, ' ', false, Json::error_handler_t::replace), ""};
  Nanos end;
  for (const front::RankTrace& trace : kase.traces) {
    for (const front::Event& event : trace.events) end = std::max(end, event.end);
  }
  const Looks looks(kase.traces);
  PackedLanes packed = packed_lanes(kase.traces, looks, end);
  json["end"] = end.value();
  json["numbering"] = text_of(looks.numbering());
  json["colouring"] = text_of(looks.colouring());
  json["hues"] = hues_to_json(kase.traces, looks);
  json["names"] = packed.names;
  json["files"] = packed.files;
  json["groups"] = packed.groups;
  json["members"] = packed.members;
  json["axes"] = axes_to_json(grid_axes(kase.traces));
  json["lanes"] = Json::array();
  for (const PackedLane& lane : packed.lanes) json["lanes"].push_back(lane_to_json(lane));
  json["memory"] = add_memory(kase.traces, packed.columns);
  json["traffic"] = traffic_to_json(traffic_of(kase.traces));
  json["columns"] = columns_to_json(packed.columns);
  return {json.dump(-1, ' ', false, Json::error_handler_t::replace), base64(deflated(packed.columns.bytes()))};
}

}  // namespace shardlings::report
