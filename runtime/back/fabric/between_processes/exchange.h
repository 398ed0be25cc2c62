/// \file
/// One member's side of an operation whose members are in several processes.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "back/fabric/fabric.h"
#include "back/transport/progress.h"
#include "base/parts.h"

namespace shardlings::back::between_processes {

/// Invariant: from launch() to the end all happens under the lock of the Progress, but for help(), which takes it.
class ProcessExchange final : public Exchange, private Transfers {
 public:
  explicit ProcessExchange(Progress& progress) : progress_(progress) {}

  void begin(int members) override;
  DataHandle post(int member, const Signature& signature, const Buffers& buffers) override;
  bool launch(const Signature& signature, std::span<const DataHandle> handles) override;
  /// Waits for the end.
  HelpResult help(int member) override;
  void finish(int) override {}

 private:
  enum class Phase : std::uint8_t { idle, first, second, done };

  void ended() override;
  void start_first();
  void start_second();
  void send_parts();
  void combine();
  void collect();
  void exchange_all();
  /// Bytes of `range` of the input or the output.
  void send(int member, Range range);
  void send_from(int member, const void* data, Count n);
  void receive(int member, void* data, Count n);
  const char* in(Count element) const;
  char* out(Count element) const;
  Range part(int member) const { return part_of(signature_.count, signature_.members, member); }
  int process_of(int member) const;
  /// Of data for a member, which says which of its process's exchanges it is, from a member, which may be one of
  /// several in its process.
  int tag(int from, int to) const;
  bool reduces() const;
  bool is_root() const { return member_ == signature_.root; }

  Progress& progress_;
  Phase phase_ = Phase::idle;
  int member_ = 0;
  std::uint64_t serial_ = 0;
  Signature signature_;
  Buffers buffers_;
  std::vector<DataHandle> handles_;
  std::vector<std::byte> inputs_;  ///< of a reduction: this member's part of all inputs, by member
  std::vector<std::byte> sum_;     ///< what they came to, where it is not in the output
};

}  // namespace shardlings::back::between_processes
