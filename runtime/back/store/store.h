/// \file
/// Where what a run has stored outlives the process.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace shardlings::back {

/// Of an item: what it is called, and all that is to be kept of it.
struct KeptItem {
  std::string folder, name;
  std::string bytes;
};

/// What is kept of folders and their items. Called from any thread, by one at a time.
class Store {
 public:
  virtual ~Store() = default;
  /// All items that are whole, as they were left.
  virtual std::vector<KeptItem> load() = 0;
  /// At any moment, a kill included, there is the old item, none, or the new one, and never a part of one.
  /// Throws std::runtime_error with the path and the reason.
  virtual void put(const KeptItem& item) = 0;
  /// The item is gone.
  virtual void remove(const std::string& folder, const std::string& name) = 0;
  /// The folder has another name, and what had that is gone: at any moment one of the two, whole, is there by that
  /// name. Nothing if there is no such folder, or if that is its name already.
  virtual void publish(const std::string& folder, const std::string& as) = 0;
};

/// In files of a folder of the file system, which is made if it is not there. No verb of the command keeps a store; it
/// stands here so that a test can kill a program of puzzle 35 in truth and let another one go on (tests/puzzles).
std::unique_ptr<Store> make_files_store(const std::string& path);

}  // namespace shardlings::back
