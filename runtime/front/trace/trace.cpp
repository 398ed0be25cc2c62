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

void Trace::memory(Nanos time, const KindBytes& live) {
  if (enabled_) trace_.memory.push_back({time, live});
}

std::uint16_t Trace::name(const char* text) {
  return static_cast<std::uint16_t>(index_of(trace_.names, text));
}

std::int32_t Trace::group(const std::string& name) {
  return static_cast<std::int32_t>(index_of(trace_.groups, name));
}

void Trace::restart(Nanos time, const KindBytes& live) {
  trace_.events.clear();
  trace_.memory.clear();
  memory(time, live);
}

}  // namespace shardlings::front
