/// \file
/// Words between the processes of a run, beside what its ranks send one another.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "back/transport/progress.h"

namespace shardlings::world {

/// What a rank says to process 0, or process 0 to the others, before it calls a collective has been heard when that is
/// over: words go the same way as calls do, in their order.
class Spoken {
 public:
  /// Told of each word, one at a time.
  using Hear = std::function<void(std::string_view word)>;
  /// `progress`: nullptr where there is one process, to which nobody speaks.
  Spoken(back::Progress* progress, Hear hear);
  ~Spoken();
  Spoken(const Spoken&) = delete;
  Spoken& operator=(const Spoken&) = delete;

  /// Whether this is process 0, and so has what all need.
  bool is_first() const { return progress_ == nullptr || progress_->process() == 0; }
  void to_first(std::string_view word);
  void to_others(std::string_view word);

 private:
  back::Progress* progress_;
};

}  // namespace shardlings::world
