#include "grading/verdict/trace_json.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "base/text.h"
#include "grading/verdict/columns.h"

namespace shardlings::grading::verdict {
namespace {

using Json = nlohmann::ordered_json;
using front::Event;

constexpr std::int64_t end_of(front::EventKind) {
  return front::kEventKinds;
}
constexpr std::int64_t end_of(front::Lane) {
  return front::kLanes;
}

/// A number that has to be from 0 to `end` - 1.
std::size_t checked(std::int64_t value, std::size_t end) {
  if (value < 0 || static_cast<std::uint64_t>(value) >= end) {
    throw std::runtime_error("a trace has a number that means nothing");
  }
  return static_cast<std::size_t>(value);
}

template <class Tag>
std::int64_t number_of(const Quantity<Tag>& value) {
  return value.value();
}
template <class T>
std::int64_t number_of(const T& value) {
  return static_cast<std::int64_t>(value);
}

template <class Tag>
void assign(Quantity<Tag>& target, std::int64_t value) {
  target = Quantity<Tag>(value);
}
template <class T>
void assign(T& target, std::int64_t value) {
  if constexpr (std::is_enum_v<T>) checked(value, static_cast<std::size_t>(end_of(T{})));
  target = static_cast<T>(value);
  if (number_of(target) != value) throw std::runtime_error("a trace has a number that is too large");
}

/// Every plain column of events, as `visit(name, access)`, where access(event) is the number's place.
void for_each_column(auto visit) {
  visit(
      "kind", [](auto& e) -> auto& { return e.kind; });
  visit(
      "lane", [](auto& e) -> auto& { return e.lane; });
  visit(
      "depth", [](auto& e) -> auto& { return e.depth; });
  visit(
      "name", [](auto& e) -> auto& { return e.name; });
  visit(
      "group", [](auto& e) -> auto& { return e.group; });
  visit(
      "micro", [](auto& e) -> auto& { return e.label.micro; });
  visit(
      "layer", [](auto& e) -> auto& { return e.label.layer; });
  visit(
      "line", [](auto& e) -> auto& { return e.at.line; });
  visit(
      "order", [](auto& e) -> auto& { return e.order; });
  visit(
      "begin", [](auto& e) -> auto& { return e.begin; });
  visit(
      "end", [](auto& e) -> auto& { return e.end; });
  visit(
      "posted", [](auto& e) -> auto& { return e.posted; });
  visit(
      "bytes", [](auto& e) -> auto& { return e.bytes; });
  visit(
      "flops", [](auto& e) -> auto& { return e.flops; });
  visit(
      "live_after", [](auto& e) -> auto& { return e.live_after; });
}

/// What was really measured: columns of their own, where anything was.
void for_each_measured_column(auto visit) {
  visit(
      "measured_begin", [](auto& e) -> auto& { return e.measured_begin; });
  visit(
      "measured_end", [](auto& e) -> auto& { return e.measured_end; });
}

std::vector<std::int64_t> values_of(const auto& items, auto get) {
  std::vector<std::int64_t> values;
  for (const auto& item : items) values.push_back(get(item));
  return values;
}

/// A column that is the same everywhere is that number, and one of usual numbers is not written at all.
void put_column(Json& json, const char* name, const std::vector<std::int64_t>& values, std::int64_t usual) {
  const bool constant =
      std::all_of(values.begin(), values.end(), [&](std::int64_t value) { return value == values[0]; });
  if (!constant) {
    json[name] = to_column(values);
  } else if (!values.empty() && values[0] != usual) {
    json[name] = values[0];
  }
}

/// A column that is always written: it tells whether the count is right.
std::vector<std::int64_t> read_whole_column(const Json& json, const char* name, std::size_t count) {
  return from_column(json.at(name).get_ref<const std::string&>(), count);
}

std::vector<std::int64_t> read_column(const Json& json, const char* name, std::size_t count, std::int64_t usual) {
  const auto found = json.find(name);
  if (found == json.end()) return std::vector<std::int64_t>(count, usual);
  if (found->is_number_integer()) return std::vector<std::int64_t>(count, found->get<std::int64_t>());
  return from_column(found->get_ref<const std::string&>(), count);
}

/// The peer counted from this rank; -1: none.
std::int64_t relative(int peer, int rank, int ranks) {
  return peer < 0 ? -1 : (peer - rank + ranks) % ranks;
}

/// The number of each event's file in `files`, which gets those that are not in it.
std::vector<std::int64_t> file_numbers(const std::vector<Event>& events, std::vector<std::string>& files) {
  return values_of(events, [&](const Event& e) {
    const std::string file(base_name(e.at.file));
    const auto number = std::find(files.begin(), files.end(), file) - files.begin();
    if (number == std::ssize(files)) files.push_back(file);
    return static_cast<std::int64_t>(number);
  });
}

Json events_to_json(const front::RankTrace& trace, int rank, int ranks, std::vector<std::string>& files) {
  Json json = {{"count", trace.events.size()}};
  const auto add_column = [&](const char* name, auto access) {
    const Event usual;
    put_column(json, name, values_of(trace.events, [&](const Event& event) { return number_of(access(event)); }),
               number_of(access(usual)));
  };
  for_each_column(add_column);
  json["kind"] = to_column(values_of(trace.events, [](const Event& event) { return number_of(event.kind); }));
  for_each_measured_column(add_column);
  put_column(json, "peer", values_of(trace.events, [&](const Event& e) { return relative(e.peer, rank, ranks); }), -1);
  put_column(json, "file", file_numbers(trace.events, files), 0);
  return json;
}

void events_from_json(const Json& json, int rank, int ranks, front::RankTrace& trace) {
  const auto count = json.at("count").get<std::size_t>();
  trace.events.resize(read_whole_column(json, "kind", count).size());
  const auto take_column = [&](const char* name, auto access) {
    const Event usual;
    const auto values = read_column(json, name, count, number_of(access(usual)));
    for (std::size_t i = 0; i < count; ++i) assign(access(trace.events[i]), values[i]);
  };
  for_each_column(take_column);
  for_each_measured_column(take_column);
  const auto peers = read_column(json, "peer", count, -1);
  const auto files = read_column(json, "file", count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    Event& event = trace.events[i];
    event.peer = peers[i] < 0 ? -1 : static_cast<int>((peers[i] % ranks + rank) % ranks);
    event.at.file = (*trace.files)[checked(files[i], trace.files->size())].c_str();
    checked(event.name, trace.names.size());
    if (event.group != -1) checked(event.group, trace.groups.size());
  }
}

/// A group is its name alone where its members are not known.
Json groups_to_json(const front::RankTrace& trace) {
  Json list = Json::array();
  for (std::size_t group = 0; group < trace.groups.size(); ++group) {
    const std::vector<int>& members = members_of(trace, group);
    if (members.empty()) {
      list.push_back(trace.groups[group]);
      continue;
    }
    list.push_back({{"name", trace.groups[group]}, {"size", members.size()}});
    list.back()["members"] = to_column({members.begin(), members.end()});
  }
  return list;
}

void groups_from_json(const Json& list, front::RankTrace& trace) {
  for (const Json& group : list) {
    trace.members.emplace_back();
    trace.groups.push_back(group.is_string() ? group.get<std::string>() : group.at("name").get<std::string>());
    if (group.is_string()) continue;
    const auto members = read_whole_column(group, "members", group.at("size").get<std::size_t>());
    trace.members.back() = std::make_shared<const std::vector<int>>(members.begin(), members.end());
  }
}

Json memory_to_json(const std::vector<front::MemoryPoint>& memory) {
  Json json = {{"count", memory.size()}};
  json["time"] = to_column(values_of(memory, [](const front::MemoryPoint& p) { return p.time.value(); }));
  for (int kind = 0; kind < kNumKinds; ++kind) {
    const auto live = [&](const front::MemoryPoint& p) { return p.live[static_cast<std::size_t>(kind)].value(); };
    put_column(json, name_of(static_cast<Kind>(kind)), values_of(memory, live), 0);
  }
  return json;
}

std::vector<front::MemoryPoint> memory_from_json(const Json& json) {
  const auto count = json.at("count").get<std::size_t>();
  const auto times = read_whole_column(json, "time", count);
  std::vector<front::MemoryPoint> memory(times.size());
  for (std::size_t i = 0; i < count; ++i) memory[i].time = Nanos(times[i]);
  for (int kind = 0; kind < kNumKinds; ++kind) {
    const auto values = read_column(json, name_of(static_cast<Kind>(kind)), count, 0);
    for (std::size_t i = 0; i < count; ++i) memory[i].live[static_cast<std::size_t>(kind)] = Bytes(values[i]);
  }
  return memory;
}

/// The files of a trace that says nothing about places.
std::vector<std::string> no_file() {
  return {""};
}

}  // namespace

Json trace_to_json(const front::RankTrace& trace, int rank, int ranks) {
  std::vector<std::string> files;
  Json events = events_to_json(trace, rank, ranks, files);
  Json json = {{"names", trace.names}, {"groups", groups_to_json(trace)}};
  if (files != no_file()) json["files"] = files;
  json["events"] = std::move(events);
  json["memory"] = memory_to_json(trace.memory);
  const bool uses_host = trace.host_memory.size() > 1;  // more than what there was at the start
  if (uses_host) json["host_memory"] = memory_to_json(trace.host_memory);
  return json;
}

front::RankTrace trace_from_json(const Json& json, int rank, int ranks) {
  front::RankTrace trace;
  trace.names = json.at("names").get<std::vector<std::string>>();
  groups_from_json(json.at("groups"), trace);
  const auto files = json.value("files", no_file());
  trace.files = std::make_shared<const std::deque<std::string>>(files.begin(), files.end());
  events_from_json(json.at("events"), rank, std::max(1, ranks), trace);
  trace.memory = memory_from_json(json.at("memory"));
  if (json.contains("host_memory")) trace.host_memory = memory_from_json(json.at("host_memory"));
  return trace;
}

}  // namespace shardlings::grading::verdict
