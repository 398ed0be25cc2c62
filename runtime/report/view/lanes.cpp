#include "report/view/lanes.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "base/text.h"
#include "report/harmless.h"
#include "report/view/detail.h"

namespace shardlings::report {
namespace {

using front::Event;
using front::Lane;
using front::RankTrace;

constexpr int kMostRows = 4;

/// An event, where it comes from, and the row of its lane that it lies in.
struct Placed {
  const Event* event = nullptr;
  const RankTrace* trace = nullptr;
  int row = 0;
};

/// NumberedTexts by number, made harmless.
class NumberedTexts {
 public:
  std::int64_t number(const std::string& text) {
    const auto [entry, is_new] = numbers_.try_emplace(text, numbers_.size());
    if (is_new) texts_.push_back(harmless_line(text, Charset::unicode));
    return static_cast<std::int64_t>(entry->second);
  }
  /// The same for a file's name: most events share one literal.
  std::int64_t number_of_file(const char* file) {
    if (file != last_file_) last_number_ = number(std::string(base_name(file)));
    last_file_ = file;
    return last_number_;
  }
  std::vector<std::string> take() { return std::move(texts_); }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> texts_;
  const char* last_file_ = nullptr;
  std::int64_t last_number_ = 0;
};

/// Groups by number: several may have one name.
class NumberedGroups {
 public:
  std::int64_t number(const std::string& name, const std::vector<int>& members) {
    const auto [entry, is_new] = numbers_.try_emplace({name, members}, numbers_.size());
    if (is_new) {
      names.push_back(harmless_line(name, Charset::unicode));
      this->members.push_back(members);
    }
    return static_cast<std::int64_t>(entry->second);
  }
  std::vector<std::string> names;
  std::vector<std::vector<int>> members;

 private:
  std::map<std::pair<std::string, std::vector<int>>, std::size_t> numbers_;
};

/// Empty for a trace made by hand that names nothing.
std::string text_at(const std::vector<std::string>& texts, std::size_t index) {
  return index < texts.size() ? texts[index] : "";
}

bool takes_time(const Event& event) {
  return event.end > event.begin;
}

bool somebody_computes(const std::vector<RankTrace>& traces) {
  return std::any_of(traces.begin(), traces.end(), [](const RankTrace& trace) {
    return std::any_of(trace.events.begin(), trace.events.end(), [](const Event& event) {
      return event.lane == Lane::compute && takes_time(event) && Looks::paint_of(event) != Paint::idle;
    });
  });
}

/// Puts events that overlap into rows; the last row takes what does not fit. Returns how many rows there are.
int place_in_rows(std::vector<Placed>& events) {
  std::array<Nanos, kMostRows> ends{};
  int rows = 1;
  for (Placed& placed : events) {
    while (placed.row + 1 < kMostRows && ends[static_cast<std::size_t>(placed.row)] > placed.event->begin) ++placed.row;
    Nanos& end = ends[static_cast<std::size_t>(placed.row)];
    end = std::max(end, placed.event->end);
    rows = std::max(rows, placed.row + 1);
  }
  return rows;
}

class Packing {
 public:
  Packing(const Looks& looks, Nanos end) : looks_(looks), end_(end) {}

  void add_rank(int rank, const RankTrace& trace, bool computes) {
    for (int lane = 0; lane < front::kLanes; ++lane) {
      const bool program = static_cast<Lane>(lane) == Lane::compute;
      if (program && !computes) continue;
      auto outer = events_of(trace, static_cast<Lane>(lane), false);
      if (!program && outer.empty()) continue;
      add_lane({rank, static_cast<Lane>(lane), false, program ? 1 : place_in_rows(outer), {}, {}}, outer);
      const auto inner = events_of(trace, static_cast<Lane>(lane), true);
      if (!inner.empty()) add_lane({rank, static_cast<Lane>(lane), true, 1, {}, {}}, inner);
    }
  }

  PackedLanes take() {
    add_event_columns();
    add_segment_columns();
    out_.names = names_.take();
    out_.files = files_.take();
    out_.groups = std::move(groups_.names);
    out_.members = std::move(groups_.members);
    return std::move(out_);
  }

