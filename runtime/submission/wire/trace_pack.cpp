#include "submission/wire/trace_pack.h"

#include <map>
#include <memory>
#include <utility>

#include "base/text.h"

namespace shardlings::wire {
namespace {

// At least so many bytes for each, so that a wrong number of them cannot ask for more memory than the data take.
constexpr std::size_t kEventBytes = 3 + 2 + 4 * 6 + 8 * 9;
constexpr std::size_t kMemoryPointBytes = 8 * (1 + kNumKinds);

void pack_texts(const auto& texts, Packer& out) {
  out.put<std::uint64_t>(texts.size());
  for (const std::string& text : texts) out.text(text);
}

template <class Texts>
Texts unpack_texts(Unpacker& in) {
  Texts texts;
  for (std::size_t n = in.count(sizeof(std::uint64_t)); n > 0; --n) texts.push_back(in.text());
  return texts;
}

/// The source files of a trace, numbered; most events share one literal.
class FileTable {
 public:
  std::uint32_t number(const char* file) {
    if (file == last_) return last_number_;
    const auto [entry, is_new] = numbers_.try_emplace(std::string(base_name(file)), files_.size());
    if (is_new) files_.push_back(entry->first);
    last_ = file;
    return last_number_ = static_cast<std::uint32_t>(entry->second);
  }
  const std::deque<std::string>& files() const { return files_; }

 private:
  std::map<std::string, std::size_t> numbers_;
  std::deque<std::string> files_;
  const char* last_ = nullptr;
  std::uint32_t last_number_ = 0;
};

void pack_event(const front::Event& event, FileTable& files, Packer& out) {
  out.put(event.kind);
  out.put(event.lane);
  out.put(event.depth);
  out.put(event.name);
  out.put(event.group);
  out.put(event.peer);
  out.put(event.label.micro);
  out.put(event.label.layer);
  out.put(files.number(event.at.file));
  out.put<std::int32_t>(event.at.line);
  out.put(event.order);
  for (const Nanos time : {event.begin, event.end, event.posted, event.measured_begin, event.measured_end}) {
    out.put(time.value());
  }
  out.put(event.bytes.value());
  out.put(event.flops.value());
  out.put(event.live_after.value());
}

void pack_curve(const std::vector<front::MemoryPoint>& curve, Packer& out) {
  out.put<std::uint64_t>(curve.size());
  for (const front::MemoryPoint& point : curve) {
    out.put(point.time.value());
    for (const Bytes live : point.live) out.put(live.value());
  }
}

std::vector<front::MemoryPoint> unpack_curve(Unpacker& in) {
  std::vector<front::MemoryPoint> curve(in.count(kMemoryPointBytes));
  for (front::MemoryPoint& point : curve) {
    point.time = Nanos(in.get<std::int64_t>());
    for (Bytes& live : point.live) live = Bytes(in.get<std::int64_t>());
  }
  return curve;
}

front::Event unpack_event(const front::RankTrace& tables, Unpacker& in) {
  front::Event event;
  event.kind = in.choice<front::EventKind>(front::kEventKinds);
  event.lane = in.choice<front::Lane>(front::kLanes);
  event.depth = in.get<std::uint8_t>();
  event.name = in.get<std::uint16_t>();
  event.group = in.get<std::int32_t>();
  event.peer = in.get<std::int32_t>();
  event.label.micro = in.get<std::int32_t>();
  event.label.layer = in.get<std::int32_t>();
  const auto file = in.get<std::uint32_t>();
  const auto groups = static_cast<std::int64_t>(tables.groups.size());
  if (event.name >= tables.names.size() || event.group < -1 || event.group >= groups || file >= tables.files->size()) {
    throw BadPack();
  }
  event.at.file = (*tables.files)[file].c_str();
  event.at.line = in.get<std::int32_t>();
  event.order = in.get<std::uint64_t>();
  for (Nanos* time : {&event.begin, &event.end, &event.posted, &event.measured_begin, &event.measured_end}) {
    *time = Nanos(in.get<std::int64_t>());
  }
  event.bytes = Bytes(in.get<std::int64_t>());
  event.flops = Flops(in.get<std::int64_t>());
  event.live_after = Bytes(in.get<std::int64_t>());
  return event;
}

}  // namespace

// The number of a list that is there already, or the next number and then the list.
void TracePacker::add_members(const front::GroupMembers& members) {
  const auto [known, is_unknown] = lists_.try_emplace(members, 0);
  bool is_new = false;
  if (is_unknown) {
    const std::vector<int> list = members ? *members : std::vector<int>();
    const auto [entry, is_first] = contents_.try_emplace(list, contents_.size());
    known->second = entry->second;
    is_new = is_first;
  }
  out_.put<std::uint64_t>(known->second);
  if (!is_new) return;
  const std::size_t size = members ? members->size() : 0;
  out_.put<std::uint64_t>(size);
  if (size > 0) out_.block(members->data(), size * sizeof(int));
}

front::GroupMembers TraceUnpacker::next_members() {
  const auto number = in_.get<std::uint64_t>();
  if (number > lists_.size()) throw BadPack();
  if (number == lists_.size()) {
    std::vector<int> members(in_.count(sizeof(int)));
    in_.block(members.data(), members.size() * sizeof(int));
    lists_.push_back(members.empty() ? nullptr : std::make_shared<const std::vector<int>>(std::move(members)));
  }
  return lists_[number];
}

void TracePacker::add(const front::RankTrace& trace) {
  FileTable files;
  Packer events;
  for (const front::Event& event : trace.events) pack_event(event, files, events);
  pack_texts(trace.names, out_);
  pack_texts(trace.groups, out_);
  for (std::size_t group = 0; group < trace.groups.size(); ++group) {
    add_members(group < trace.members.size() ? trace.members[group] : nullptr);
  }
  pack_texts(files.files(), out_);
  out_.put<std::uint64_t>(trace.events.size());
  const std::string packed = events.take();
  out_.block(packed.data(), packed.size());
  pack_curve(trace.memory, out_);
  pack_curve(trace.host_memory, out_);
}

front::RankTrace TraceUnpacker::next() {
  front::RankTrace trace;
  trace.names = unpack_texts<std::vector<std::string>>(in_);
  trace.groups = unpack_texts<std::vector<std::string>>(in_);
  for (std::size_t group = 0; group < trace.groups.size(); ++group) trace.members.push_back(next_members());
  trace.files = std::make_shared<const std::deque<std::string>>(unpack_texts<std::deque<std::string>>(in_));
  const std::size_t events = in_.count(kEventBytes);
  trace.events.reserve(events);
  for (std::size_t i = 0; i < events; ++i) trace.events.push_back(unpack_event(trace, in_));
  trace.memory = unpack_curve(in_);
  trace.host_memory = unpack_curve(in_);
  return trace;
}

}  // namespace shardlings::wire
