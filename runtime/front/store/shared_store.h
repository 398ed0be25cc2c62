/// \file
/// The store of ranks in one address space.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "back/store/store.h"
#include "base/mutex.h"
#include "front/store/item_store.h"
#include "front/trace/failure.h"

namespace shardlings::front {

/// What is there at the latest time that was asked for, and what comes after that, in the order of virtual time. Times
/// that are asked for never go back, so what lies before them is done once.
class SharedStore final : public ItemStore {
 public:
  /// `kept`: where it outlives the process; nullptr: nowhere.
  explicit SharedStore(std::unique_ptr<back::Store> kept = nullptr);

  void give(const ItemName& name, const Content& content) override EXCLUDES(lock_);
  void begin() override EXCLUDES(lock_);
  void write(const ItemWrite& write) override EXCLUDES(lock_);
  void rename(const FolderRename& rename) override EXCLUDES(lock_);
  void bury(int rank, Nanos died) override EXCLUDES(lock_);
  ItemState look(Nanos time, const ItemName& name) override EXCLUDES(lock_);
  bool has_folder(Nanos time, const std::string& folder) override EXCLUDES(lock_);

  /// After the run: that two ranks have written one item at the same time, the first ones that did.
  std::optional<Failure> race() EXCLUDES(lock_);

 private:
  /// A write of which the item shows nothing else; one that is over is none.
  struct Stored {
    ItemWrite write;
    bool is_over = false;
  };
  using Folder = std::map<std::string, std::shared_ptr<Stored>>;
  /// What happens at one moment. Of those of one time an end comes before a new name, and that before a beginning.
  struct Happening {
    enum class What : std::uint8_t { end, rename, begin };
    What what = What::end;
    std::shared_ptr<Stored> stored;  ///< of a write
    FolderRename rename;
    int rank = 0;
    std::uint64_t number = 0;  ///< of those of this rank
  };

  void add(Nanos time, Happening happening) REQUIRES(lock_);
  void advance(Nanos time) REQUIRES(lock_);
  void happen(const Happening& happening) REQUIRES(lock_);
  void note_race(const Stored& older, const Stored& newer) REQUIRES(lock_);
  void keep(const ItemWrite& write) REQUIRES(lock_);

  Mutex lock_;
  std::unique_ptr<back::Store> kept_ GUARDED_BY(lock_);
  std::map<std::string, Folder> folders_ GUARDED_BY(lock_);
  std::map<Nanos, std::vector<Happening>> coming_ GUARDED_BY(lock_);
  std::map<int, std::uint64_t> numbers_ GUARDED_BY(lock_);  ///< by rank: of its happenings
  std::optional<Failure> race_ GUARDED_BY(lock_);
  bool begun_ GUARDED_BY(lock_) = false;
};

}  // namespace shardlings::front