 private:
  static std::vector<Placed> events_of(const RankTrace& trace, Lane lane, bool inside) {
    std::vector<Placed> events;
    for (const Event& event : trace.events) {
      if (event.lane != lane || (event.depth > 0) != inside || (inside && !takes_time(event))) continue;
      events.push_back({&event, &trace, 0});
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const Placed& a, const Placed& b) { return a.event->begin < b.event->begin; });
    return events;
  }

  void add_lane(PackedLane lane, const std::vector<Placed>& events) {
    lane.events = {events_.size(), events.size()};
    events_.insert(events_.end(), events.begin(), events.end());
    const std::vector<int> levels = levels_for(lane.inside ? 0 : events.size());
    std::vector<Mark> marks;
    for (const Placed& placed : levels.empty() ? std::vector<Placed>() : events) {
      const Event& event = *placed.event;
      marks.push_back({event.begin.value(), event.end.value(), Looks::paint_of(event), looks_.hue_of(event)});
    }
    for (const int bins : levels) {
      const auto segments = segments_of(marks, end_.value(), bins);
      lane.levels.push_back({bins, {segments_.size(), segments.size()}});
      segments_.insert(segments_.end(), segments.begin(), segments.end());
    }
    out_.lanes.push_back(std::move(lane));
  }

  template <class Item>
  void add_column(const char* name, const std::vector<Item>& items,
                  const std::function<std::int64_t(const Item&)>& number) {
    std::vector<std::int64_t> values;
    values.reserve(items.size());
    for (const Item& item : items) values.push_back(number(item));
    out_.columns.add(name, values);
  }

  void add_event(const char* name, const std::function<std::int64_t(const Event&)>& number) {
    add_column<Placed>(name, events_, [&](const Placed& placed) { return number(*placed.event); });
  }

  void add_event_columns() {
    add_event("begin", [](const Event& e) { return e.begin.value(); });
    add_event("duration", [](const Event& e) { return (e.end - e.begin).value(); });
    add_event("posted", [](const Event& e) { return (e.begin - e.posted).value(); });
    add_event("paint", [](const Event& e) { return static_cast<std::int64_t>(Looks::paint_of(e)); });
    add_column<Placed>("row", events_, [](const Placed& p) { return p.row; });
    add_column<Placed>("name", events_,
                       [&](const Placed& p) { return names_.number(text_at(p.trace->names, p.event->name)); });
    add_column<Placed>("group", events_, [&](const Placed& p) -> std::int64_t {
      if (p.event->group < 0) return -1;
      const auto index = static_cast<std::size_t>(p.event->group);
      return groups_.number(text_at(p.trace->groups, index), front::members_of(*p.trace, index));
    });
    add_event("file", [&](const Event& e) { return files_.number_of_file(e.at.file); });
    add_event("line", [](const Event& e) { return e.at.line; });
    add_event("peer", [](const Event& e) { return e.peer; });
    add_event("micro", [](const Event& e) { return e.label.micro; });
    add_event("layer", [](const Event& e) { return e.label.layer; });
    add_event("bytes", [](const Event& e) { return e.bytes.value(); });
    add_event("flops", [](const Event& e) { return e.flops.value(); });
    add_event("live", [](const Event& e) { return e.live_after.value(); });
  }

  void add_segment_columns() {
    add_column<Segment>("segmentBegin", segments_, [](const Segment& s) { return s.begin; });
    add_column<Segment>("segmentLength", segments_, [](const Segment& s) { return s.length; });
    add_column<Segment>("segmentPaint", segments_, [](const Segment& s) { return static_cast<std::int64_t>(s.paint); });
    add_column<Segment>("segmentHue", segments_, [](const Segment& s) { return s.hue; });
    add_column<Segment>("segmentCover", segments_, [](const Segment& s) { return s.cover; });
  }

  const Looks& looks_;
  Nanos end_;
  std::vector<Placed> events_;
  std::vector<Segment> segments_;
  NumberedTexts names_, files_;
  NumberedGroups groups_;
  PackedLanes out_;
};

}  // namespace

PackedLanes packed_lanes(const std::vector<RankTrace>& traces, const Looks& looks, Nanos end) {
  const bool computes = somebody_computes(traces);
  Packing packing(looks, end);
  for (std::size_t rank = 0; rank < traces.size(); ++rank) {
    packing.add_rank(static_cast<int>(rank), traces[rank], computes);
  }
  return packing.take();
}

}  // namespace shardlings::report
