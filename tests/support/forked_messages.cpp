#include "support/forked_messages.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

#include "submission/wire/shown_pack.h"

namespace shardlings::support {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

Writer& operator<<(Writer& to, const front::Published& p) {
  return to << p.name << p.place.rows << p.place.cols << p.place.part.rows << p.place.part.cols << p.values
            << p.missing;
}
Reader& operator>>(Reader& from, front::Published& p) {
  return from >> p.name >> p.place.rows >> p.place.cols >> p.place.part.rows >> p.place.part.cols >> p.values >>
         p.missing;
}

Writer& operator<<(Writer& to, const front::MemoryUse& m) {
  return to << m.live << m.live_by_kind << m.peak << m.peak_by_kind << m.peak_file << m.peak_line;
}
Reader& operator>>(Reader& from, front::MemoryUse& m) {
  return from >> m.live >> m.live_by_kind >> m.peak >> m.peak_by_kind >> m.peak_file >> m.peak_line;
}

// In the order of the structure; the comparison of whole counters in the contract tests notices a field forgotten here.
Writer& operator<<(Writer& to, const front::Counters& c) {
  to << static_cast<const front::MemoryUse&>(c) << c.host << c.saved_peak << c.flops;
  to << c.operations << c.layer_forwards << c.layer_backwards << c.traffic << c.sent_to_host << c.host_reads;
  to << c.copies << c.end << c.busy << c.waited_for_peers << c.exposed_transfer << c.overlapped_transfer;
  return to << c.waited_for_host;
}
Reader& operator>>(Reader& from, front::Counters& c) {
  from >> static_cast<front::MemoryUse&>(c) >> c.host >> c.saved_peak >> c.flops;
  from >> c.operations >> c.layer_forwards >> c.layer_backwards >> c.traffic >> c.sent_to_host >> c.host_reads;
  from >> c.copies >> c.end >> c.busy >> c.waited_for_peers >> c.exposed_transfer >> c.overlapped_transfer;
  return from >> c.waited_for_host;
}

}  // namespace

Channel::~Channel() {
  if (socket_ >= 0) close(socket_);
}

void Channel::send(const Writer& message) {
  const std::uint64_t size = message.bytes().size();
  std::vector<std::byte> bytes(sizeof size);
  std::memcpy(bytes.data(), &size, sizeof size);
  bytes.insert(bytes.end(), message.bytes().begin(), message.bytes().end());
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t sent = ::send(socket_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR) fail("send");
    if (sent > 0) done += static_cast<std::size_t>(sent);
  }
}

bool Channel::read_all(void* to, std::size_t size) {
  auto* place = static_cast<std::byte*>(to);
  while (size > 0) {
    const ssize_t got = recv(socket_, place, size, 0);
    if (got == 0) return false;
    if (got < 0 && errno != EINTR) return false;
    if (got < 0) continue;
    place += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

std::optional<Reader> Channel::receive() {
  std::uint64_t size = 0;
  if (!read_all(&size, sizeof size)) return std::nullopt;
  std::vector<std::byte> bytes(size);
  if (!read_all(bytes.data(), bytes.size())) return std::nullopt;
  return Reader(std::move(bytes));
}

std::pair<Channel, Channel> make_channels() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("socketpair");
  return {Channel(ends[0]), Channel(ends[1])};
}

Writer& operator<<(Writer& to, const front::CallRecord& r) {
  to << r.signature << r.at << r.order << r.posted << r.lane_free << r.label << r.color << r.key << r.groups;
  return to << std::string(r.name) << r.not_learners << r.is_async << r.from_any << r.row;
}
Reader& operator>>(Reader& from, front::CallRecord& r) {
  from >> r.signature >> r.at >> r.order >> r.posted >> r.lane_free >> r.label >> r.color >> r.key >> r.groups;
  r.name = lasting(from.get<std::string>());
  return from >> r.not_learners >> r.is_async >> r.from_any >> r.row;
}

Writer& operator<<(Writer& to, const front::Placement& placement) {
  return to << placement.spread << placement.places << placement.nodes;
}
Reader& operator>>(Reader& from, front::Placement& placement) {
  return from >> placement.spread >> placement.places >> placement.nodes;
}

Writer& operator<<(Writer& to, const front::GroupInfo& group) {
  return to << group.name << *group.members << group.placement << group.number;
}
Reader& operator>>(Reader& from, front::GroupInfo& group) {
  from >> group.name;
  group.members = std::make_shared<const std::vector<int>>(from.get<std::vector<int>>());
  return from >> group.placement >> group.number;
}

Writer& operator<<(Writer& to, const front::Outcome& o) {
  to << o.start << o.end << o.label << o.signature;
  return to << std::vector<back::DataHandle>(o.handles.begin(), o.handles.end());
}

Writer& operator<<(Writer& to, const front::Failure& f) {
  return to << f.kind << f.rank << f.message << f.file << f.line << f.time;
}
Reader& operator>>(Reader& from, front::Failure& f) {
  return from >> f.kind >> f.rank >> f.message >> f.file >> f.line >> f.time;
}

Writer& operator<<(Writer& to, const front::TrafficKey& key) {
  return to << key.kind << key.group << key.link;
}
Reader& operator>>(Reader& from, front::TrafficKey& key) {
  return from >> key.kind >> key.group >> key.link;
}

// Plain but for the name of its file, whose address means nothing to others.
Writer& operator<<(Writer& to, const front::Event& event) {
  std::array<std::byte, sizeof event> bytes;
  std::memcpy(bytes.data(), &event, sizeof event);
  return to << bytes << event.at;
}
Reader& operator>>(Reader& from, front::Event& event) {
  const auto bytes = from.get<std::array<std::byte, sizeof event>>();
  std::memcpy(static_cast<void*>(&event), bytes.data(), sizeof event);
  return from >> event.at;
}

Writer& operator<<(Writer& to, const front::RankReport& report) {
  to << report.counters << report.trace.events << report.trace.memory << report.trace.host_memory;
  to << report.trace.names << report.trace.groups;
  to << report.published.size();
  for (const front::Published& published : report.published) to << published;
  Packer shows;
  wire::pack_shows(report.shows, shows);
  to << shows.take();
  return to;
}
Reader& operator>>(Reader& from, front::RankReport& report) {
  from >> report.counters >> report.trace.events >> report.trace.memory >> report.trace.host_memory;
  from >> report.trace.names >> report.trace.groups;
  report.published.resize(from.get<std::size_t>());
  for (front::Published& published : report.published) from >> published;
  const auto shows = from.get<std::string>();
  Unpacker unpacker(shows);
  report.shows = wire::unpack_shows(unpacker);
  return from;
}

}  // namespace shardlings::support
