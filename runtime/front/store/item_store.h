/// \file
/// The store that all ranks of a run share: what is in it at which virtual time.
///
/// Who asks for what is there at a time has waited before until it may look (Control::wait_to_look): whatever
/// anybody writes from then on begins and ends later. So the answer is the same in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "shardlings/tensor.h"

namespace shardlings::front {

/// "saving/weights.3.1".
struct ItemName {
  std::string folder, item;
  auto operator<=>(const ItemName&) const = default;
};
inline std::string text_of(const ItemName& name) {
  return name.folder + "/" + name.item;
}

/// What an item holds: the elements of a tensor, or one number.
struct Content {
  DType dtype = DType::f32;
  Count count = 0;                                      ///< of elements
  std::shared_ptr<const std::vector<std::byte>> bytes;  ///< nullptr where nothing is computed, and of a number
  std::optional<Count> number;
};

/// Where a call stands in the source, for whoever comes later.
struct SourcePlace {
  std::string file;  ///< base name
  int line = 0;
};
inline std::string text_of(const SourcePlace& at) {
  return at.file + ":" + std::to_string(at.line);
}

/// One write of an item.
struct ItemWrite {
  ItemName name;
  Content content;
  Nanos start, end;
  std::optional<Nanos> torn;  ///< when its rank dies, if that is before the end
  int rank = 0;
  SourcePlace at;
};

/// A folder's new name.
struct FolderRename {
  std::string folder, as;
  Nanos end;
  int rank = 0;
};

/// What is there of an item.
struct ItemState {
  enum class State : std::uint8_t { none, whole, torn };
  State state = State::none;
  Content content;
  int rank = -1;  ///< who has written it; -1: nobody in this run
  SourcePlace at;
  bool died = false;  ///< torn, and by then its rank has died
};

class ItemStore {
 public:
  virtual ~ItemStore() = default;

  /// It was there before the run.
  virtual void give(const ItemName& name, const Content& content) = 0;
  /// What is measured begins, on all ranks together: all that has been written is over. Again: does nothing.
  virtual void begin() = 0;

  virtual void write(const ItemWrite& write) = 0;
  virtual void rename(const FolderRename& rename) = 0;
  /// The rank has died: what of it goes on beyond this time is torn.
  virtual void bury(int rank, Nanos died) = 0;

  /// What is there at a time at which this rank may look.
  virtual ItemState look(Nanos time, const ItemName& name) = 0;
  virtual bool has_folder(Nanos time, const std::string& folder) = 0;
};

}  // namespace shardlings::front
