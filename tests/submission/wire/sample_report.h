/// \file
/// What a run of two ranks may leave behind, with something of everything.
#pragma once

#include <stdexcept>
#include <string>

#include "submission/wire/result_pack.h"

namespace shardlings::grading {

inline front::RunReport sample_report() {
  front::RunReport report;
  report.ranks.resize(2);
  for (front::RankReport& rank : report.ranks) {
    rank.counters.peak = Bytes(99);
    rank.counters.peak_file = "puzzle.cpp";
    rank.counters.host.peak_by_kind[1] = Bytes(7);
    rank.counters.copies[1] = {2, Bytes(8)};
    rank.counters.busy[2] = Nanos(3);
    rank.counters.waited_for_host = Nanos(-1);
    rank.counters.traffic[{front::Collective::send_recv, "down", front::Link::inter_node}] = {3, Bytes(4), Bytes(5)};
    rank.trace.names = {"matmul", "all_reduce"};
    rank.trace.groups = {"world"};
    rank.trace.events.resize(5);
    for (front::Event& event : rank.trace.events) event.at = {"puzzle.cpp", 3};
    rank.trace.events[4].measured_begin = Nanos(11);
    rank.trace.events[4].measured_end = Nanos(12);
    rank.trace.memory.resize(3);
    front::Shown& shown = rank.shows.kept.emplace_back();
    shown.label = "x";
    shown.shape = {2, 2};
    front::look_at(std::vector<float>{1, 2, 3, 4}, shown);
    rank.shows.left_out = 5;
    rank.published = {{"w", {2, 2, {{0, 2}, {0, 2}}}, {1, 2, 3, 4}}};
  }
  report.ranks[1].counters.operations = 6;
  report.failure = front::Failure{front::FailureKind::leak, 1, "leak: …", "puzzle.cpp", 7, Nanos(4)};
  return report;
}

/// True if the bytes could be read; anything but BadPack that is thrown ends the test.
inline bool readable(const std::string& bytes, wire::Result& result) {
  try {
    wire::unpack_report(bytes, 2, result);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

}  // namespace shardlings::grading
