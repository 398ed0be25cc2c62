#include "submission/wire/result.h"

namespace shardlings::wire {

const char* name_of(Ending ending) {
  switch (ending) {
    case Ending::finished: return "finished";
    case Ending::failed: return "failed";
    case Ending::crashed: return "crashed";
    case Ending::early_exit: return "early_exit";
    case Ending::cpu_limit: return "cpu_limit";
    case Ending::wall_limit: return "wall_limit";
    case Ending::memory_limit: return "memory_limit";
    case Ending::output_limit: return "output_limit";
    case Ending::not_started: return "not_started";
  }
  return "?";
}

}  // namespace shardlings::wire
