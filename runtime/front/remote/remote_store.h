/// \file
/// The store of ranks that are spread over processes: one process has it, and the others ask by messages. What a rank
/// has asked for before it waits has come to the store when the wait is over, since all messages go the same way.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "back/transport/progress.h"
#include "front/remote/archive.h"
#include "front/store/item_store.h"

namespace shardlings::front {

/// To a question of a rank's.
struct StoreAnswer {
  bool is_known = false;
  std::string text;  ///< packed; if it is not known, why not
};

/// A process's side.
class RemoteStore final : public ItemStore {
 public:
  explicit RemoteStore(back::Progress& progress);
  ~RemoteStore() override;

  void give(const ItemName& name, const Content& content) override;
  void begin() override;
  void write(const ItemWrite& write) override;
  void rename(const FolderRename& rename) override;
  void bury(int rank, Nanos died) override;
  ItemState look(Nanos time, const ItemName& name) override;
  bool has_folder(Nanos time, const std::string& folder) override;

 private:
  void tell(const remote::Writer& message);
  /// The answer to a question that this is, but for its number, which is put behind it. Throws MachineFault if there is
  /// none.
  std::string ask(remote::Writer question);

  back::Progress& progress_;
  std::uint64_t last_ = 0;                                  ///< number of a question; under the lock, as what is below
  std::unordered_map<std::uint64_t, StoreAnswer> answers_;  ///< that nobody has taken
};

/// The side of the process that has it.
class StoreServer {
 public:
  StoreServer(back::Progress& progress, ItemStore& store);
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

 private:
  void hear(int from, std::string_view message);
  template <class Say>
  void answer(int from, std::uint64_t number, Say say);

  back::Progress& progress_;
  ItemStore& store_;
};

}  // namespace shardlings::front
