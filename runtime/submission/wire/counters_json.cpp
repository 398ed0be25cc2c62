#include "submission/wire/counters_json.h"

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

namespace shardlings::wire {
namespace {

using Json = nlohmann::json;

constexpr auto kLaneNames =
    std::to_array<const char*>({"compute", "intra_node", "inter_node", "to_host", "to_device", "host", "store"});
static_assert(kLaneNames.size() == front::kLanes, "every lane has a name");
constexpr std::size_t kLanesWithoutHost = 3;
constexpr auto kStoreLane = static_cast<std::size_t>(front::Lane::store);
constexpr const char* kAccessNames[front::kStoreAccesses] = {"write", "read"};
constexpr const char* kLinkNames[front::kLinks] = {"intra_node", "inter_node"};
constexpr const char* kHostLinkNames[front::kHostLinks] = {"to_host", "to_device"};

Json by_kind(const front::KindBytes& bytes) {
  Json json = Json::object();
  for (int kind = 0; kind < kNumKinds; ++kind) {
    json[name_of(static_cast<Kind>(kind))] = bytes[static_cast<std::size_t>(kind)].value();
  }
  return json;
}

front::KindBytes by_kind_from(const Json& json) {
  front::KindBytes bytes{};
  for (int kind = 0; kind < kNumKinds; ++kind) {
    bytes[static_cast<std::size_t>(kind)] = Bytes(json.at(name_of(static_cast<Kind>(kind))).get<std::int64_t>());
  }
  return bytes;
}

Json traffic_to_json(const front::Counters& counters) {
  Json list = Json::array();
  for (const auto& [key, traffic] : counters.traffic) {
    list.push_back({{"operation", back::name_of(key.kind)},
                    {"group", key.group},
                    {"link", kLinkNames[static_cast<std::size_t>(key.link)]},
                    {"calls", traffic.calls},
                    {"sent", traffic.sent.value()},
                    {"received", traffic.received.value()}});
  }
  return list;
}

back::Collective collective_from(const std::string& name) {
  for (int kind = 0; kind < back::kCollectives; ++kind) {
    const auto candidate = static_cast<back::Collective>(kind);
    if (name == back::name_of(candidate)) return candidate;
  }
  throw std::runtime_error("there is no operation '" + name + "'");
}

front::Link link_from(const std::string& name) {
  for (std::size_t link = 0; link < front::kLinks; ++link) {
    if (name == kLinkNames[link]) return static_cast<front::Link>(link);
  }
  throw std::runtime_error("there is no link '" + name + "'");
}

void traffic_from(const Json& list, front::Counters& counters) {
  for (const Json& item : list) {
    front::TrafficKey key;
    key.kind = collective_from(item.at("operation").get<std::string>());
    key.group = item.at("group").get<std::string>();
    key.link = link_from(item.at("link").get<std::string>());
    counters.traffic[key] = {item.at("calls").get<std::int64_t>(), Bytes(item.at("sent").get<std::int64_t>()),
                             Bytes(item.at("received").get<std::int64_t>())};
  }
}

Nanos nanos_of(const Json& json, const char* key) {
  return Nanos(json.at(key).get<std::int64_t>());
}
Bytes bytes_of_key(const Json& json, const char* key) {
  return Bytes(json.at(key).get<std::int64_t>());
}

Json memory_to_json(const front::MemoryUse& memory) {
  return {{"live_bytes", memory.live.value()}, {"live_by_kind", by_kind(memory.live_by_kind)},
          {"peak_bytes", memory.peak.value()}, {"peak_by_kind", by_kind(memory.peak_by_kind)},
          {"peak_file", memory.peak_file},     {"peak_line", memory.peak_line}};
}

front::MemoryUse memory_from(const Json& json) {
  return {bytes_of_key(json, "live_bytes"),        by_kind_from(json.at("live_by_kind")),
          bytes_of_key(json, "peak_bytes"),        by_kind_from(json.at("peak_by_kind")),
          json.at("peak_file").get<std::string>(), json.at("peak_line").get<int>()};
}

/// Runs without tensors of the host say nothing of it.
bool uses_host(const front::Counters& c) {
  return c.host.peak > Bytes(0);
}

Json host_to_json(const front::Counters& c) {
  Json json = memory_to_json(c.host);
  for (std::size_t link = 0; link < front::kHostLinks; ++link) {
    json[kHostLinkNames[link]] = {{"calls", c.copies[link].calls}, {"bytes", c.copies[link].bytes.value()}};
  }
  json["waited_ns"] = c.waited_for_host.value();
  return json;
}

void host_from(const Json& json, front::Counters& c) {
  c.host = memory_from(json);
  for (std::size_t link = 0; link < front::kHostLinks; ++link) {
    const Json& copies = json.at(kHostLinkNames[link]);
    c.copies[link] = {copies.at("calls").get<std::int64_t>(), bytes_of_key(copies, "bytes")};
  }
  c.waited_for_host = nanos_of(json, "waited_ns");
}

/// Runs that have nothing to do with the store say nothing of it.
bool uses_store(const front::Counters& c) {
  return c.store[0].calls > 0 || c.store[1].calls > 0 || c.renames > 0 || c.waited_for_store > Nanos(0);
}

Json store_to_json(const front::Counters& c) {
  Json json = {{"renames", c.renames}, {"waited_ns", c.waited_for_store.value()}};
  for (std::size_t access = 0; access < front::kStoreAccesses; ++access) {
    json[kAccessNames[access]] = {{"calls", c.store[access].calls}, {"bytes", c.store[access].bytes.value()}};
  }
  return json;
}

void store_from(const Json& json, front::Counters& c) {
  for (std::size_t access = 0; access < front::kStoreAccesses; ++access) {
    const Json& copies = json.at(kAccessNames[access]);
    c.store[access] = {copies.at("calls").get<std::int64_t>(), bytes_of_key(copies, "bytes")};
  }
  c.renames = json.at("renames").get<std::int64_t>();
  c.waited_for_store = nanos_of(json, "waited_ns");
}

/// Whether the run has something to do with what the lane leads to.
bool uses(const front::Counters& c, std::size_t lane) {
  if (lane == kStoreLane) return uses_store(c);
  return lane < kLanesWithoutHost || uses_host(c);
}

Json busy_to_json(const front::Counters& c) {
  Json busy = Json::object();
  for (std::size_t lane = 0; lane < front::kLanes; ++lane) {
    if (uses(c, lane)) busy[kLaneNames[lane]] = c.busy[lane].value();
  }
  return busy;
}

}  // namespace

Json counters_to_json(const front::Counters& c) {
  Json json = memory_to_json(c);
  json.update({{"saved_peak", c.saved_peak},
               {"flops", c.flops.value()},
               {"operations", c.operations},
               {"layer_forwards", c.layer_forwards},
               {"layer_backwards", c.layer_backwards},
               {"traffic", traffic_to_json(c)},
               {"sent_to_host", c.sent_to_host.value()},
               {"host_reads", c.host_reads},
               {"end_ns", c.end.value()},
               {"busy_ns", busy_to_json(c)},
               {"waited_for_peers_ns", c.waited_for_peers.value()},
               {"exposed_transfer_ns", c.exposed_transfer.value()},
               {"overlapped_transfer_ns", c.overlapped_transfer.value()}});
  if (uses_host(c)) json["host"] = host_to_json(c);
  if (uses_store(c)) json["store"] = store_to_json(c);
  if (c.died) json["died_ns"] = c.died->value();
  return json;
}

front::Counters counters_from_json(const Json& json) {
  front::Counters c;
  static_cast<front::MemoryUse&>(c) = memory_from(json);
  if (json.contains("host")) host_from(json.at("host"), c);
  if (json.contains("store")) store_from(json.at("store"), c);
  if (json.contains("died_ns")) c.died = nanos_of(json, "died_ns");
  c.saved_peak = json.at("saved_peak").get<std::int64_t>();
  c.flops = Flops(json.at("flops").get<std::int64_t>());
  c.operations = json.at("operations").get<std::int64_t>();
  c.layer_forwards = json.at("layer_forwards").get<std::int64_t>();
  c.layer_backwards = json.at("layer_backwards").get<std::int64_t>();
  traffic_from(json.at("traffic"), c);
  c.sent_to_host = bytes_of_key(json, "sent_to_host");
  c.host_reads = json.at("host_reads").get<std::int64_t>();
  c.end = nanos_of(json, "end_ns");
  for (std::size_t lane = 0; lane < front::kLanes; ++lane) {
    c.busy[lane] = Nanos(json.at("busy_ns").value(kLaneNames[lane], std::int64_t{0}));
  }
  c.waited_for_peers = nanos_of(json, "waited_for_peers_ns");
  c.exposed_transfer = nanos_of(json, "exposed_transfer_ns");
  c.overlapped_transfer = nanos_of(json, "overlapped_transfer_ns");
  return c;
}

Json failure_to_json(const front::Failure& failure) {
  return {{"type", front::name_of(failure.kind)},
          {"rank", failure.rank},
          {"message", failure.message},
          {"file", failure.file},
          {"line", failure.line},
          {"time_ns", failure.time.value()}};
}

front::Failure failure_from_json(const Json& json) {
  front::Failure failure;
  const auto type = json.at("type").get<std::string>();
  const auto kind = front::kFailureWords.find(type);
  if (!kind) throw std::runtime_error("there is no failure of type '" + type + "'");
  failure.kind = *kind;
  failure.rank = json.at("rank").get<int>();
  failure.message = json.at("message").get<std::string>();
  failure.file = json.at("file").get<std::string>();
  failure.line = json.at("line").get<int>();
  failure.time = nanos_of(json, "time_ns");
  return failure;
}

}  // namespace shardlings::wire
