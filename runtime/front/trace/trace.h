/// \file
/// The record of one rank while it runs.
#pragma once

#include <string>
#include <vector>

#include "front/trace/event.h"

namespace shardlings::front {

class Trace {
 public:
  explicit Trace(bool enabled) : enabled_(enabled) {}
  bool enabled() const { return enabled_; }

  void add(const Event& event) {
    if (enabled_) trace_.events.push_back(event);
  }
  void memory(Memory which, Nanos time, const KindBytes& live);
  /// The index of a name; names are few and compared by text.
  std::uint16_t name(const char* text);
  /// The index of a group. Different groups may have one name.
  std::int32_t group(const std::string& name, const std::vector<int>& members);
  /// Forgets everything but the names.
  void restart();
  RankTrace take() { return std::move(trace_); }

 private:
  bool enabled_;
  RankTrace trace_;
};

}  // namespace shardlings::front
