#include "submission/wire/counters_pack.h"

#include <cstdint>
#include <optional>
#include <string>

namespace shardlings::wire {
namespace {

constexpr std::int64_t kNever = -1;

struct FieldWriter {
  Packer& out;

  void operator()(std::int64_t number) { out.put(number); }
  void operator()(int number) { out.put<std::int32_t>(number); }
  void operator()(const std::string& text) { out.text(text); }
  void operator()(const std::optional<Nanos>& time) { out.put<std::int64_t>(time ? time->value() : kNever); }
  template <class Tag>
  void operator()(Quantity<Tag> quantity) {
    out.put(quantity.value());
  }
};

struct FieldReader {
  Unpacker& in;

  void operator()(std::int64_t& number) { number = in.get<std::int64_t>(); }
  void operator()(int& number) { number = in.get<std::int32_t>(); }
  void operator()(std::string& text) { text = in.text(); }
  void operator()(std::optional<Nanos>& time) {
    const auto value = in.get<std::int64_t>();
    if (value != kNever) time = Nanos(value);
  }
  template <class Tag>
  void operator()(Quantity<Tag>& quantity) {
    quantity = Quantity<Tag>(in.get<std::int64_t>());
  }
};

/// `use` is a MemoryUse, const where it is written.
template <class Field, class Use>
void each_of_memory(Field& field, Use& use) {
  field(use.live);
  for (auto& bytes : use.live_by_kind) field(bytes);
  field(use.peak);
  for (auto& bytes : use.peak_by_kind) field(bytes);
  field(use.peak_file);
  field(use.peak_line);
}

/// All but the traffic, in one order for writing and reading.
template <class Field, class Counters>
void each_of_counters(Field& field, Counters& c) {
  each_of_memory(field, c);
  each_of_memory(field, c.host);
  field(c.saved_peak);
  field(c.flops);
  field(c.operations);
  field(c.layer_forwards);
  field(c.layer_backwards);
  field(c.sent_to_host);
  field(c.host_reads);
  for (auto& copies : c.copies) {
    field(copies.calls);
    field(copies.bytes);
  }
  for (auto& copies : c.store) {
    field(copies.calls);
    field(copies.bytes);
  }
  field(c.renames);
  field(c.end);
  for (auto& time : c.busy) field(time);
  field(c.waited_for_peers);
  field(c.exposed_transfer);
  field(c.overlapped_transfer);
  field(c.waited_for_host);
  field(c.waited_for_store);
  field(c.died);
}

template <class Field, class Traffic>
void each_of_traffic(Field& field, Traffic& traffic) {
  field(traffic.calls);
  field(traffic.sent);
  field(traffic.received);
}

}  // namespace

void pack_counters(const front::Counters& counters, Packer& out) {
  FieldWriter field{out};
  each_of_counters(field, counters);
  out.put<std::uint64_t>(counters.traffic.size());
  for (const auto& [key, traffic] : counters.traffic) {
    out.put(key.kind);
    out.text(key.group);
    out.put(key.link);
    each_of_traffic(field, traffic);
  }
}

front::Counters unpack_counters(Unpacker& in) {
  front::Counters counters;
  FieldReader field{in};
  each_of_counters(field, counters);
  constexpr std::size_t kLeast = 3 * sizeof(std::int64_t);
  for (std::size_t n = in.count(kLeast); n > 0; --n) {
    front::TrafficKey key;
    key.kind = in.choice<front::Collective>(back::kCollectives);
    key.group = in.text();
    key.link = in.choice<front::Link>(front::kLinks);
    each_of_traffic(field, counters.traffic[key]);
  }
  return counters;
}

}  // namespace shardlings::wire
