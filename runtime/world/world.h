/// \file
/// A run: N ranks with devices, clocks and counters, what they did and why it failed if it did.
#pragma once

#include <functional>
#include <memory>

#include "back/engine/engine.h"
#include "back/fabric/fabric.h"
#include "back/store/store.h"
#include "back/transport/progress.h"
#include "front/rank/options.h"
#include "front/trace/run_report.h"
#include "shardlings/rank.h"

namespace shardlings::world {

struct Options : front::RankOptions {
  int ranks = 1;
  // The parts. Left empty, they are threads, CPU devices and the in-process fabric.
  std::function<std::unique_ptr<back::Engine>()> make_engine;
  std::function<std::unique_ptr<back::Device>(int rank)> make_device;
  std::function<std::unique_ptr<back::Fabric>()> make_fabric;
  /// Where what is stored outlives the process. Left empty: nowhere, as with every command; files are made of the runs
  /// of tests/puzzles/killed_runs_test.cpp. What `./shardlings train` goes on from is its own: train/checkpoint.h.
  /// Not for runs in which ranks die: what is kept is kept at once, and a death that is known only later would have
  /// torn it.
  std::function<std::unique_ptr<back::Store>()> make_store;
  /// Of this process, where the ranks are spread over several: then run() is for all of them together, as
  /// run_in_processes() says (process_world.h), with threads and a fabric between processes, whatever make_engine and
  /// make_fabric are. nullptr: all ranks are in this process.
  back::Progress* progress = nullptr;
  /// With these: told in the first one at once, under the lock of `progress`, why a process cannot go on. The run may
  /// not come to its end then.
  std::function<void(const back::Fault& fault)> on_fault;
};

/// Runs `body` on every rank and reports. Never throws for what the body does.
front::RunReport run(const Options& options, const std::function<void(Rank&)>& body);

}  // namespace shardlings::world
