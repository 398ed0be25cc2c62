#include "back/fabric/fabric.h"

namespace shardlings::back {

const char* name_of(Collective kind) {
  switch (kind) {
    case Collective::all_reduce: return "all_reduce";
    case Collective::reduce_scatter: return "reduce_scatter";
    case Collective::all_gather: return "all_gather";
    case Collective::broadcast: return "broadcast";
    case Collective::reduce: return "reduce";
    case Collective::gather: return "gather";
    case Collective::scatter: return "scatter";
    case Collective::all_to_all: return "all_to_all";
    case Collective::barrier: return "barrier";
    case Collective::split: return "split";
    case Collective::send_recv: return "send_recv";
  }
  return "?";
}

}  // namespace shardlings::back
