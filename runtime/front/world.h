/// \file
/// A run: N ranks with devices, clocks and counters, what they did and why it failed if it did.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "back/engine/engine.h"
#include "back/fabric/fabric.h"
#include "front/clock/cluster.h"
#include "front/misuse/black_box.h"
#include "front/trace/event.h"
#include "shardlings/rank.h"

namespace shardlings::front {

struct WorldOptions {
  int ranks = 1;
  Cluster cluster;
  Bytes capacity{std::int64_t{1} << 40};       ///< of each device
  Bytes host_capacity{std::int64_t{1} << 40};  ///< of each rank's part of the host's memory
  bool poison_empty = false;                   ///< fill fresh memory with NaN
  bool trace = true;
  bool checks = true;             ///< misuse detection; off only for measuring what it costs
  BlackBox* black_box = nullptr;  ///< where each rank notes what it is doing; nullptr: nowhere
  // The parts. Left empty, they are threads, CPU devices and the in-process fabric.
  std::function<std::unique_ptr<back::Engine>()> make_engine;
  std::function<std::unique_ptr<back::Device>()> make_device;
  std::function<std::unique_ptr<back::Fabric>()> make_fabric;
};

/// Something a rank published for the judge (see harness.h).
struct Published {
  std::string name;
  Count rows = 0, cols = 0;    ///< extents of the whole
  Range row_range, col_range;  ///< the rectangle that this rank holds
  std::vector<float> values;   ///< row-major, of the rectangle
};

struct RankReport {
  Counters counters;
  RankTrace trace;
  std::vector<Published> published;
};

struct RunReport {
  std::vector<RankReport> ranks;
  std::optional<Failure> failure;
};

/// Runs `body` on every rank and reports. Never throws for what the body does.
RunReport run_world(const WorldOptions& options, const std::function<void(Rank&)>& body);

}  // namespace shardlings::front
