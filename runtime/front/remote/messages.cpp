#include "front/remote/messages.h"

#include <array>
#include <memory>
#include <set>

#include "base/mutex.h"

namespace shardlings::front::remote {

const char* lasting(std::string_view text) {
  static Mutex lock;
  static std::set<std::string, std::less<>> texts;
  const MutexLock guard(lock);
  const auto found = texts.find(text);
  return (found != texts.end() ? found : texts.emplace(text).first)->c_str();
}

Writer& operator<<(Writer& to, const CallRecord& r) {
  to << r.signature << r.at << r.order << r.posted << r.lane_free << r.label << r.color << r.key << r.groups;
  return to << r.name << r.not_learners << r.is_async << r.from_any << r.row;
}
Reader& operator>>(Reader& from, CallRecord& r) {
  from >> r.signature >> r.at >> r.order >> r.posted >> r.lane_free >> r.label >> r.color >> r.key >> r.groups;
  r.name = lasting(from.text());
  return from >> r.not_learners >> r.is_async >> r.from_any >> r.row;
}

Writer& operator<<(Writer& to, const GroupInfo& group) {
  to << group.name << *group.members << group.running << group.number;
  return to << group.placement.spread << group.placement.places << group.placement.nodes;
}
Reader& operator>>(Reader& from, GroupInfo& group) {
  from >> group.name;
  group.members = std::make_shared<const std::vector<int>>(from.get<std::vector<int>>());
  from >> group.running >> group.number;
  return from >> group.placement.spread >> group.placement.places >> group.placement.nodes;
}

Writer& operator<<(Writer& to, const Outcome& o) {
  to << o.start << o.end << o.label << o.signature;
  return to << std::vector<back::DataHandle>(o.handles.begin(), o.handles.end());
}
void read_outcome(Reader& from, Outcome& outcome, std::vector<back::DataHandle>& handles) {
  from >> outcome.start >> outcome.end >> outcome.label >> outcome.signature >> handles;
  outcome.handles = handles;
}

Writer& operator<<(Writer& to, const Failure& f) {
  return to << f.kind << f.rank << f.message << f.file << f.line << f.time << f.no_memory;
}
Reader& operator>>(Reader& from, Failure& f) {
  return from >> f.kind >> f.rank >> f.message >> f.file >> f.line >> f.time >> f.no_memory;
}

}  // namespace shardlings::front::remote
