#include "front/trace/trace.h"

#include <algorithm>

namespace shardlings::front {
namespace {

std::size_t index_of(std::vector<std::string>& names, std::string_view text) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  names.emplace_back(text);
  return names.size() - 1;
}

}  // namespace

void Trace::add(const Event& event, const back::Marks& marks) {
  if (!enabled_) return;
  if (marks.begin != 0 && marks.end != 0) measured_.push_back({trace_.events.size(), marks});
  trace_.events.push_back(event);
}

void Trace::resolve(back::Device& device) {
  for (const Measured& measured : measured_) {
    const auto begin = device.time_of(measured.marks.begin);
    const auto end = device.time_of(measured.marks.end);
    if (!begin || !end) continue;
    trace_.events[measured.event].measured_begin = *begin;
    trace_.events[measured.event].measured_end = *end;
  }
  measured_.clear();
}

void Trace::memory(Memory which, Nanos time, const KindBytes& live) {
  if (enabled_) (which == Memory::host ? trace_.host_memory : trace_.memory).push_back({time, live});
}

std::uint16_t Trace::name(const char* text) {
  return static_cast<std::uint16_t>(index_of(trace_.names, text));
}

std::int32_t Trace::group(const std::string& name, const GroupMembers& members) {
  if (const auto known = indices_.find(members); known != indices_.end()) return known->second;
  std::size_t index = 0;
  while (index < trace_.groups.size() && (trace_.groups[index] != name || *trace_.members[index] != *members)) ++index;
  if (index == trace_.groups.size()) {
    trace_.groups.push_back(name);
    trace_.members.push_back(members);
  }
  return indices_[members] = static_cast<std::int32_t>(index);
}

// What is known of the indices goes with the groups that they are of.
RankTrace Trace::take() {
  indices_.clear();
  return std::move(trace_);
}

void Trace::put_back(RankTrace trace) {
  indices_.clear();
  trace_ = std::move(trace);
}

void Trace::restart() {
  trace_.events.clear();
  measured_.clear();
  trace_.memory.clear();
  trace_.host_memory.clear();
}

}  // namespace shardlings::front
