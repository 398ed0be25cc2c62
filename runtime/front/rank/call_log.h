/// \file
/// Which calls a rank's code has made, as far as anybody asks: how many, and the last one. Noted in the black box, too.
#pragma once

#include <cstdint>
#include <vector>

#include "api/call.h"
#include "base/units.h"
#include "front/misuse/black_box.h"
#include "shardlings/location.h"

namespace shardlings::front {

class CallLog {
 public:
  /// A line of the learner's code and how often it stands among the latest calls.
  struct Repeated {
    Location at;
    const char* name = "";  ///< what it calls
    int times = 0;
  };

  /// `entry`: this rank's in the black box, or nullptr. `first`: the number of the first call that latest() may ask
  /// for; before, nothing is kept, which of thousands of ranks would take megabytes.
  explicit CallLog(BlackBoxEntry* entry, std::uint64_t first = 0) : entry_(entry), first_(first) {}

  /// Number of the call under way; those count, too, that a call of the model is made of.
  std::uint64_t order() const { return order_; }
  void count(std::uint64_t calls = 1) { order_ += calls; }
  /// What is called now, and where. The harness's own calls are nothing that a learner knows of, whether they have no
  /// place in the source or stand in a harness.cpp or in a header: last() and the black box do not tell of them.
  void note(const char* name, Location at, Nanos now);
  /// A call without a place, in the time that is measured: then it is the learner's, who may give none.
  void count_unplaced() {
    if (depth_ == 0) ++unplaced_;
  }
  /// How many bytes all tensors of the rank have now.
  void note_tensors(Bytes alive);
  /// The measured run begins. What came before is of no interest in a report about it.
  void begin_run();
  void end_run();

  /// What the learner wrote: inside a call of the model that call, not the operations that it is made of.
  const char* called(const detail::Call& call) const;
  /// A call of the model is made of others until it ends; these may be nested.
  void begin_composite(const detail::Call& call);
  void end_composite() { --depth_; }
  int depth() const { return depth_; }
  /// An error has ended all calls that are deeper.
  void break_off(int depth) { depth_ = depth; }

  /// What the learner's code called last, and where; empty before its first call.
  const char* last() const { return last_; }
  Location last_place() const { return last_place_; }
  /// How many calls have been made: those that have a place, which are the learner's code's and harness.cpp's, and all.
  std::uint64_t noted() const { return noted_; }
  std::uint64_t made() const { return noted_ + unplaced_; }
  /// How many of the latest calls are kept.
  static constexpr std::size_t kLatest = 256;
  /// The latest ones by line and name, the most frequent first.
  std::vector<Repeated> latest() const;

 private:
  void keep(const char* name, Location at);
  bool is_in_harness(const char* file);
  void note_part(RunPart part);

  BlackBoxEntry* entry_;
  std::uint64_t order_ = 0;
  std::uint64_t noted_ = 0;  ///< that have a place
  std::uint64_t unplaced_ = 0;
  int depth_ = 0;
  const char* composite_ = "";  ///< the learner's call, while depth_ > 0
  const char* last_ = "";
  Location last_place_;
  struct Noted {
    Location at;
    const char* name = "";
  };
  std::uint64_t first_;
  std::vector<Noted> latest_;         ///< from the first call on that is kept: the call of number n is at n % kLatest
  const char* noted_file_ = nullptr;  ///< what stands in the black box
  const char* asked_file_ = nullptr;  ///< of which it was asked last whether it is a harness
  bool asked_is_harness_ = false;
  const char* noted_verb_ = nullptr;
};

}  // namespace shardlings::front
