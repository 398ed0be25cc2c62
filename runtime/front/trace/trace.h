/// \file
/// The record of one rank while it runs.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "back/fabric/fabric.h"
#include "front/trace/event.h"

namespace shardlings::front {

class Trace {
 public:
  explicit Trace(bool enabled) : enabled_(enabled) {}
  bool enabled() const { return enabled_; }

  /// `marks`: where it begins and ends on a lane of the device, if that measures.
  void add(const Event& event, const back::Marks& marks = {});
  void memory(Memory which, Nanos time, const KindBytes& live);
  /// How many events and points of curves there are.
  std::size_t size() const { return trace_.events.size() + trace_.memory.size() + trace_.host_memory.size(); }
  /// The index of a name; names are few and compared by text.
  std::uint16_t name(const char* text);
  /// The index of a group. Different groups may have one name; groups of one name and the same members are one here.
  std::int32_t group(const std::string& name, const GroupMembers& members);
  /// Forgets everything but the names.
  void restart();
  /// Asks the device what the marks say. Times are the host's steady clock's.
  void resolve(back::Device& device);
  RankTrace take();
  /// To go on with what was taken.
  void put_back(RankTrace trace);

 private:
  struct Measured {
    std::size_t event = 0;
    back::Marks marks;
  };

  bool enabled_;
  RankTrace trace_;
  /// Of trace_.groups, by the list that all members of a group share: known without a look into it.
  std::unordered_map<GroupMembers, std::int32_t> indices_;
  std::vector<Measured> measured_;
};

}  // namespace shardlings::front
