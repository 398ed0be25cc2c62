/// \file
/// Live and peak bytes of one of a rank's memories, by kind, and who made the peak.
#pragma once

#include <string>

#include "front/memory/storage.h"
#include "front/trace/memory_use.h"

namespace shardlings::front {

/// What some operations do to a memory, whatever was alive in it before.
struct LedgerChange {
  Bytes rise;  ///< to the most that is alive at once meanwhile; not below 0
  KindBytes rise_by_kind{};
  Bytes change;  ///< until the end
  KindBytes change_by_kind{};
};

class Ledger {
 public:
  Ledger(Memory memory, Bytes capacity) : memory_(memory), capacity_(capacity) {}

  bool fits(Bytes size) const { return live_ + size <= capacity_; }
  Memory memory() const { return memory_; }
  Bytes capacity() const { return capacity_; }
  Bytes live() const { return live_; }
  const KindBytes& live_by_kind() const { return live_by_kind_; }

  void add(Kind kind, Bytes size, Location at);
  void remove(Kind kind, Bytes size);
  /// Starts the peak anew from what is alive.
  void reset_peak(Location at);

  /// What has been done to this ledger since it was copied and its peak started anew.
  LedgerChange since(const Ledger& copy) const;
  /// The peak is the copy's, unless it has become higher.
  void resume_peak(const Ledger& copy);
  /// The same once more, as if it were done at one place.
  void repeat(const LedgerChange& change, Location at);
  /// Takes back what was alive of each kind.
  void remove(const KindBytes& by_kind);
  MemoryUse use() const;

 private:
  Memory memory_;
  Bytes capacity_;
  Bytes live_;
  KindBytes live_by_kind_{};
  Bytes peak_;
  KindBytes peak_by_kind_{};
  Location peak_at_;
};

/// An allocation for which there is no room.
struct Refused {
  int rank = 0;
  Bytes asked;
  Kind kind = Kind::other;
  Location at;
  /// The capacity would allow it, but the machine, which all ranks share, has no more.
  bool by_machine = false;
};

/// The out-of-memory sentence: what was asked for, and what is alive in that memory by kind and by source line.
std::string out_of_memory_message(const Refused& refused, const Ledger& ledger, const StorageTable& storages);

}  // namespace shardlings::front
