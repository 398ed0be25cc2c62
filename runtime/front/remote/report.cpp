// A rank's report as bytes. In the order of the structures; the comparison of whole reports in the contract tests
// notices a field that is forgotten here. The operators are in no namespace of their own: vectors of such values look
// for them in that of Writer and Reader.
#include <array>
#include <cstring>

#include "front/remote/messages.h"

namespace shardlings::front::remote {
static Writer& operator<<(Writer& to, const Published& p) {
  return to << p.name << p.place.rows << p.place.cols << p.place.part.rows << p.place.part.cols << p.values
            << p.missing;
}
static Reader& operator>>(Reader& from, Published& p) {
  return from >> p.name >> p.place.rows >> p.place.cols >> p.place.part.rows >> p.place.part.cols >> p.values >>
         p.missing;
}

static Writer& operator<<(Writer& to, const MemoryUse& m) {
  return to << m.live << m.live_by_kind << m.peak << m.peak_by_kind << m.peak_file << m.peak_line;
}
static Reader& operator>>(Reader& from, MemoryUse& m) {
  return from >> m.live >> m.live_by_kind >> m.peak >> m.peak_by_kind >> m.peak_file >> m.peak_line;
}

static Writer& operator<<(Writer& to, const TrafficKey& key) {
  return to << key.kind << key.group << key.link;
}
static Reader& operator>>(Reader& from, TrafficKey& key) {
  return from >> key.kind >> key.group >> key.link;
}

static Writer& operator<<(Writer& to, const Counters& c) {
  to << static_cast<const MemoryUse&>(c) << c.host << c.saved_peak << c.flops;
  to << c.operations << c.layer_forwards << c.layer_backwards << c.traffic << c.sent_to_host << c.host_reads;
  to << c.copies << c.end << c.busy << c.waited_for_peers << c.exposed_transfer << c.overlapped_transfer;
  return to << c.waited_for_host << c.store << c.renames << c.waited_for_store << c.died;
}
static Reader& operator>>(Reader& from, Counters& c) {
  from >> static_cast<MemoryUse&>(c) >> c.host >> c.saved_peak >> c.flops;
  from >> c.operations >> c.layer_forwards >> c.layer_backwards >> c.traffic >> c.sent_to_host >> c.host_reads;
  from >> c.copies >> c.end >> c.busy >> c.waited_for_peers >> c.exposed_transfer >> c.overlapped_transfer;
  return from >> c.waited_for_host >> c.store >> c.renames >> c.waited_for_store >> c.died;
}

// Plain but for the name of its file, whose address means nothing to others.
static Writer& operator<<(Writer& to, const Event& event) {
  std::array<std::byte, sizeof event> bytes;
  std::memcpy(bytes.data(), &event, sizeof event);
  return to << bytes << event.at;
}
static Reader& operator>>(Reader& from, Event& event) {
  const auto bytes = from.get<std::array<std::byte, sizeof event>>();
  std::memcpy(static_cast<void*>(&event), bytes.data(), sizeof event);
  return from >> event.at;
}

static Writer& operator<<(Writer& to, const GroupMembers& members) {
  return to << (members ? *members : std::vector<int>());
}
static Reader& operator>>(Reader& from, GroupMembers& members) {
  const auto read = from.get<std::vector<int>>();
  members = read.empty() ? nullptr : std::make_shared<const std::vector<int>>(read);
  return from;
}

static Writer& operator<<(Writer& to, const RankTrace& trace) {
  return to << trace.events << trace.memory << trace.host_memory << trace.names << trace.groups << trace.members;
}
static Reader& operator>>(Reader& from, RankTrace& trace) {
  return from >> trace.events >> trace.memory >> trace.host_memory >> trace.names >> trace.groups >> trace.members;
}

static Writer& operator<<(Writer& to, const ShownRow& row) {
  return to << row.row << row.values;
}
static Reader& operator>>(Reader& from, ShownRow& row) {
  return from >> row.row >> row.values;
}

static Writer& operator<<(Writer& to, const Shown& s) {
  to << s.label << s.file << s.line << s.there << s.shape << s.dtype << s.kind << s.memory << s.layer << s.micro;
  return to << s.nan << s.infinite << s.min << s.max << s.mean << s.norm << s.rows;
}
static Reader& operator>>(Reader& from, Shown& s) {
  from >> s.label >> s.file >> s.line >> s.there >> s.shape >> s.dtype >> s.kind >> s.memory >> s.layer >> s.micro;
  return from >> s.nan >> s.infinite >> s.min >> s.max >> s.mean >> s.norm >> s.rows;
}

Writer& operator<<(Writer& to, const RankReport& report) {
  return to << report.counters << report.trace << report.published << report.shows.kept << report.shows.left_out;
}
Reader& operator>>(Reader& from, RankReport& report) {
  return from >> report.counters >> report.trace >> report.published >> report.shows.kept >> report.shows.left_out;
}

}  // namespace shardlings::front::remote
