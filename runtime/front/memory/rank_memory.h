/// \file
/// One rank's two memories, its device's and its part of the host's: allocations, arguments, and what is in flight.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "api/arguments.h"
#include "back/kernels/kernels.h"
#include "front/memory/ledger.h"
#include "front/memory/operand.h"
#include "front/memory/storage.h"
#include "front/rank/rank_context.h"
#include "front/trace/counters.h"

namespace shardlings::front {

/// Which argument of a call is asked for, and for what.
struct Lookup {
  int index = 0;
  bool writes = false;
  /// Work that will be over before this call's begins: its marks do not count.
  std::span<const std::uint64_t> after = {};
  bool could_follow = false;  ///< the call could have been told to come after other work
  bool on_device = false;     ///< one in the host's memory is an error
};

class RankMemory {
 public:
  explicit RankMemory(RankContext& rank);
  ~RankMemory();
  RankMemory(const RankMemory&) = delete;
  RankMemory& operator=(const RankMemory&) = delete;

  /// Whether these elements are alive and inside their storage.
  bool holds(const detail::Ref& ref);
  /// The argument: alive, inside its storage, not in conflict with an operation in flight. An empty view gives an empty
  /// Operand, on the device. Throws InvalidArgument, MisuseError(race).
  Operand find(const detail::Call& call, const Lookup& lookup);
  /// Argument i, to be read or written, in the device's memory; one in the host's is an error.
  Operand reading(const detail::Call& call, int i) { return find(call, {.index = i, .on_device = true}); }
  Operand writing(const detail::Call& call, int i) {
    return find(call, {.index = i, .writes = true, .on_device = true});
  }
  template <detail::FieldKind kind>
  Operand reading(const detail::Call& call, detail::Argument<kind> argument) {
    return reading(call, argument.index);
  }
  template <detail::FieldKind kind>
  Operand writing(const detail::Call& call, detail::Argument<kind> argument) {
    return writing(call, argument.index);
  }
  /// Where an argument lies; the device's memory for one that is empty or gone.
  Memory memory_of(const detail::Ref& ref);
  /// A new storage. Throws OutOfMemory, or InvalidArgument for a negative extent.
  Operand allocate(Shape shape, DType dtype, Kind kind, Memory memory, Location at, int micro = -1);
  /// Frees, or, if the storage is in flight, remembers to, and defers the error.
  void free(const detail::Ref& ref, Location at);

  /// Throws OutOfMemory if the device has no room for so much more.
  void require_room(Bytes size, Kind kind, Location at);

  /// \name For who repeats what operations do to the memory, without the operations
  /// @{
  /// Of the device. The change fits.
  void repeat(const LedgerChange& change, Location at);
  /// Bytes of the device are free that no storage has.
  void remove(const KindBytes& by_kind);
  /// A storage whose bytes are counted already.
  Operand allocate_counted(Shape shape, DType dtype, Kind kind, Location at);
  /// The storage goes, and its bytes stay counted.
  void free_counted(const detail::Ref& ref);
  /// Called before somebody is told what is alive: to make storages of what is counted and has none.
  void list_with(std::function<void()> make_storages) { make_storages_ = std::move(make_storages); }
  /// @}

  /// What fills a storage as a whole says what its data are about; a part of one does not.
  void label_whole(const Operand& operand, Label label);
  /// What the data of a view that is not empty are about, as find() says.
  Label label_of(const detail::Ref& ref) { return label_in(ref, storages_.at(ref.storage)); }

  /// All elements become `value`; takes no virtual time.
  void fill(const Operand& target, float value);
  /// The elements, as f32; takes no virtual time.
  std::vector<float> download(const Operand& from);

  RankContext& rank() { return rank_; }
  StorageTable& storages() { return storages_; }
  Ledger& ledger(Memory memory) { return ledgers_[static_cast<std::size_t>(memory)]; }
  /// Live and peak bytes as they are now.
  void write(Counters& counters) const;
  /// Peaks and curves begin anew.
  void restart(Location at);

 private:
  static Label label_in(const detail::Ref& ref, const Storage& storage) {
    return {ref.micro >= 0 ? ref.micro : storage.label.micro, storage.label.layer};
  }
  void check_race(const detail::Call& call, const Storage& storage, Range range, const Lookup& lookup) const;
  struct NewStorage {
    const Shape& shape;
    Count count = 0;  ///< of elements: the shape's size
    DType dtype = DType::f32;
    Kind kind = Kind::other;
    Bytes weight;  ///< as it is counted
    Memory memory = Memory::device;
    Location at;
    int micro = -1;
  };
  /// The storage alone: nothing is counted. Throws OutOfMemory if the machine has no more.
  Operand add_storage(const NewStorage& made);
  void note_curve(Memory memory);
  void* allocate_on_device(const NewStorage& made);
  [[noreturn]] void out_of_memory(const Refused& refused, Memory memory);

  RankContext& rank_;
  std::function<void()> make_storages_;
  StorageTable storages_;
  std::array<Ledger, kMemories> ledgers_;
};

}  // namespace shardlings::front
